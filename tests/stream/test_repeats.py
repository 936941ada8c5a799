"""A figure that repeats, or says that it does not: repetitions, evidence, intervals, signals."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import time

import declared_cache
import pytest
import silent_kernel
from cpu_used import until_cpu_used
from record_schema import check
from scipy import stats
from sides import SIGNS, WORDS, side

CPUS = sorted(os.sched_getaffinity(0))
ALLOWED = 'array-too-small,too-short,wrong-pinning,oversubscribed'
SMALL = ['-n', '1e6', '--allow', ALLOWED]


@pytest.fixture(scope='module')
def stream(build_program):
    return build_program('stream')


@pytest.fixture(scope='module')
def probe(build_program):
    return build_program('tests/probes/repetitions.c')


@pytest.fixture(scope='module')
def summary(probe):
    """What the program says of a series of (time, lost) pairs: repetitions that count, rate, low
    and high (0: a lower bound); with caches that hold so many of the 1e6 bytes of a repetition."""

    def of(*pairs, caches=0):
        line = f'{caches} ' + ' '.join(f'{time} {lost}' for time, lost in pairs) + '\n'
        done = subprocess.run([probe], input=line, capture_output=True, text=True, check=True)
        counted, best, low, high = done.stdout.split()
        return int(counted), float(best), float(low), float(high)

    return of


@pytest.fixture
def run(run_program):
    """run(program, options): (output, record), by as many threads as there are CPUs."""
    return lambda *words, **more: run_program(*words, **{'OMP_NUM_THREADS': None, **more})[1:]


@contextlib.contextmanager
def busy_loops(cpu, count):
    line = ['taskset', '-c', str(cpu), 'sh', '-c', 'while :; do :; done']
    loops = [subprocess.Popen(line) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_a_number_of_repetitions_is_kept_exactly_and_nothing_is_waited_for(stream, run):
    said, record = run(stream, '-t', '5', *SMALL)
    assert (record['ntimes'], record['iterations'], record['ended']) == (5, 5, 'count')
    assert record['repetitions']['until'] == 'count' and record['repetitions']['max_s'] is None
    assert len(record['kernels']['add']['lost_s']) == 5
    assert 'Repetitions: 5' in said and 'ended by: count' in said


def test_a_record_keeps_a_thousand_repetitions_at_most_and_figures_of_all(stream, run):
    """A tiny array's were 1.7 MB. What is read of them afterwards is of the whole run."""
    _, record = run(stream, '-t', '4200', '-n', '1000', *SMALL[2:], OMP_NUM_THREADS=1)
    triad = record['kernels']['triad']
    assert record['iterations'] == 4200 and record['repetitions']['times_every'] == 5
    assert len(triad['times_s']) == len(triad['lost_s']) == 840
    assert triad['total_s'] > sum(triad['times_s']) + 3360 * min(triad['min_s'], *triad['times_s'])
    assert len(json.dumps(record)) < 200_000


def test_without_a_number_it_repeats_until_the_figures_have_settled_or_time_is_up(stream, run):
    began = time.monotonic()
    said, record = run(stream, '--max-seconds', '1.2', *SMALL)
    lasted = time.monotonic() - began
    timed = sum(k['total_s'] for k in record['kernels'].values())
    assert record['repetitions']['until'] == 'settled' and record['complete']
    assert record['ntimes'] == 0 and record['iterations'] >= 7
    if record['ended'] == 'settled':
        assert lasted > 1 and record['iterations'] >= 10 and record['repetitions']['blocks'] >= 3
    else:
        # repetitions that a busy machine lets go on for long are those that an interval takes
        assert record['ended'] == 'time limit' and lasted > 1.2
        assert timed < 3 or record['iterations'] <= 9
        assert 'ended by: time limit' in said


@pytest.mark.parametrize('words, said', [
    # arrays of four times a cache of 260 MiB take half a second each time: of two of them, all
    # that a second had room for, there is no interval, and every row was INVALID
    ('0.5 1', '7 3.5 time limit'), ('0.5 4.2', '9 4.5 time limit'),
    # a tick is looked for every 20 ms: one in half a second made all four kernels disturbed
    ('0.5 1 0.52', '1 '), ('0.1 1 0.52', '1 '), ('0.02 1 0.52', '4 '), ('0.004 1 0.52', '20 '),
])  # fmt: skip
def test_of_made_up_repetitions(probe, words, said):
    """A time limit leaves as many as an interval takes; a tick that a hypervisor took is the
    kernels' in which it was seen."""
    done = subprocess.run([probe, *words.split()], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(said)


def test_a_time_limit_ends_a_number_of_repetitions_too(stream, run):
    _, record = run(stream, '-t', '1000000', '--max-seconds', '0.3', *SMALL)
    assert record['ended'] == 'time limit' and not record['complete']
    assert 2 <= record['iterations'] < record['ntimes'] == 1000000


# those that end it; nohup ignores SIGHUP: whoever logs out does not end the measurement
SIGNALS = [((), name) for name in 'SIGTERM SIGINT SIGHUP SIGUSR1 SIGUSR2 SIGXCPU'.split()]
SIGNALS.append((('nohup',), 'SIGHUP'))


@pytest.mark.parametrize('before, name', SIGNALS)
def test_a_signal_leaves_a_validated_record_of_what_was_complete(stream, tmp_path, before, name):
    limit = ['--max-seconds', '0.8'] if before else []
    line = [*before, stream, '-t', '1000000', *limit, '--json', tmp_path / 'r', *SMALL]
    process = subprocess.Popen([*map(str, line)], stdout=subprocess.PIPE, text=True)
    until_cpu_used(process, 0.2)  # beyond its preparations
    process.send_signal(signal.Signals[name])
    stdout, _ = process.communicate(timeout=300)
    record = check(json.loads((tmp_path / 'r').read_text()))
    by = 'time limit' if before else f'{name} (signal {int(signal.Signals[name])})'
    assert record['ended'] == by and record.get('ended_by', by) == by and not record['complete']
    assert record['iterations'] >= 2 and record['validation']['ok']
    assert process.returncode == (record['verdict'] != 'VALID')
    assert f'ended by: {by}' in stdout
    assert before or process.returncode == record['exit_status'] and record['ended_by'] == by


TOUCH = '\tkernels_first_touch(&run.arrays);\n\ttouched'


def test_a_signal_in_the_first_touch_leaves_a_record_of_two_repetitions(build_program, run):
    """It ended without a record, as if nothing had been asked of it."""
    planted = ('stream/main.c', TOUCH, f'\traise(SIGXCPU);\n{TOUCH}')
    said, record = run(build_program('stream', changes=[planted]), '-t', '1000000', *SMALL)
    assert (record['ended_by'], record['iterations']) == ('SIGXCPU (signal 24)', 2), said
    assert record['validation']['ok'] and record['metrics']['triad']['value'] > 0
    assert 'Verdict: ' in said


def test_who_types_control_c_twice_does_not_wait(build_program):
    forever = ('stream/main.c', TOUCH, '\tfor (;;)\n\t\tpause();\n\ttouched')
    process = subprocess.Popen([build_program('stream', changes=[forever]), *SMALL])
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize('declared_mib', [None, 480])
def test_a_busy_cpu_leaves_a_lower_bound_and_who_was_busy(stream, run, tmp_path, declared_mib):
    """The size is for the time of a repetition, also where it fits in this machine's caches."""
    before = declared_cache.words(tmp_path, declared_mib) if declared_mib else []
    before += ['taskset', '-c', CPUS[0]]
    with busy_loops(CPUS[0], 3):
        said, record = run(stream, *'-n 8e6 -t 5 --allow array-too-small'.split(), before=before)
    assert not declared_mib or record['llc_mib'] == declared_mib
    triad, kernel = record['metrics']['triad'], record['kernels']['triad']
    assert (record['verdict'], triad['bound'], kernel['best_of']) == (
        'VALID', side(record), 4)  # fmt: skip
    assert 'low' not in triad and 'high' not in triad
    assert record['busy']['other_share'] > 0.05 and record['busy']['processes']
    shown = f'{SIGNS[triad["bound"]]} {triad["value"]:.1f} GB/s, {WORDS[triad["bound"]]}'
    assert f'triad {shown}: the best of 4' in said
    assert 'other processes used' in said and 'busiest meanwhile: ' in said
    assert 'No table, as ' in said and 'rate of Copy: none' in said  # which could fail the node


CLEAN = [(0.02, 0)] * 9
LAG = [(0.02, 0.005), (0.01, 0)] * 3
BEST = 1 / 0.0199
# (time, lost) pairs, what the caches hold: the repetitions that count, rate, low, high
SERIES = {
    'a_little_lost time counts, and widens the interval upward':
        ([(0.5, 0), *CLEAN, (0.0199, 0.0008), *CLEAN], 0,
         (19, BEST, BEST * 0.98, BEST * (1.02 + 0.0402))),
    'more than a twentieth does_not_count': ([(0.5, 0), *CLEAN, (0.019, 0.001)], 0, (9, 50)),
    # at most its lag times the rate, and at most the caches
    'what a lagging thread may have left in the caches is taken off':
        ([(1, 0), *LAG], 1e5, (3, 100 * (1 - 0.1))),
    'lagging, larger caches': ([(1, 0), *LAG], 9e5, (3, 100 * (1 - 0.5))),
    'a wakeup of a short kernel is no lost time': ([(1, 0), *[(0.0001, 0.00004)] * 6], 0, (6,)),
    'a longer one is': ([(1, 0), *[(0.0001, 0.00006)] * 6], 0, (0,)),
    'the best of disturbed ones is a bound': ([(1, 0), *[(0.02, 0.01)] * 6], 0, (0, 50, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize('pairs, caches, wanted', SERIES.values(), ids=SERIES)
def test_what_is_made_of_a_series(summary, pairs, caches, wanted):
    found = summary(*pairs, caches=caches)
    assert found[: len(wanted)] == pytest.approx(wanted, rel=1e-3)
    assert found[0] == 0 or found[2] < found[1] < found[3]


@pytest.mark.parametrize('parts, repetitions', [(3, 3), (12, 3), (12, 50)])
def test_the_interval_is_what_the_best_of_the_parts_of_a_run_scatter(summary, parts, repetitions):
    def width(*bests):
        # each part has its best time somewhere, the others are slower
        series = [
            (best * (1 if i == number % repetitions else 1.5), 0)
            for number, best in enumerate(bests)
            for i in range(repetitions)
        ]
        _, best, low, high = summary((1, 0), *series)
        assert best - low == pytest.approx(high - best, rel=1e-4)
        return (high - low) / best / 2

    assert width(*[0.02] * parts) == pytest.approx(0.02, rel=1e-4)
    bests = [0.02 * (1 + 0.01 * i) for i in range(parts)]
    rates = [bests[0] / best for best in bests]
    expected = 1.3 * stats.t.ppf(0.975, parts - 1) * statistics.stdev(rates)
    assert width(*bests) == pytest.approx(expected, rel=1e-3)


def test_a_run_of_two_counted_repetitions_has_no_interval_and_says_so(stream, run, tmp_path):
    said, record = run(stream, '-t', '3', *SMALL, before=silent_kernel.without_load(tmp_path))
    of_stream = [record['metrics'][name] for name in ('copy', 'scale', 'add', 'triad')]
    assert all(metric['bound'] == side(record) for metric in of_stream)
    word = WORDS[side(record)]
    assert record['verdict'] == 'VALID' and word in said
    why = f'no interval, {word}: ', f'lost more than 5 % of its time: {word}'
    assert any(text in said for text in why)


def test_every_metric_has_an_interval_or_is_a_bound_in_record_and_table(stream, run, tmp_path):
    said, record = run(stream, '-t', '100', *SMALL, before=silent_kernel.without_load(tmp_path))
    for name, metric in record['metrics'].items():
        text = f'{SIGNS[metric.get("bound", "lower")]} {metric["value"]:.1f}'
        if 'bound' not in metric:
            assert metric['low'] < metric['value'] < metric['high']
            half = max(metric['high'] - metric['value'], metric['value'] - metric['low'])
            text = f'{metric["value"]:.1f} ±{half:.1f}'
        assert f'{name} {text}' in said
