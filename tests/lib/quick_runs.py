"""One run with --quick of each program, timed, for all tests that look at such a run: it takes
five seconds, in which nothing else may run."""

import functools
import json
import os
import subprocess
import time

import declared_cache
import program_build
import pytest


def other_seconds():
    """CPU time of this machine but for this process's and its children's."""
    with open('/proc/stat') as stat:
        ticks = list(map(int, stat.readline().split()[1:]))
    busy = sum(ticks[:3]) + sum(ticks[5:8])
    return busy / os.sysconf('SC_CLK_TCK') - sum(os.times()[:4])


@functools.cache
def quick(program, metric='', limit_s=5, options=('--quick',)):
    """(seconds of each try, what it printed, its record), on two cores of a socket that declares
    480 MiB of caches.

    On a busy node it takes longer: what is begun once is ended. The memory of a virtual machine
    has slow minutes that no counter shows: one run of three is in time, and has that metric."""
    folder, took = program_build.BUILDS / 'quick', []
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / f'{program}.json'
    try:
        before = declared_cache.words(folder, 480)
    except pytest.skip.Exception:  # nothing can be declared here: with the caches that there are
        before = []
    words = [*before, program_build.build(program), *options]
    env = os.environ | {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
    while len(took) < 3:
        before, began = other_seconds(), time.monotonic()
        done = subprocess.run(
            [*words, '--json', record], capture_output=True, text=True, env=env, timeout=300
        )
        lasted = time.monotonic() - began
        share = (other_seconds() - before) / lasted / os.cpu_count()
        took.append(lasted * max(1 - share, 0.1) ** 1.5)
        data = json.loads(record.read_text())
        if took[-1] < 1.1 * limit_s and (not metric or metric in data['metrics']):
            break
    return took, done.stdout + done.stderr, data
