"""What is only imprecise is a warning, in every program: the figure is shown."""

import json
import os
import subprocess

import pytest
from changed_source import other_machine

WRONG_HERE = 'array-too-small,too-short,oversubscribed,wrong-pinning'
STREAM = ['-n', '1e5', '-t', '5']
NODE = 'sys/devices/system/node'
# a machine whose firmware declares 1 ns and 1000 GB/s
DECLARED = {
    'online': '0',
    'node0/cpulist': '0-1023',
    'node0/meminfo': 'Node 0 MemTotal: 8000000 kB\nNode 0 MemFree: 8000000 kB',
    'node0/distance': '10',
    'node0/access1/initiators/read_latency': '1',
    'node0/access1/initiators/read_bandwidth': '1000000',
    'node0/access1/initiators/node0/distance': '10',
}


def spread(name):
    return (f'{name}/figures.c', 'UNSTABLE_SPREAD = 0.10', 'UNSTABLE_SPREAD = -1')


UNSETTLED = ('stream/measure.c', 'if (!m->ntimes && m->ended != ENDED_SETTLED)', 'if (k)')
PLANTED = [
    ('stream', STREAM, UNSETTLED, 'unstable', 'triad'),
    ('pingpong', ['--seconds', '0.01'], spread('pingpong'), 'unstable', ''),
    ('nbody', ['--bodies', '500', '--rounds', '6'], spread('nbody'), 'unstable', ''),
    ('tiers', ['--array-mib', '8', '--rounds', '3'], None, 'declared-differs', 'ns_0_0'),
]


@pytest.mark.parametrize('program, options, planted, reason, metric', PLANTED)
def test_a_figure_that_is_only_imprecise_is_shown(
    build_program, tmp_path, program, options, planted, reason, metric
):
    for name, text in DECLARED.items():
        path = tmp_path / 'root' / NODE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + '\n')
    changes = [planted] if planted else other_machine(tmp_path / 'root')
    words = [build_program(program, changes=changes), *options, '--allow', WRONG_HERE]
    record = tmp_path / 'record.json'
    env = os.environ | {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
    done = subprocess.run([*words, '--json', record], capture_output=True, text=True, env=env)
    data = json.loads(record.read_text())
    assert reason in [warning['reason'] for warning in data['warnings']], done.stdout
    assert reason not in [r['reason'] for r in data['reasons']]
    assert (data['verdict'], done.returncode) == ('VALID', 0), done.stdout
    shown = metric or next(iter(data['metrics']))
    if program == 'pingpong':  # what disturbs can only make a latency longer
        assert data['metrics'][shown]['bound'] == 'upper'
    assert data['metrics'][shown]['value'] > 0 and f'warning: {reason}: ' in done.stdout
