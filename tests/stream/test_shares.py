"""No two threads write to the same cache line, however long this machine's are."""

import itertools
import subprocess

import pytest
from changed_source import copy_source, other_machine


@pytest.fixture(scope='module')
def shares(tmp_path_factory):
    """For the machine whose /sys is in `root` next to it."""
    folder = tmp_path_factory.mktemp('probe')
    source = copy_source(folder, *other_machine(folder / 'root'))
    line = ['gcc', '-O0', '-fopenmp', '-w', f'-I{source}', folder / 'tests/probes/shares.c']
    subprocess.run([*line, '-o', folder / 'shares'], check=True, timeout=300)
    return folder / 'shares'


@pytest.mark.parametrize('line', [64, 128, 256])  # x86; POWER; A64FX
def test_shares_are_cut_between_lines(shares, line):
    cache = shares.parent / 'root/sys/devices/system/cpu/cpu0/cache/index0'
    cache.mkdir(parents=True, exist_ok=True)
    (cache / 'coherency_line_size').write_text(f'{line}\n')
    for size, threads in itertools.product((1, 31, 33, 1000003), (1, 3, 48)):
        out = subprocess.run([shares, str(size), str(threads)], capture_output=True, check=True)
        stride, *firsts, end = map(int, out.stdout.split())
        assert stride % line == 0 and stride >= 8 * size
        assert firsts[0] == 0 and end == size and len(firsts) == threads
        assert all(8 * first % line == 0 or first == size for first in firsts)
        sizes = [b - a for a, b in itertools.pairwise([*firsts, size])]
        assert max(sizes) - min(sizes) < 2 * line / 8  # the last one may lack a part of a line
