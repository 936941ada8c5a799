"""src/loaded by hand: what it says, and what makes it INVALID."""

import json
import os
import re
import signal
import subprocess
import time

import pytest
from sides import side

QUICK = '--mixes 1r0w --rounds 3 --window 0.005 --chain-mib 8'.split()
SMALL = ['--allow', 'array-too-small,oversubscribed,wrong-pinning']
TWO = {**os.environ, 'OMP_NUM_THREADS': '2'}


@pytest.fixture
def loaded(build_program, run_program):
    """loaded(*options): (exit status, output, record or None)"""
    return lambda *options, changes=(), **variables: run_program(
        build_program('loaded', changes=changes), *options, **variables
    )


def test_a_quota_of_one_cpu_leaves_two_threads(loaded):
    quota = ('harness/machine/cgroup.c', '= cgroup_cpu_quota() + 0.01;', '= 1;')
    status, _, record = loaded(*QUICK, *SMALL, changes=[quota], OMP_NUM_THREADS=None)
    assert (status, record['verdict'], record['threads']) == (0, 'VALID', 2)
    assert 'disturbed' in [warning['reason'] for warning in record['warnings']]


def test_every_point_has_its_rate_latency_and_evidence(loaded):
    _, output, record = loaded(*QUICK, '--mixes', '1r0w,1r1w', *SMALL)
    points = record['points']
    if 'unloaded_ns' in record['metrics']:  # a busy machine may have left none
        assert record['headline'] == 'unloaded_ns'
    assert len(points) == 2 * 10 * 3  # mixes, rates, rounds
    assert all(p['ns'] > 0 and p['unloaded_ns'] > 0 for p in points)
    assert all(p['gbs'] > 0 for p in points if p['counts'])
    assert all(p['counts'] == (p['least_cpu'] >= 0.95) for p in points)
    for mix in ('1r0w', '1r1w'):  # counted bytes: what a store costs is not known here
        if highest := record['metrics'].get(f'max_gbs_{mix}'):  # nor this
            row = next(line for line in output.splitlines() if line.startswith(mix))
            assert f' {highest["value"]:.1f}  ' in row


def test_a_chain_that_a_cache_may_hold_is_undecided(loaded):
    status, output, _ = loaded(*QUICK)
    assert status == 1 and 'not-proven' in output


def test_a_log_is_told_how_far_it_is(build_program):
    """Once per ten seconds; a run that is over sooner says nothing."""
    often = ('harness/plan.c', 'PLAN_EVERY = 10', 'PLAN_EVERY = 0.01')
    words = [build_program('loaded', changes=[often]), *QUICK, *SMALL]
    done = subprocess.run(words, env=TWO, capture_output=True, text=True)
    line = re.compile(r'membw-progress: \d+ of 30 points, about \d+ s left')
    assert done.stderr and all(map(line.fullmatch, done.stderr.splitlines())), done.stderr


def test_one_thread_is_refused(loaded):
    status, output, _ = loaded(*QUICK, OMP_NUM_THREADS='1')
    assert status == 2
    assert 'OMP_NUM_THREADS=2' in output


def check_no_curve(data):
    """What was not held is imprecise: a lower bound of the highest rate, and the latency."""
    assert 'generators-stopped' in [warning['reason'] for warning in data['warnings']]
    unloaded = data['metrics']['unloaded_ns']
    assert ('low' in unloaded) != (unloaded.get('bound') == side(data, 'upper'))
    highest = data['metrics'].get('max_gbs_1r0w', {'bound': side(data)})  # none that never ran
    assert highest['bound'] == side(data) and 'low' not in highest


@pytest.mark.alone
def test_a_generator_that_slept_through_a_window_did_not_run_in_it(loaded):
    """It sees the window open and close at one moment, when it wakes up."""
    file = 'loaded/generators.c'
    asleep = (file, '\t\tgenerator_note(self, bytes, seen);\n\t}\n', '\t}\n')
    busy = (file, 'now.cpu_s - self->window.cpu_s;', 'self->window.seconds;')  # in that moment
    status, _, data = loaded(*QUICK, *SMALL, changes=[asleep, busy])
    # the thread may be stopped for a window's length within that moment
    assert sum(point['counts'] for point in data['points']) < len(data['points']) / 2
    check_no_curve(data)
    assert status == 0


@pytest.mark.alone
def test_a_point_with_stopped_generators_does_not_count(build_program, tmp_path):
    """The process is stopped several times in every window: no curve is left."""
    record = tmp_path / 'record.json'
    words = [build_program('loaded'), *QUICK, *SMALL, '--window', '0.03']
    words += ['--json', record]
    process = subprocess.Popen(words, env=TWO, stdout=subprocess.PIPE, text=True)
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.01)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.005)
    data = json.loads(record.read_text())
    assert not any(point['counts'] for point in data['points'])
    check_no_curve(data)
    assert process.returncode == 0


@pytest.mark.alone
def test_a_rate_is_kept_where_the_clock_is_slow_to_read(loaded):
    """Read before each chunk it took the time: rates from 0.8 of the highest on were not held."""
    read = 'const double now = clock_read(CLOCK_MONOTONIC_RAW);'
    slow = f'for (volatile int i = 0; i < 1000; i++) continue;\n\t{read}'
    best, clock = 0.0, [('harness/clock.c', read, slow)]
    for _ in range(8):  # on a busy node one window may be undisturbed
        points = loaded(*QUICK, *SMALL, changes=clock)[2]['points']
        best = max(p['gbs'] / p['requested_gbs'] for p in points if p['part'] == 0.5)
        if best > 0.95:
            break
    assert best > 0.95


@pytest.mark.alone
def test_a_generator_reads_as_fast_as_the_ladder(build_program):
    """A read that loses half of its rate in blocks of some pages, as theirs are, once cost half of
    the highest rate, and nothing saw it."""
    program = build_program('tests/probes/loaded_read.c', '-O2')
    done = subprocess.run([program, '128', '40'], capture_output=True, text=True, check=True)
    generator, ladder = map(float, done.stdout.split())
    assert generator > 0.75 * ladder, done.stdout
