"""A static program of musl's C library: for a node that has no compiler, runtime or glibc."""

import json
import subprocess

import pytest
from record_schema import check


@pytest.fixture(scope='module')
def program(build_program, need):
    return build_program('stream', '-static', cc=need('musl-gcc'), usual=('-O2',))


def test_it_needs_nothing_measures_and_validates(program, tmp_path):
    path = tmp_path / 'record.json'
    done = subprocess.run(
        [program, '-n', '100003', '-t', '3', '--json', path],
        env={},
        capture_output=True,
        text=True,
    )
    record = check(json.loads(path.read_text()))
    assert done.returncode == 1 and record['threads'] == 1, done.stderr
    assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}
    headers = subprocess.run(['readelf', '-l', program], capture_output=True, text=True).stdout
    assert 'INTERP' not in headers and 'DYNAMIC' not in headers


def test_its_loops_are_read_as_those_of_any_other_program(program):
    """Copy is a call that is linked in, of musl's memcpy or memmove."""
    done = subprocess.run(
        ['membw', 'codegen', '--json', program], capture_output=True, text=True, check=True
    )
    kernels = json.loads(done.stdout)['kernels']
    assert list(kernels) == ['copy', 'scale', 'add', 'triad', 'write']
    assert kernels['copy']['calls'][0] in ('memcpy', 'memmove')
    assert all(kernels[name]['stores'] == 'ordinary' for name in ('scale', 'add', 'triad'))
