"""What was to be measured and was not, as the time was over, is UNDECIDED in every program."""

import subprocess

import pytest
from changed_source import OTHER_MACHINE, write_files

SMALL = 'array-too-small,too-short,oversubscribed,wrong-pinning,wrong-placement'
# a second domain with memory: two pairs
NODE = 'sys/devices/system/node'
TWO_DOMAINS = {
    'online': '0-1',
    'node0/cpulist': '0-1023',
    'node0/meminfo': 'Node 0 MemTotal: 8000000 kB\nNode 0 MemFree: 8000000 kB',
    'node0/distance': '10 20',
    'node1/cpulist': '',
    'node1/meminfo': 'Node 1 MemTotal: 8000000 kB\nNode 1 MemFree: 8000000 kB',
    'node1/distance': '20 10',
    '../../../../proc/self/status': 'Mems_allowed_list:\t0-1',
}
AT_ONCE = 'QUICK_SECONDS = 0.001'
DISTURBED = 'after.left == before.left || 1'
CUT = [
    ('tiers', '--quick --array-mib 8', 'tiers/main.c', 'QUICK_SECONDS = 5', AT_ONCE,
     '1 of 2 pairs were not measured', 'triad_gbs_0_1'),
    ('loaded', '--quick --chain-mib 8', 'loaded/main.c', 'QUICK_SECONDS = 5', AT_ONCE,
     'no curve: 0 of 3 rounds were measured', 'unloaded_ns'),
    ('overheads', '--threads 2 --pairs 6 --constructs barrier', 'overheads/measure.c',
     'after.left != before.left', DISTURBED,
     '1 of 1 overheads, the first is barrier_t2, have no undisturbed pair', 'barrier_t2'),
    ('overheads', '--threads 2 --pairs 6 --constructs barrier', 'overheads/measure.c',
     'if (after.left != before.left)\n\t\treturn;', 'seconds[1] = seconds[0];', 'no figure',
     'barrier_t2'),
]  # fmt: skip


@pytest.mark.parametrize('program, options, file, old, new, detail, lacks', CUT)
def test_a_run_that_the_time_cut_is_undecided_and_names_what_is_missing(
    build_program, run_program, tmp_path, program, options, file, old, new, detail, lacks
):
    write_files(tmp_path / NODE, TWO_DOMAINS)
    domains = OTHER_MACHINE if program == 'tiers' else ()
    path = build_program(program, changes=((file, old, new), *domains))
    for allowed, wanted in ((SMALL, (1, 'UNDECIDED')), (f'{SMALL},incomplete', (0, 'VALID'))):
        words = [path, *options.split(), '--allow', allowed]
        status, said, record = run_program(*words, MACHINE=tmp_path)
        assert f'incomplete: {detail}' in said
        assert (status, record['verdict']) == wanted, said
        assert lacks not in record['metrics']


BACKWARDS = (
    'harness/clock.c',
    'clock_gettime(clock, &t);',
    'static long calls;\n\tclock_gettime(clock, &t);\n\tt.tv_sec -= ++calls / 50;',
)


def test_a_clock_that_goes_back_is_named_and_nothing_waits_for_it(build_program):
    """A handshake of cores waited for the end of its time for ever."""
    path = build_program('pingpong', changes=(BACKWARDS,))
    done = subprocess.run([path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and 'Verdict' not in done.stdout
    assert done.stderr.startswith('membw: the clock of this machine went back by ')
