"""Seconds are promises, also for two cores of a socket that declares all of its caches."""

import json
import os
import subprocess
import time

import declared_cache
import pytest

LIMITS = [('stream', [], 10), *((p, ['--quick'], 5) for p in ('ladder', 'loaded', 'tiers'))]


def other_seconds() -> float:
    """CPU time of this machine but for this process's and its children's."""
    with open('/proc/stat') as stat:
        ticks = list(map(int, stat.readline().split()[1:]))
    busy = sum(ticks[:3]) + sum(ticks[5:8])
    return busy / os.sysconf('SC_CLK_TCK') - sum(os.times()[:4])


@pytest.mark.alone
@pytest.mark.parametrize('program, options, seconds', LIMITS, ids=[row[0] for row in LIMITS])
def test_a_program_ends_when_it_says(build_program, tmp_path, program, options, seconds):
    """On a busy node it takes longer: what is begun once is ended. The memory of a virtual machine
    has slow minutes that no counter here shows: one run of three is in time."""
    path = build_program(program, '-O2')
    words = [*declared_cache.words(tmp_path, 480), path, *options, '--json', tmp_path / 'r.json']
    took = []
    while not took or (took[-1] >= 1.1 * seconds and len(took) < 3):
        before, began = other_seconds(), time.monotonic()
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        lasted = time.monotonic() - began
        share = (other_seconds() - before) / lasted / os.cpu_count()
        took.append(lasted * max(1 - share, 0.1) ** 1.5)
    assert took[-1] < 1.1 * seconds, (took, done.stdout)
    record = json.loads((tmp_path / 'r.json').read_text())
    residency = record['residency']
    if residency['known'] == 'proven':
        assert residency['bytes'] < 3 * 4 * 480 * 2**20
