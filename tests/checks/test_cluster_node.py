"""cluster_node under a real Slurm of six virtual nodes: fit, slow, dead and drained ones.

The programs are doubles that leave made-up records: the nodes share this host's memory. gcc is a
stand-in that builds them.
"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess

import made_up_nodes as made
import pytest
from places import ROOT

from membw import cli

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

DOUBLE = ROOT / 'tests/data/battery_program.c'
GCC = """#!/bin/sh
real=$0.real
case " $* " in *.c\\ *) ;; *) exec "$real" "$@" ;; esac
while [ $# != 0 ] && [ "$1" != -o ]; do shift; done
exec "$real" {words} -o "$2"
"""


@pytest.fixture(scope='module')
def slurm(slurm_emu, tmp_path_factory):
    """Nodes n1..n6 in partition regular1, posing as Ulysses."""
    with slurm_emu(tmp_path_factory.mktemp('emu'), 6, 2, 10) as place:
        yield {**place, 'MEMBW_SLURM_BACKEND': 'squeue', 'MEMBW_BUILD': 'make'}


@pytest.fixture(scope='module')
def session(slurm, call, own_checkout, tmp_path_factory):
    """Runs cluster_node; the node-check file as {node: line}, the case, what was printed."""
    folder = tmp_path_factory.mktemp('session')
    real = shutil.which('gcc')
    assert real, "'gcc' is not on the PATH"
    (folder / 'gcc.real').symlink_to(real)
    words = shlex.join([str(DOUBLE), f'-DMADE_UP="{folder}/made-up"'])
    (folder / 'gcc').write_text(GCC.format(words=words))
    (folder / 'gcc').chmod(0o755)
    (folder / 'made-up').mkdir()
    dgemm = folder / 'dgemm'  # a site's own
    subprocess.run([real, *shlex.split(words), '-o', dgemm], check=True)

    def run(**planted):
        for host in (f'n{i}' for i in range(1, 7)):
            put(folder / 'made-up', made.node(host, **planted.get(host, {})))
        line = f'membw run --system ulysses -n cluster_node --prefix={folder}'
        line += f' -S battery_seconds=45 -S battery_dgemm={dgemm}'
        path = f'{folder}:{call("printenv", "PATH").stdout.strip()}'
        done = call(*line.split(), cwd=own_checkout[0], PATH=path, **slurm, **own_checkout[1])
        report = own_checkout[0] / re.search(r'^report (\S+\.json)', done.stdout, re.M)[1]
        cases = json.loads(report.read_text())['runs'][-1]['testcases']
        (case,) = [case for case in cases if not case['fixture']]
        lines = pathlib.Path(case['node_check']).read_text().splitlines()
        return {line.split()[0]: line for line in lines}, case, done

    return run


def put(folder, node):
    for part in node['parts']:
        name = 'stream' if part['name'] == 'late' else part['name']
        path = folder / f'{node["host"]}-{name}.json'
        path.write_text(json.dumps(part['record']))
        if part['died']:
            path.unlink()


def test_one_is_slow_for_a_reason_one_died_one_is_drained_and_after_repair_all_are_fit(
    session, slurm, call, tmp_path, capsys
):
    channel, _ = made.PLANTED['memory-channel']
    call('scontrol', 'update', 'nodename=n6', 'state=drain', 'reason=test', **slurm)
    nodes, case, done = session(n4=channel, n5={'dies': 'ladder'})
    assert done.returncode == 1, done.stdout
    assert sorted(nodes) == ['n1', 'n2', 'n3', 'n4', 'n5'], done.stdout
    assert nodes['n4'] == 'n4 FAIL a memory module or channel is gone'
    assert nodes['n5'] == 'n5 DIED ladder: ended by SIGBUS (signal 7) on n5'
    assert {nodes[n].split()[1] for n in ('n1', 'n2', 'n3')} == {'PASS'}
    assert case['word'] == 'DIED' and 'n6 (idle+drain)' in case['nodes']
    records = [json.loads(line) for line in pathlib.Path(case['record']).read_text().splitlines()]
    assert [r['host'] for r in records].count('n4') == 2  # measured again, beside three
    assert [r['host'] for r in records].count('n1') == 2
    assert 'dgemm' in [part['name'] for part in records[0]['parts']]
    page = tmp_path / 'page.html'
    assert cli.main(['report', case['record'], '-o', str(page)]) == 0
    assert 'a memory module or channel is gone' in page.read_text()
    assert cli.main(['why', 'n4', case['record']]) == 1
    assert 'memory channels: 7, not 8' in capsys.readouterr().out

    call('scontrol', 'update', 'nodename=n6', 'state=resume', **slurm)
    nodes, case, done = session()
    assert {line.split()[1] for line in nodes.values()} == {'PASS'}, done.stdout
    assert sorted(nodes) == ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'] and done.returncode == 0


@pytest.mark.parametrize(
    'words, fact',
    [
        (['battery_dgemm=/nowhere'], 'battery_dgemm=/nowhere: no program'),
        (
            ['battery_seconds=30', 'battery_dgemm=/bin/sh'],
            'battery_dgemm: needs battery_seconds=45',
        ),
    ],
)
def test_a_battery_that_cannot_be_is_refused(words, fact, call):
    settings = [word for one in words for word in ('-S', one)]
    done = call('reframe', '-c', ROOT / 'reframe-checks/cluster_node.py', '-l', *settings)
    assert done.returncode == 2 and fact in done.stderr
