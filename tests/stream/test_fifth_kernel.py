"""A kernel is a loop and a descriptor: a fifth one, added to a copy, is measured like the four."""

import subprocess

import pytest
from arithmetic_flips import flips
from changed_source import copy_source
from fifth_kernel import BYTES, NAME, TITLE, WITH_STRIAD, fifth_kernel

from membw.codegen.kernels import read_kernels

ALLOWED = ['--allow', 'array-too-small,too-short,oversubscribed,wrong-pinning,disturbed']
OPTIONS = ['-n', '100003', '-t', '7', *ALLOWED]


def test_fortran_measures_it_in_c_and_says_so(tmp_path, need, run_program):
    source = copy_source(tmp_path, *fifth_kernel())
    line = [need('gfortran'), '-O0', '-fopenmp', 'stream.f90', 'stream_f.c', '-o', tmp_path / 'f']
    subprocess.run(line, cwd=source / 'stream', check=True)
    _, said, record = run_program(tmp_path / 'f', *OPTIONS)
    assert f'{NAME}: no loop in Fortran (fortran_{NAME}), measured in C' in said
    assert record['validation']['ok'], said
    languages = [kernel['language'] for kernel in record['kernels'].values()]
    assert languages == ['fortran'] * 4 + ['c']


def test_it_stands_in_table_and_record_and_validates_and_codegen_finds_it(
    build_program, run_program
):
    program = build_program('stream', '-O1', changes=fifth_kernel())
    for ntimes in ('2', '3', '7'):
        _, said, record = run_program(program, '-n', '100003', '-t', ntimes, *ALLOWED)
        assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}, said
        row = next(line.split() for line in said.splitlines() if line.startswith(f'{TITLE}:'))
        figures = record['kernels'][NAME]
        assert list(record['kernels'])[-1] == NAME and figures['bytes_per_element'] == BYTES
        assert float(row[1]) == pytest.approx(figures['best_mbs'], rel=1e-3)
        best = figures['min_s']  # of the repetitions that were not disturbed
        assert best >= min(figures['times_s'][1:])  # more where a thread's lag is taken off
        assert figures['best_mbs'] == pytest.approx(1e-6 * BYTES * 100003 / best)
    assert read_kernels(program)[NAME]['stores'] == 'ordinary'


@pytest.mark.parametrize('element', ['double', 'float'])
def test_no_flipped_bit_is_lost_but_the_lowest_of_what_becomes_twice_as_large(element, tmp_path):
    source = copy_source(tmp_path, *fifth_kernel())
    every = flips('gcc', ['-O1'], element, tmp_path, source)
    assert {f.read for f in every} >= {f'{NAME} a', 'copy a', 'triad c'}
    assert {(f.read, f.bit) for f in every if not f.found} == {(f'{NAME} a', 0)}


def test_sums_without_parentheses_validate(build_program, run_program):
    """a + b fills the mantissa in the first iteration: a reset before each second one."""
    sums = fifth_kernel('a[i] + b[i] + s * c[i]', 'read[0] + read[1] + s * read[2]')
    said = run_program(build_program('stream', changes=sums), *OPTIONS)[1]
    assert 'Solution Validates' in said


WITHIN = '(a[i] + a[i] * 1024) - a[i] * 1024', ' within its formula'


@pytest.mark.parametrize('element, loop, how', [
    ('double', 'a[i] / 7', ''), ('double', *WITHIN), ('float', *WITHIN),
])  # fmt: skip
def test_a_kernel_that_rounds_is_refused_and_no_node_is_blamed(
    element, loop, how, build_program, run_program
):
    changes = fifth_kernel(loop, loop.replace('a[i]', 'read[0]'))
    program = build_program('stream', f'-DSTREAM_TYPE={element}', changes=changes)
    status, said, record = run_program(program, *OPTIONS)
    assert (status, record) == (2, None)
    assert f"membw: the kernel 'update' rounds{how}: its elements have no exact value\n" in said
    assert not how or 'hint: group its terms, as a + (b + s * c) (src/stream/kernels/' in said


def test_a_fourth_array_is_one_name_more(build_program, run_program):
    """RRZE's striad, a = b + c * d."""
    program = build_program('stream', changes=WITH_STRIAD)
    _, said, record = run_program(program, *OPTIONS)
    assert said.splitlines()[1].startswith('4 arrays of ')
    assert 'Validated: all 4 x ' in said
    assert record['kernels']['striad']['bytes_per_element'] == 32
