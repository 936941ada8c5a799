"""The ping-pong through shared memory: figures, evidence, bad input."""

import os
import statistics
import subprocess

import pytest
import silent_kernel
from one_cpu import one_cpu

TWO = sorted(os.sched_getaffinity(0))[:2]
PAIR = f'{TWO[0]}-{TWO[-1]}'
pytestmark = pytest.mark.skipif(len(TWO) < 2, reason='this machine has one CPU, a pair takes two')


@pytest.fixture
def run(build_program, run_program):
    """run(options): (exit status, output, record or None)"""
    return lambda *options, changes=(), **more: run_program(
        build_program('pingpong', changes=changes), *options, **more
    )


@pytest.mark.alone
def test_a_pair_is_measured_by_every_method_and_with_both_homes(run):
    one, other = TWO
    status, said, record = run('--pairs', PAIR, '--seconds', '0.1')
    assert status == 0, said
    names = [f'{m}_{one}_{other}{home}' for m in ('cas', 'lines') for home in ('', '_home_b')]
    assert list(record['metrics']) == names
    assert {m['unit'] for m in record['metrics'].values()} == {'ns'}
    assert {m['better'] for m in record['metrics'].values()} == {'lower'}
    for pair in record['pairs']:
        assert 0.4 < pair['min_ns'] <= pair['low_ns'] <= pair['median_ns'] <= pair['high_ns']
        assert record['metrics'][pair['metric']]['value'] == pair['median_ns']
    assert 'Verdict: VALID' in said


def test_a_pair_in_a_cgroup_that_grants_one_cpu_is_disturbed(run):
    """Both sides wait by reading: what the one takes is missing to the other."""
    with one_cpu() as enter:
        status, said, record = run('--seconds', '0.01', before=enter)
        assert status == 0 and record['verdict'] == 'VALID', said
        assert 'warning: disturbed: ' in said


def test_a_pair_of_another_class_than_requested_is_invalid(run):
    actual = run(*SHORT)[2]['pairs'][0]['class']
    asked = 'node' if actual != 'node' else 'llc'
    status, said, record = run(*SHORT, '--class', asked)
    assert status == 1 and record['verdict'] == 'INVALID'
    assert f'are of class {actual}, not {asked}' in said or 'same-core' in said


SHORT = ('--pairs', PAIR, '--seconds', '0.005')


def test_what_the_kernel_does_not_say_is_said_though_the_figure_stands(run):
    """Where a thread ran, and whether others had its CPU: VALID, but not without a word."""
    status, said, record = run(*SHORT, **silent_kernel.preloaded('no_cpu'))
    assert status == 0, said
    assert [t['cpu'] for t in record['threads_on']] == [None, None]
    assert 'warning: wrong-pinning: not known: the kernel does not say' in said
    status, said, record = run(*SHORT, before=silent_kernel.without_proc())
    assert status == 0 and 'warning: disturbed: not known: /proc/stat does not say' in said, said


def test_on_busy_cpus_every_latency_is_shown_and_no_wide_interval(run):
    burn = ('sh', '-c', 'while :; do :; done')
    burners = [subprocess.Popen(['taskset', '-c', str(cpu), *burn]) for cpu in TWO]
    try:
        _, _, record = run('--pairs', PAIR)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    warned = {w['reason'] for w in record['warnings']}
    assert record['verdict'] == 'VALID' and 'disturbed' in warned
    for pair in record['pairs']:
        metric, median = record['metrics'][pair['metric']], pair['median_ns']
        wide = max(pair['high_ns'] - median, median - pair['low_ns']) > 0.1 * median
        lost = 2 * pair['blocks_interrupted'] > pair['blocks_played']
        assert metric['value'] == median and ('low' in metric) == (not wide and not lost)
        assert metric.get('bound') == ('upper' if wide or lost else None)


def test_the_metrics_of_a_matrix_are_its_classes_and_the_record_has_every_pair(run):
    record = run('--pairs', 'all', '--method', 'cas')[2]
    times = {}
    for pair in record['pairs']:
        name = f'cas_{pair["class"]}' + ('_home_b' if pair['home'] == 'b' else '')
        times.setdefault(name, []).append(pair['median_ns'])
    figures = {name: row['value'] for name, row in record['metrics'].items()}
    assert figures == {
        **{name: pytest.approx(statistics.median(found)) for name, found in times.items()},
        **{f'{name}_most': pytest.approx(max(found)) for name, found in times.items()},
    }


SHARED_LINE = 'pingpong/shared_line.c'
WRONG = {
    'cas': (SHARED_LINE, 'place, turn, turn + 1)', 'place, turn, turn + (turn == 100 ? 3 : 1))'),
    'lines': (
        SHARED_LINE,
        'w);\n\tSTORE_RELEASE(&own[0], turn);',
        'w);\n\town[3] ^= (line_word)(turn == 101) << 63;\n\tSTORE_RELEASE(&own[0], turn);',
    ),
}


@pytest.mark.parametrize('method', WRONG)
def test_one_flipped_bit_of_a_message_is_found(run, method):
    status, said, record = run(*SHORT, '--method', method, changes=(WRONG[method],))
    reasons = [r['reason'] for r in record['reasons']]
    assert status == 1 and 'not-validated' in reasons and 'carried a wrong value' in said


def test_one_cpu_is_no_pair_and_without_openmp_it_says_so(run, build_program):
    status, said, _ = run(before=('taskset', '-c', str(TWO[0])))
    assert status == 2 and 'only one CPU, but a pair needs two' in said
    program = build_program('pingpong', usual=('-O0',))
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 2 and 'build it with OpenMP' in done.stderr
