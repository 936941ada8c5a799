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
from places import ROOT
from record_schema import check
from scipy import stats

CPUS = sorted(os.sched_getaffinity(0))
ALLOWED = 'array-too-small,too-short,wrong-pinning,oversubscribed'
SMALL = ['-n', '1e6', '--allow', ALLOWED]


def compiled(folder, name, *line):
    program = folder / name
    subprocess.run(['gcc', '-O0', '-fopenmp', *map(str, line), '-o', program], check=True)
    return program


@pytest.fixture(scope='module')
def stream(build_program):
    return build_program('stream')


@pytest.fixture(scope='module')
def probe(tmp_path_factory):
    folder = tmp_path_factory.mktemp('repetitions')
    return compiled(folder, 'probe', ROOT / 'tests/probes/repetitions.c')


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


def run(*command, **variables):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('OMP_', 'GOMP_', 'KMP_'))}
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=300, env=env | variables
    )


def record_of(file):
    record = json.loads(file.read_text())
    check(record)
    return record


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


def test_a_number_of_repetitions_is_kept_exactly_and_nothing_is_waited_for(stream, tmp_path):
    done = run(stream, '-t', '5', '--json', tmp_path / 'r', *SMALL)
    record = record_of(tmp_path / 'r')
    assert (record['ntimes'], record['iterations'], record['ended']) == (5, 5, 'count')
    assert record['repetitions']['until'] == 'count' and record['repetitions']['max_s'] is None
    assert len(record['kernels']['add']['lost_s']) == 5
    assert 'Repetitions: 5' in done.stdout and 'ended by: count' in done.stdout


def test_a_record_keeps_a_thousand_repetitions_at_most_and_figures_of_all(stream, tmp_path):
    """A tiny array's were 1.7 MB. What is read of them afterwards is of the whole run."""
    line = [stream, '-t', '4200', '--json', tmp_path / 'r', '-n', '1000', *SMALL[2:]]
    run(*line, OMP_NUM_THREADS='1')
    record = record_of(tmp_path / 'r')
    triad = record['kernels']['triad']
    assert record['iterations'] == 4200 and record['repetitions']['times_every'] == 5
    assert len(triad['times_s']) == len(triad['lost_s']) == 840
    assert triad['total_s'] > sum(triad['times_s']) + 3360 * min(triad['min_s'], *triad['times_s'])
    assert (tmp_path / 'r').stat().st_size < 200_000


@pytest.mark.alone
def test_without_a_number_it_repeats_until_the_figures_have_settled_or_time_is_up(
    stream, tmp_path
):
    began = time.monotonic()
    done = run(stream, '--max-seconds', '2', '--json', tmp_path / 'r', *SMALL)
    lasted = time.monotonic() - began
    record = record_of(tmp_path / 'r')
    timed = sum(k['total_s'] for k in record['kernels'].values())
    assert record['repetitions']['until'] == 'settled' and record['complete']
    assert (
        record['ntimes'] == 0
        and record['iterations'] >= 10
        and record['repetitions']['blocks'] >= 3
    )
    if record['ended'] == 'settled':
        assert lasted > 1
    else:
        assert record['ended'] == 'time limit' and lasted > 2 and timed < 3
        assert 'ended by: time limit' in done.stdout


@pytest.mark.parametrize('limit, wanted', [(1, 7), (4.2, 9)])
def test_a_time_limit_leaves_as_many_repetitions_as_an_interval_takes(probe, limit, wanted):
    """Arrays of four times a cache of 260 MiB take half a second each time: of two of them, all
    that a second had room for, there is no interval, and every row was INVALID."""
    done = subprocess.run([probe, '0.5', str(limit)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(wanted), f'{wanted * 0.5:g}', 'time', 'limit']


@pytest.mark.parametrize('each, lost', [(0.5, 1), (0.1, 1), (0.02, 4), (0.004, 20)])
def test_a_tick_that_a_hypervisor_took_is_the_kernels_in_which_it_was_seen(probe, each, lost):
    """It is looked for every 20 ms: one in half a second made all four kernels disturbed."""
    done = subprocess.run(
        [probe, str(each), '1', '0.52'], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[0]) == lost, done.stdout


def test_a_time_limit_ends_a_number_of_repetitions_too(stream, tmp_path):
    run(stream, '-t', '1000000', '--max-seconds', '0.3', '--json', tmp_path / 'r', *SMALL)
    record = record_of(tmp_path / 'r')
    assert record['ended'] == 'time limit' and not record['complete']
    assert 2 <= record['iterations'] < record['ntimes'] == 1000000


ENDS = 'SIGTERM SIGINT SIGHUP SIGUSR1 SIGUSR2 SIGXCPU'.split()


@pytest.mark.parametrize('number', [signal.Signals[name] for name in ENDS])
def test_a_signal_leaves_a_validated_record_of_what_was_complete(stream, tmp_path, number):
    line = [stream, '-t', '1000000', '--json', tmp_path / 'r', *SMALL]
    process = subprocess.Popen([*map(str, line)], stdout=subprocess.PIPE, text=True)
    until_cpu_used(process, 0.7)  # far beyond its preparations
    process.send_signal(number)
    stdout, _ = process.communicate(timeout=300)
    record = record_of(tmp_path / 'r')
    by = f'{number.name} (signal {int(number)})'
    assert record['ended'] == record['ended_by'] == by and not record['complete']
    assert record['iterations'] >= 2 and record['validation']['ok']
    assert process.returncode == record['exit_status'] == (record['verdict'] != 'VALID')
    assert f'ended by: {by}' in stdout


def test_a_signal_in_the_first_touch_leaves_a_record_of_two_repetitions(build_program, tmp_path):
    """It ended without a record, as if nothing had been asked of it."""
    touch = '\tkernels_first_touch(&run.arrays);\n\ttouched'
    planted = ('stream/main.c', touch, f'\traise(SIGXCPU);\n{touch}')
    program = build_program('stream', changes=[planted])
    line = [program, '-t', '1000000', '--json', tmp_path / 'r', *SMALL]
    done = run(*line)
    record = record_of(tmp_path / 'r')
    assert (record['ended_by'], record['iterations']) == ('SIGXCPU (signal 24)', 2), done.stdout
    assert record['validation']['ok'] and record['metrics']['triad']['value'] > 0
    assert 'Verdict: ' in done.stdout and done.returncode == record['exit_status']


def test_who_types_control_c_twice_does_not_wait(build_program, tmp_path):
    forever = (
        'stream/main.c',
        '\tkernels_first_touch(&run.arrays);\n\ttouched',
        '\tfor (;;)\n\t\tpause();\n\ttouched',
    )
    process = subprocess.Popen([build_program('stream', changes=[forever]), *SMALL])
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    assert process.returncode == -signal.SIGINT


def test_a_signal_that_was_ignored_when_it_began_does_not_end_it(stream, tmp_path):
    """nohup ignores SIGHUP: whoever logs out does not end the measurement."""
    line = [
        'nohup',
        stream,
        '-t',
        '1000000',
        '--max-seconds',
        '2',
        '--json',
        tmp_path / 'r',
        *SMALL,
    ]
    process = subprocess.Popen([*map(str, line)], stdout=subprocess.PIPE, text=True)
    until_cpu_used(process, 0.7)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=300)
    record = record_of(tmp_path / 'r')
    assert record['ended'] == 'time limit' and 'ended_by' not in record


@pytest.mark.alone
@pytest.mark.parametrize('declared_mib', [None, 480])
def test_a_busy_cpu_leaves_a_lower_bound_and_who_was_busy(stream, tmp_path, declared_mib):
    """It was INVALID, without a figure. The size is for the time of a repetition; whether it fits
    in this machine's caches is not the question."""
    before = declared_cache.words(tmp_path, declared_mib) if declared_mib else []
    size = ['-n', '17e6', '-t', '5', '--allow', 'array-too-small']
    with busy_loops(CPUS[0], 3):
        done = run(*before, 'taskset', '-c', CPUS[0], stream, *size, '--json', tmp_path / 'r')
    record = record_of(tmp_path / 'r')
    assert not declared_mib or record['llc_mib'] == declared_mib
    triad, kernel = record['metrics']['triad'], record['kernels']['triad']
    assert (record['verdict'], triad['bound'], kernel['best_of']) == ('VALID', 'lower', 4)
    assert 'low' not in triad and 'high' not in triad
    assert record['busy']['other_share'] > 0.05 and record['busy']['processes']
    assert f'triad ≥ {triad["value"]:.1f} GB/s, a lower bound: the best of 4' in done.stdout
    assert 'other processes used' in done.stdout and 'busiest meanwhile: ' in done.stdout
    assert f'Triad:      {1000 * triad["value"]:11.1f}' in done.stdout  # as STREAM prints it


def test_a_little_lost_time_counts_and_widens_the_interval_upward(summary):
    clean = [(0.020, 0)] * 9
    counted, best, low, high = summary((0.5, 0), *clean, (0.0199, 0.0008), *clean)
    assert (counted, best) == (19, pytest.approx(1 / 0.0199, rel=1e-4))
    assert (low, high) == (
        pytest.approx(best * 0.98, 1e-3),
        pytest.approx(best * (1.02 + 0.0402), 1e-3),
    )


def test_a_repetition_that_lost_more_than_a_twentieth_does_not_count(summary):
    clean = [(0.020, 0)] * 9
    counted, best, low, high = summary((0.5, 0), *clean, (0.019, 0.001))
    assert (counted, best) == (9, 50) and low < 50 < high


def test_what_a_lagging_thread_may_have_left_in_the_caches_is_taken_off(summary):
    """At most its lag times the rate, and at most the caches."""
    lagging = [(0.02, 0.005), (0.01, 0)] * 3
    assert summary((1, 0), *lagging, caches=1e5)[1] == pytest.approx(100 * (1 - 0.1))
    assert summary((1, 0), *lagging, caches=9e5)[1] == pytest.approx(100 * (1 - 0.5))


def test_a_wakeup_of_a_short_kernel_is_no_lost_time(summary):
    assert summary((1, 0), *[(0.0001, 0.00004)] * 6)[0] == 6
    assert summary((1, 0), *[(0.0001, 0.00006)] * 6)[0] == 0


def test_the_best_of_disturbed_repetitions_is_a_lower_bound(summary):
    assert summary((1, 0), *[(0.02, 0.01)] * 6) == (0, 50, 0, 0)


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


def test_a_run_of_two_counted_repetitions_has_no_interval_and_says_so(stream, tmp_path):
    quiet = silent_kernel.without_load(tmp_path)
    done = run(*quiet, stream, '-t', '3', '--json', tmp_path / 'r', *SMALL)
    record = record_of(tmp_path / 'r')
    of_stream = [record['metrics'][name] for name in ('copy', 'scale', 'add', 'triad')]
    assert all(metric['bound'] == 'lower' for metric in of_stream)
    assert record['verdict'] == 'VALID' and 'a lower bound' in done.stdout
    said = 'no interval, a lower bound: ', 'lost more than 5 % of its time: a lower bound'
    assert any(text in done.stdout for text in said)


@pytest.mark.alone
def test_every_metric_has_an_interval_or_is_a_bound_in_record_and_table(stream, tmp_path):
    quiet = silent_kernel.without_load(tmp_path)
    done = run(*quiet, stream, '-t', '200', '--json', tmp_path / 'r', *SMALL)
    for name, metric in record_of(tmp_path / 'r')['metrics'].items():
        said = f'≥ {metric["value"]:.1f}'
        if 'bound' not in metric:
            assert metric['low'] < metric['value'] < metric['high']
            half = max(metric['high'] - metric['value'], metric['value'] - metric['low'])
            said = f'{metric["value"]:.1f} ±{half:.1f}'
        assert f'{name} {said}' in done.stdout
