"""No two threads write to the same cache line, however long this machine's are."""

import itertools
import os
import subprocess

import pytest
from changed_source import OTHER_MACHINE, write_files


@pytest.mark.parametrize('line', [64, 128, 256])  # x86; POWER; A64FX
def test_shares_are_cut_between_lines(build_program, tmp_path, line):
    shares = build_program('tests/probes/shares.c', changes=OTHER_MACHINE)
    size = 'sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size'
    env = os.environ | {'MACHINE': str(write_files(tmp_path, {size: line}))}
    for size, threads in itertools.product((1, 31, 33, 1000003), (1, 3, 48)):
        words = [shares, str(size), str(threads)]
        out = subprocess.run(words, env=env, capture_output=True, check=True)
        stride, *firsts, end = map(int, out.stdout.split())
        assert stride % line == 0 and stride >= 8 * size
        assert firsts[0] == 0 and end == size and len(firsts) == threads
        assert all(8 * first % line == 0 or first == size for first in firsts)
        sizes = [b - a for a, b in itertools.pairwise([*firsts, size])]
        assert max(sizes) - min(sizes) < 2 * line / 8  # the last one may lack a part of a line
