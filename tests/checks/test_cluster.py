"""cluster_stream under a real Slurm of four virtual nodes: idle, slow and dead ones.

The nodes share this host's cores, so that rates mean nothing here, but for the one node that a
planted fault makes many times slower. mpicc is a stand-in that adds the fault to what the real
one says (-show), as ci/slurm-emu is a stand-in for real nodes.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import record_schema

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

DEFECTS = 'array-too-small,too-short,cpu-not-where-asked,oversubscribed,disturbed,unstable'
SLOW = 20  # times
MPI = {
    'OMPI_ALLOW_RUN_AS_ROOT': 1,
    'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': 1,
    'OMPI_MCA_rmaps_base_oversubscribe': 1,
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'OMPI_MCA_rmaps_base_mapping_policy': 'slot',
    'SLURM_MPI_TYPE': 'pmix',
    'MEMBW_SLURM_BACKEND': 'squeue',
    'MEMBW_BUILD': 'make',  # the MPI program is always; Spack's rows are not needed here
}
STARTERS = ('srun', 'mpirun')


@pytest.fixture(scope='module')
def slurm(root, call, need, free_ports, tmp_path_factory):
    """Nodes n1..n4 in partition regular1, posing as Ulysses; stopped whatever happens."""
    need('munged', 'slurmctld', 'slurmd', 'sinfo', 'sbatch', 'mpicc', 'mpirun')
    folder = tmp_path_factory.mktemp('emu')
    place = {'SLURM_EMU_DIR': folder, 'SLURM_CONF': folder / 'slurm.conf'}
    place['SLURM_EMU_PORT'] = free_ports(5)
    emu = root / 'ci' / 'slurm-emu'
    try:
        started = call(emu, 'start', 4, 2, 10, 'regular1', **place)
        assert started.returncode == 0, started.stdout + started.stderr
        yield {**place, **MPI}
    finally:
        call(emu, 'stop', **place)
        assert not list(folder.glob('*.pid'))


def standin_mpicc(folder, flags):
    """Says what the real mpicc says, and the flags that plant a fault."""
    real = shutil.which('mpicc')
    script = f'#!/bin/sh\n[ $# = 1 ] || exit 1\n{real} "$1" | sed "s|$| {flags}|"\n'
    (folder / 'mpicc').write_text(script)
    (folder / 'mpicc').chmod(0o755)


class Session:
    """One `membw run -n cluster_stream`: what it printed, its test case, its records."""

    def __init__(self, place, starter, size, times, flags='', **options):
        self.root, self.environment, slurm, self.folder = place
        standin_mpicc(self.folder, flags)
        allow = options.pop('allow', DEFECTS)
        asked = {'array_size': size, 'ntimes': times, 'rank_threads': 1, 'allow': allow}
        asked |= {'starter': starter, **options}
        self.words = ['membw', 'run', '--system', 'ulysses', '-n', 'cluster_stream']
        self.words += ['-p', 'gcc-o2', f'--prefix={self.folder}']
        self.words += [word for k, v in asked.items() for word in ('-S', f'{k}={v}')]
        self.variables = {**slurm, 'PATH': f'{self.folder}:{self.environment["PATH"]}'}

    def start(self):
        variables = {k: str(v) for k, v in self.variables.items()}
        self.process = subprocess.Popen(
            self.words,
            cwd=self.root,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self

    def wait(self):
        self.text = self.process.communicate(timeout=300)[0]
        self.status = self.process.returncode
        report = self.root / re.search(r'^report (\S+\.json)', self.text, re.M)[1]
        cases = json.loads(report.read_text())['runs'][-1]['testcases']
        (self.case,) = [case for case in cases if not case['fixture']]
        return self

    def run(self):
        return self.start().wait()

    def verdicts(self):
        """{node: (verdict, reason)} of the node-check file."""
        lines = pathlib.Path(self.case['node_check']).read_text().splitlines()
        split = [line.split(' ', 2) for line in lines]
        return {node: (word, ' '.join(rest)) for node, word, *rest in split}

    def records(self):
        lines = pathlib.Path(self.case['record']).read_text().splitlines()
        return record_schema.check_all([json.loads(line) for line in lines])


@pytest.fixture
def session(root, environment, slurm, tmp_path):
    def make(*words, **options):
        return Session((root, environment, slurm, tmp_path), *words, **options)

    return make


@pytest.mark.parametrize('starter', STARTERS)
def test_one_node_made_slow_is_named_and_the_figures_stay(session, starter):
    """Three healthy nodes and one that takes 20 times as long."""
    flags = f'-DMEMBW_PLANT_RANK=2 -DMEMBW_PLANT_SLOW={SLOW}'
    run = session(starter, 1000000, 5, flags=flags).run()
    assert run.status == 1
    records = {record['host']: record for record in run.records()}
    assert sorted(records) == ['n1', 'n2', 'n3', 'n4']
    assert sorted(record['rank'] for record in records.values()) == [0, 1, 2, 3]
    (slow,) = [host for host, record in records.items() if record['rank'] == 2]
    verdicts = run.verdicts()
    assert sorted(verdicts) == ['n1', 'n2', 'n3', 'n4']
    assert verdicts[slow][0] == 'FAIL'
    assert run.case['result'] == 'fail' and run.case['fail_phase'] == 'performance'
    assert 'slow_nodes=' in run.case['fail_reason']
    assert f'{slow} FAIL' in run.text
    values = {k.split(':')[-1]: v[0] for k, v in run.case['perfvalues'].items()}
    assert values['triad_slowest'] < values['triad'] / 5


def until_measuring(folder, nodes):
    """{node: process} of the program's ranks, once all of them have used CPU time."""
    for _ in range(1200):
        found = {}
        for entry in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if not os.readlink(entry / 'exe').startswith(f'{folder}/stage'):
                    continue
                variables = dict(
                    pair.split('=', 1)
                    for pair in (entry / 'environ').read_text().split('\0')
                    if '=' in pair
                )
                ticks = int((entry / 'stat').read_text().rpartition(')')[2].split()[11])
            except (OSError, ValueError):
                continue
            if ticks >= 100:
                found[variables['SLURMD_NODENAME']] = int(entry.name)
        if len(found) == nodes:
            return found
        time.sleep(0.1)
    raise AssertionError(f'only {sorted(found)} run')


@pytest.mark.parametrize('starter', STARTERS)
def test_a_node_killed_in_mid_run_is_missing_and_the_others_are_kept(session, starter):
    """All nodes take 300 times as long, so that there is a middle to kill one in."""
    run = session(starter, 200000, 400, flags='-DMEMBW_PLANT_SLOW=300', limit_s=5).start()
    try:
        victims = until_measuring(run.folder, 4)
        os.kill(victims['n3'], signal.SIGKILL)
        killed = time.monotonic()
        run.wait()
    finally:
        run.process.kill()
    assert run.status == 1
    assert time.monotonic() - killed < 90
    verdicts = run.verdicts()
    assert sorted(verdicts) == ['n1', 'n2', 'n3', 'n4']
    assert verdicts['n3'][0] == 'MISSING'
    records = {record['host']: record for record in run.records()}
    assert sorted(records) == ['n1', 'n2', 'n4']
    for record in records.values():
        assert not record['complete'] and 2 <= record['iterations'] < 400
        # Open MPI's TCP, whose peer is gone, may never come back from a call: then the record
        # is saved from beside it, and says that the arrays were not checked
        assert record['validation']['ok'] or (
            starter == 'mpirun' and 'not-validated' in [r['reason'] for r in record['reasons']]
        )
    assert run.case['result'] == 'fail'
    assert 'n3 MISSING' in run.case['fail_reason']
    assert 'n3 MISSING' in run.text


def test_a_node_that_is_taken_is_named_as_not_asked(session, call, slurm):
    call('scontrol', 'update', 'nodename=n4', 'state=drain', 'reason=test', **slurm)
    try:
        run = session('srun', 100000, 3).run()
    finally:
        call('scontrol', 'update', 'nodename=n4', 'state=resume', **slurm)
    assert sorted(run.verdicts()) == ['n1', 'n2', 'n3']
    assert 'not asked, as not idle: n4 (drained)' in run.text


@pytest.mark.parametrize(
    'access, words',
    [
        (['-p cpu', '--exclusive'], ['-p', 'cpu']),
        (['--exclusive', '--partition=cpu'], ['-p', 'cpu']),
        (['--partition', 'cpu'], ['-p', 'cpu']),
        (['-A project'], []),
    ],
)
def test_the_queue_is_read_off_the_access_options(root, access, words):
    code = f'import slurm_nodes; print(slurm_nodes.queue({access!r}))'
    out = subprocess.check_output([sys.executable, '-c', code], cwd=root / 'reframe-checks')
    assert out.decode().strip() == repr(words)
