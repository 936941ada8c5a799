"""A static program of musl's C library: for a node that has no compiler, runtime or glibc."""

import subprocess

import pytest

from membw.codegen.kernels import read_kernels


@pytest.fixture(scope='module')
def program(build_program, need):
    return build_program('stream', '-static', cc=need('musl-gcc'), usual=('-O2',))


def test_it_needs_nothing_measures_and_validates(program, run_program):
    status, said, record = run_program(program, '-n', '100003', '-t', '3', before=('env', '-i'))
    assert status == 1 and record['threads'] == 1, said
    assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}
    headers = subprocess.run(['readelf', '-l', program], capture_output=True, text=True).stdout
    assert 'INTERP' not in headers and 'DYNAMIC' not in headers


def test_its_loops_are_read_as_those_of_any_other_program(program):
    """Copy is a call that is linked in, of musl's memcpy or memmove."""
    kernels = read_kernels(program)
    assert list(kernels) == ['copy', 'scale', 'add', 'triad', 'write']
    assert kernels['copy']['calls'][0] in ('memcpy', 'memmove')
    assert all(kernels[name]['stores'] == 'ordinary' for name in ('scale', 'add', 'triad'))
