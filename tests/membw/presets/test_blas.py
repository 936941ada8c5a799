"""The table of BLAS libraries: the founding lines, literally; what reaches the compiler."""

import os
import re
import shlex
import subprocess
import sys

import pytest
import standin_gcc
from checkout_copy import copy_checkout
from standin import StandIn

from membw import presets

# [ulysses], as printed but for the misprint -o3, MPI's wrapper and the output's name
INTEL = '-O2 -xHost -fopenmp -mkl nodeperf.c'
GNU = (
    '-fopenmp -O3 -m64 -I/opt/mkl/include nodeperf.c '
    '-L/opt/mkl/lib/intel64 -Wl,--no-as-needed -lmkl_intel_lp64 -lmkl_sequential -lmkl_core '
    '-lpthread -lm -ldl'
)


@pytest.fixture
def mkl(monkeypatch):
    monkeypatch.setenv('MKLROOT', '/opt/mkl')


def line(name):
    """What the row makes of nodeperf.c, without the output."""
    row = presets.blas_row(name)
    before, after = presets.blas_words(name)
    return [*presets.flags(row['preset']), *before, 'nodeperf.c', *after]


def test_the_founding_lines_of_442_and_27_gflops_are_rows_and_one_has_no_threads(mkl):
    words = [word.replace('-qopenmp', '-fopenmp') for word in line('mkl-intel')]
    assert sorted(words) == sorted(INTEL.split())
    words, printed = line('mkl-sequential'), GNU.split()
    at, there = words.index('nodeperf.c'), printed.index('nodeperf.c')
    assert words[at:] == printed[there:] and sorted(words[:at]) == sorted(printed[:there])
    assert presets.blas_row('mkl-sequential')['threading'] == 'none'


@pytest.mark.parametrize('name, folder', [('mkl-sequential', 'lib/intel64'), ('mkl-gnu', 'lib')])
def test_mklroot_alone_links_the_rows_of_gcc(call, environment, tmp_path, name, folder):
    """Against libraries that have their names, and the one function that is called."""
    libraries = tmp_path / 'mkl' / folder
    libraries.mkdir(parents=True)
    stub = tmp_path / 'stub.c'
    stub.write_text('void dgemm_(void) {}\n')
    for library in presets.blas_row(name)['libraries']:
        call('gcc', '-shared', '-o', libraries / f'{library}.so', stub)
    words = ['PROGRAM=dgemm', 'PRESET=gcc-o3', f'BLAS={name}', f'BUILD={tmp_path / "b"}']
    path = f'{standin_gcc.put_up(tmp_path / "tools")}:{environment["PATH"]}'
    more = {'MKLROOT': tmp_path / 'mkl', 'LIBRARY_PATH': '', 'PATH': path}
    done = call('make', '-C', 'src', *words, **more)
    assert done.returncode == 0, done.stderr
    needed = call('readelf', '-d', tmp_path / 'b/dgemm').stdout
    assert all(f'{library}.so' in needed for library in presets.blas_row(name)['libraries'])


def test_a_row_without_its_environment_says_what_is_missing(monkeypatch):
    monkeypatch.delenv('MKLROOT', raising=False)
    with pytest.raises(presets.PresetError, match="BLAS 'mkl-sequential' needs MKLROOT"):
        presets.blas_words('mkl-sequential')


def test_a_folder_that_is_there_is_linked_with_a_run_path_and_another_is_not(tmp_path):
    root = copy_checkout(tmp_path / 'copy', ('src', 'configs'))
    table = root / 'configs/blas.yaml'
    text = table.read_text()
    (folder,) = re.findall(r"folder: '?([^'\n]*openblas-openmp)", text)
    table.write_text(text.replace(folder, f'{tmp_path}/*/there'))

    def words():
        line = ['sh', root / 'src/build.sh', 'blas', 'openblas-openmp']
        environ = {**os.environ, 'PYTHON': sys.executable}
        done = subprocess.run(line, env=environ, capture_output=True, text=True)
        return done.stdout.split('\n')[1].split()

    assert words() == ['-lopenblas']
    there = tmp_path / 'arch/there'
    there.mkdir(parents=True)
    assert words() == [f'-L{there}', f'-Wl,-rpath,{there}', '-lopenblas']


@pytest.mark.parametrize('text, said', [
    ('rows:\n  x: {}', "rows.x: 'compile' is missing"),
    ('rows:\n  x: {libraries: libblas}', "rows.x: 'libraries' is not a list"),
    ('rows: {x: {}, x: {}}', "'x' is given twice"),
    ('[]', "the top-level key is 'rows'"),
])  # fmt: skip
def test_a_row_that_is_wrong_is_refused_with_its_place(tmp_path, text, said):
    (tmp_path / 'blas.yaml').write_text(text)
    with pytest.raises(presets.PresetError, match=re.escape(said)):
        presets.load_blas(tmp_path / 'blas.yaml')


def test_make_links_the_requested_row(call, tmp_path):
    """Intel's line, by a stand-in: the row's words are in front of the source and behind it."""
    icc = StandIn(tmp_path / 'intel', 'icc', 'icc')
    words = ['PROGRAM=dgemm', 'PRESET=icc-o2', f'CC={icc.path}', 'BLAS=mkl-intel']
    done = call('make', '-n', '-C', 'src', *words, f'BUILD={tmp_path / "b"}')
    assert done.returncode == 0, done.stderr
    line = next(text for text in done.stdout.splitlines() if ' -o ' in text)
    wanted = f'-O2 -qopenmp -xHost dgemm.c -o {tmp_path}/b/dgemm -mkl'
    assert shlex.split(line)[1:] == wanted.split()
