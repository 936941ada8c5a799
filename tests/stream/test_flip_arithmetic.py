"""Every flipped bit that a kernel reads shows at the end, however the arithmetic was compiled.

tests/probes/flip_arithmetic.c runs the program's own kernels.
"""

import functools
import math
import struct

import pytest
from arithmetic_flips import flips
from clang_here import CLANG, skip_without

FLAGS = {
    'each operation rounded': ['-O2', '-ffp-contract=off'],
    'contracted': ['-O3', '-march=native', '-ffp-contract=fast'],
    'fast-math': ['-O3', '-march=native', '-ffast-math'],
}
BITS = {'double': 64, 'float': 32}
FORMAT = {'double': ('<Q', '<d'), 'float': ('<I', '<f')}
READ = 'copy a, scale a, scale c, add a, add b, triad b, triad c'.split(', ')


@pytest.fixture(scope='module')
def every_flip(tmp_path_factory):
    """every_flip(compiler, name of flags, element), made once."""

    @functools.cache
    def made(compiler, flags, element):
        return flips(compiler, FLAGS[flags], element, tmp_path_factory.mktemp('flips'))

    return made


@pytest.mark.parametrize('element', BITS)
@pytest.mark.parametrize('flags', FLAGS)
@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_no_flip_that_a_kernel_reads_is_lost(compiler, flags, element, every_flip):
    path = CLANG if compiler == 'clang' else compiler
    skip_without(path, FLAGS[flags])
    every = every_flip(path, flags, element)
    assert {(f.read, f.bit) for f in every} == {(r, b) for r in READ for b in range(BITS[element])}
    assert [f for f in every if not f.found] == []
    # the start value comes back in time: some flips are followed over two resets
    assert max(f.last - f.iteration for f in every) > 4
    print(f'bit flips read by a kernel: {len(every)} of {len(every)} found')


@pytest.mark.parametrize('element', BITS)
def test_values_stay_far_from_overflow_and_denormals(element, every_flip):
    bits, value = FORMAT[element]
    every = every_flip('gcc', 'each operation rounded', element)
    seen = {struct.unpack(value, struct.pack(bits, word))[0] for f in every for word in f.expected}
    assert all(0.25 < abs(x) < 4 for x in seen)
    # after every reset the same values: no more than two iterations' worth, however long it runs
    assert len(seen) == 6 and not any(math.isnan(x) for x in seen)
