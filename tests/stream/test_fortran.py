"""The program with its loops in Fortran: the same options, record, verdict and validation."""

import shutil
import subprocess

import pytest
from changed_source import copy_source, flipped_bit
from places import ROOT

from membw.codegen.kernels import read_kernels

KERNELS = ['copy', 'scale', 'add', 'triad']

pytestmark = pytest.mark.skipif(
    not shutil.which('gfortran'), reason="'gfortran' is not on the PATH"
)


def run(*command, **keywords):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, **keywords)


def built(folder, *flags, source=ROOT / 'src'):
    """By the line of the THIN tutorial, with our names of the files."""
    line = ['gfortran', '-O2', '-fopenmp', *flags, 'stream.f90', 'stream_f.c', '-o']
    done = run(*line, folder / 'stream_f.exe', cwd=source / 'stream')
    assert done.returncode == 0 and done.stderr == '', done.stderr
    return folder / 'stream_f.exe'


@pytest.fixture(scope='module')
def stream_f(tmp_path_factory):
    return built(tmp_path_factory.mktemp('stream_f'))


def test_the_record_is_that_of_the_c_program_but_for_the_language(stream_f, run_program):
    for ntimes in (2, 3, 8):
        status, said, record = run_program(stream_f, '-n', '100003', '-t', ntimes)
        assert record['language'] == 'fortran' and list(record['kernels']) == KERNELS
        assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}, said
        assert status == 1 and 'INVALID (array-too-small' in said


def test_a_flipped_bit_is_found(tmp_path, run_program):
    program = built(tmp_path, '-O0', source=copy_source(tmp_path, *flipped_bit(1, 77, 3)))
    status, said, _ = run_program(program, '-n', '100003', '-t', '3')
    assert status == 1 and '  b[77] at ' in said and 'not-validated' in said


def test_membw_codegen_reads_its_loops(stream_f):
    assert list(read_kernels(stream_f)) == [*KERNELS, 'write']


def test_fortran_refuses_what_the_c_program_refuses(stream_f):
    for options in ('-n 0', '-n -5', '-n 1e9x', '-t 1', '--what', '-n 9999999999999'):
        done = run(stream_f, *options.split())
        assert done.returncode == 2, options
        assert [line.split(':')[0] for line in done.stderr.splitlines()] == ['membw', 'hint']


def test_elements_of_another_type_do_not_compile(tmp_path):
    line = ['gfortran', '-O0', '-DSTREAM_TYPE=float', 'stream.f90', 'stream_f.c', '-o']
    done = run(*line, tmp_path / 'x', cwd=ROOT / 'src/stream')
    assert done.returncode != 0 and 'are of doubles' in done.stderr
