"""What OpenMP costs: figures, evidence, faults, runtimes, bad input."""

import os
import subprocess
from pathlib import Path

import pytest
from clang_here import CLANG
from places import ROOT

CPUS = sorted(os.sched_getaffinity(0))
pytestmark = pytest.mark.skipif(len(CPUS) < 2, reason='this machine has one CPU, a team takes two')
SHORT = ('--threads', '2', '--pairs', '15')
SIZES = [8, 72, 648, 5832, 52488, 472392]
SCALAR = (
    'parallel for parallel_for for_dynamic for_dynamic_8 for_guided barrier barrier_late single '
    'critical lock atomic ordered reduction reduction_array task taskloop'
).split()
BY_BYTES = ['private', 'firstprivate', 'copyprivate', 'copyin']


@pytest.fixture
def run(build_program, run_program):
    """run(options): (exit status, output, record or None)"""

    def start(*options, cc='gcc', changes=(), **variables):
        program = build_program('overheads', '-O2', cc=cc, changes=changes)
        return run_program(program, '--allow', 'wrong-pinning,incomplete', *options, **variables)

    return start


@pytest.mark.alone
def test_every_construct_has_a_figure_for_every_team(run):
    status, said, record = run('--pairs', '6')
    assert status == 0, said
    rows = record['overheads']
    assert {row['threads'] for row in rows} == {1, 2}
    names = [(row['construct'], row['bytes']) for row in rows if row['threads'] == 2]
    wanted = [(name, 648 if name == 'reduction_array' else 0) for name in SCALAR]
    assert names == wanted + [(name, size) for name in BY_BYTES for size in SIZES]
    for row in filter(lambda row: row['pairs'], rows):  # on a busy machine one may have none
        assert row['low_us'] <= row['overhead_us'] <= row['high_us']
        assert row['break_even_us'] == pytest.approx(max(0, 10 * row['overhead_us']))
        assert row['reference_us'] > 0 and row['construct_us'] > 0 and row['pairs'] <= 6
        if row['overhead_us'] > 0:
            metric = record['metrics'][row['metric']]
            assert ('low' in metric) != (metric.get('bound') == 'unknown')
            assert row['steady'] or 'low' not in metric
            assert (metric['unit'], metric['better']) == ('us', 'lower')
            assert metric['value'] == row['overhead_us']
    assert record['additions_per_cycle'] > 0
    assert 'barrier_t2' not in record['metrics'] or record['headline'] == 'barrier_t2'
    assert record['delay']['us'] == pytest.approx(0.1, rel=0.05)
    runtime = record['runtime']
    assert runtime['name'] == 'libgomp' and runtime['version'].startswith('GOMP_')
    assert Path(runtime['library']).name.startswith('libgomp')


# the construct that shows it, the fault
FAULTS = {
    'delay-optimized-away': (
        'for',
        'overheads/delay.c',
        'for (i = 0; i < steps; i++)',
        'return x * power(factor, (word)steps);\n\tfor (i = 0; i < steps; i++)',
    ),
    'not-validated': (
        'reduction',
        'overheads/team.c',
        'if (sum == expected',
        'if (++sum == expected',
    ),
    'negative-overhead': (
        'for',
        'overheads/constructs.c',
        'for (j = 0; j < n; j++)\n\t\twork(w);\n\treturn (word)n;',
        'for (j = 0; j < n; j++)\n\t\twork(w);\n\twork_long(w, 200000);\n'
        '\treturn (word)n + 200000;',  # 20 ms, whatever a block takes on a busy node
    ),
}


# a pair that others disturbed counts, too, and there is time for all of them: what others do is
# far less than the fault
ANY_PAIR = ('overheads/measure.c', 'if (after.left != before.left)', 'if (0)')
LONG = ('overheads/measure.c', 'LONGEST_SECONDS = 10', 'LONGEST_SECONDS = 100')


@pytest.mark.alone
@pytest.mark.parametrize('reason', FAULTS)
def test_every_planted_fault_is_found_and_nothing_else(run, reason):
    construct, *change = FAULTS[reason]
    options = (*SHORT, '--constructs', construct)
    status, said, record = run(*options, changes=(tuple(change), ANY_PAIR, LONG))
    found = {r['reason'] for r in record['reasons'] if not r['allowed']}
    assert (status, found) == (1, {reason}), said


# what clang does to the loop, eight times as much: a step takes less than 0.1 ns
SEVERAL_AT_ONCE = (
    'overheads/delay.c',
    'for (i = 0; i < steps; i++)',
    'for (const word many = power(factor, 64); steps >= 64; steps -= 64)\n\t\tx *= many;\n'
    '\tfor (i = 0; i < steps; i++)',
)


@pytest.mark.alone
def test_a_step_may_be_as_short_as_the_compiler_makes_it(run):
    status, said, record = run(*SHORT, '--constructs', 'for', changes=(SEVERAL_AT_ONCE,))
    delay = record['delay']
    assert 1e3 * delay['us'] / delay['steps'] < 0.1, delay
    assert delay['doubled'] > 1.5
    assert status == 0, said


def test_a_team_smaller_than_requested_is_invalid(run):
    status, said, record = run('--pairs', '6', '--constructs', 'barrier', OMP_THREAD_LIMIT='1')
    assert status == 1
    assert 'fewer-threads' in {r['reason'] for r in record['reasons']}
    assert 'barrier_t2: 1 of 2 threads took part in it' in said


def test_more_threads_than_cpus_are_invalid(run):
    many = str(2 * len(CPUS))
    options = ('--threads', many, '--pairs', '6', '--constructs', 'parallel')
    # whose threads give way to each other: others take the ten seconds that are theirs at most
    status, said, record = run(*options, OMP_WAIT_POLICY='passive')
    assert status == 1 and 'oversubscribed' in {r['reason'] for r in record['reasons']}, said


def intel_runtime():
    """PyPI's intel-openmp, where ci/test.sh puts it."""
    path = ROOT / '.venv/.setup/intel-openmp/lib/libiomp5.so'
    return path if path.is_file() else None


@pytest.mark.parametrize('policy', ['active', 'passive'])
@pytest.mark.parametrize('runtime', ['libgomp', 'libomp', 'libiomp5'])
def test_the_runtime_and_how_its_threads_wait_are_in_the_record(run, runtime, policy):
    variables, cc = {'OMP_WAIT_POLICY': policy}, 'gcc'
    if runtime != 'libgomp':
        cc = CLANG
    if runtime == 'libiomp5':
        variables['LD_PRELOAD'] = str(intel_runtime() or pytest.skip('no intel-openmp of PyPI'))
    options = ('--threads', '2', '--pairs', '6', '--constructs', 'barrier')
    seen = run(*options, cc=cc, **variables)[2]['runtime']
    assert (seen['name'], seen['wait_policy']) == (runtime, policy) and seen['version']
    if runtime != 'libgomp':
        assert (seen['blocktime_ms'] > 0) == (policy == 'active')


def test_without_openmp_there_is_nothing_to_build():
    line = ['gcc', '-fsyntax-only', ROOT / 'src/overheads/overheads.c']
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode != 0 and 'compile it with OpenMP' in done.stderr
