"""Plain make: the line that reaches the compiler is the preset's; rebuilt when, and only when."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import standin_gcc
from checkout_copy import copy_checkout
from places import ROOT
from standin import FOUNDING, StandIn, sources

from membw import presets

CODE = re.compile(r'^ "code_sha256": .*\n', re.M)


@pytest.fixture
def make(tmp_path):
    """make -C src/stream in a copy of what it needs, with a gcc that does not optimize; BUILD lies
    next to it."""
    root = copy_checkout(tmp_path / 'copy', ('src', 'configs'))
    path = f'{standin_gcc.put_up(tmp_path / "tools")}:{os.environ["PATH"]}'

    def run(*words, **variables):
        command = ['make', '-C', 'src/stream', f'PYTHON={sys.executable}', f'BUILD={run.build}']
        return subprocess.run(
            [*command, *words],
            cwd=root,
            env={**os.environ, 'PATH': path, **variables},
            capture_output=True,
            text=True,
            timeout=300,
        )

    run.root, run.build = root, tmp_path / 'build'
    return run


@pytest.mark.parametrize('python', [sys.executable, 'none'])
def test_the_first_line_of_readme_works_in_a_folder_with_a_space(tmp_path, python):
    """It was: unrecognized arguments: stream."""
    folder = copy_checkout(tmp_path / "anna's check out", ('src', 'configs'))
    line = ['make', '-s', '-C', 'src/stream', f'PYTHON={python}', 'PRESET=gcc-o3']
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and (folder / 'build/gcc-o3/stream').exists(), done.stderr


def record(make):
    return json.loads((make.build / 'stream.json').read_text())


def built(make, *words):
    """Whether that make compiled anything."""
    done = make(*words)
    assert done.returncode == 0, done.stderr
    return ' -o ' in done.stdout


@pytest.mark.parametrize('preset', FOUNDING)
def test_the_line_that_reaches_icc_is_the_founding_one(make, tmp_path, preset):
    asked, line = FOUNDING[preset]
    icc = StandIn(tmp_path / 'intel', preset.partition('-')[0], 'icc')
    icc.link('-O0')
    words = [f'{name.upper()}={value}' for name, value in asked.items()]
    path = f'{icc.path.parent}:{os.environ["PATH"]}'
    done = make(f'PRESET={preset}', *words, PATH=path)
    assert done.returncode == 0, done.stderr
    expected = [*line.split(), *sources(ROOT), '-o', str(make.build / 'stream')]
    assert icc.lines() == [expected]
    assert record(make)['compile_line'] == expected


def test_the_gcc_line_and_its_record(make):
    done = make('PRESET=gcc-o2', 'ARRAY_SIZE=1000000', 'NTIMES=20')
    assert done.returncode == 0, done.stderr
    found = record(make)
    assert found['compile_line'] == [
        *'gcc -O2 -fopenmp -DSTREAM_ARRAY_SIZE=1000000 -DNTIMES=20 -mcmodel=medium'.split(),
        *sources(ROOT),
        '-o',
        str(make.build / 'stream'),
    ]
    assert found['built_with'] == 'make' and found['preset'] == 'gcc-o2'
    assert found['source_sha256'] == presets.source_sha256(ROOT / 'src/stream')
    assert found['binary_sha256'] == presets.sha256(make.build / 'stream')
    assert found['compiler'] == presets.banner('gcc')


def test_a_build_without_openmp_runs_and_validates(make):
    assert built(make, 'PRESET=gcc-o3', 'OPENMP=0')
    assert '-fopenmp' not in record(make)['compile_line']
    said = make.build / 'said.json'
    words = [make.build / 'stream', '-n', '100000', '-t', '2', '--json', said]
    done = subprocess.run(words, capture_output=True, text=True)
    assert 'Solution Validates' in done.stdout
    build = json.loads(said.read_text())['build']
    assert (build['preset'], build['unknown'], build['openmp']) == ('gcc-o3', None, None)
    assert build['binary_sha256'] == record(make)['binary_sha256']


def test_a_second_make_does_nothing(make):
    assert built(make)
    assert not built(make)


def test_an_edit_of_a_source_rebuilds(make):
    assert built(make)
    before = record(make)
    with open(make.root / 'src/stream/kernels/kernels.c', 'a') as file:
        file.write('/* edited */\n')
    assert built(make)
    assert record(make)['source_sha256'] != before['source_sha256']


def test_an_edit_of_the_row_rebuilds_and_of_another_row_does_not(make):
    table = make.root / 'configs/presets.yaml'
    assert built(make)
    table.write_text(table.read_text().replace('-O3 -mavx2', '-O1 -mavx2'))
    assert not built(make)
    table.write_text(
        table.read_text().replace('-O2 {openmp} {defs} -mcm', '-O1 {openmp} {defs} -mcm')
    )
    assert built(make)
    assert '-O1' in record(make)['compile_line']


@pytest.mark.parametrize(
    'there, taken',
    [
        ({'clang-9': 'clang version 9.0.1', 'clang-12': 'clang version 12.0'}, 'clang-12'),
        ({'clang': 'clang version 8.0.0', 'clang-12': 'clang version 12.0'}, 'clang'),
        ({'clang': 'AMD clang version 14 (AOCC_4.0)', 'clang-9': 'clang version 9.0'}, 'clang-9'),
        ({'clang-cpp-9': 'clang version 9.0.1'}, None),
    ],
)
def test_without_cc_the_newest_compiler_of_the_family_is_taken(make, tmp_path, there, taken):
    """Debian's clang is called clang-19: plain make finds it as the checks do."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    for name, banner in there.items():
        (folder / name).write_text(f'#!/bin/sh\necho "{banner}"\n')
        (folder / name).chmod(0o755)
    words = ['-m', 'membw.presets.command', 'plan', 'clang-o2', 'stream']
    done = subprocess.run(
        [sys.executable, *words, '--stamp', tmp_path / 'plan'],
        env={'PATH': str(folder), 'PYTHONPATH': str(make.root / 'src')},
        capture_output=True,
        text=True,
    )
    if taken:
        assert f'PLAN_CC := {taken}\n' in (tmp_path / 'plan').read_text(), done.stderr
    else:
        assert done.returncode == 2 and "compiler 'clang' of preset" in done.stderr


@pytest.mark.parametrize(
    'words, said',
    [
        (['PRESET=gcc-o9'], "unknown preset 'gcc-o9'"),
        (['ARRAY_SIZE=-1'], "invalid value of STREAM_ARRAY_SIZE: '-1'"),
        (['NTIMES=1e3'], "invalid value of NTIMES: '1e3'"),
        (['PRESET=icc13-knc', 'CC=no-such-icc'], "compiler 'no-such-icc'"),
        (['PRESET=clang-o2', 'CC=gcc'], "'gcc' is not of family 'clang'"),
    ],
)
def test_a_wrong_request_is_refused_and_builds_nothing(make, words, said):
    done = make(*words)
    assert done.returncode == 2
    assert said in done.stderr and 'hint: ' in done.stderr and 'Traceback' not in done.stderr
    assert not (make.build / 'stream').exists()


def test_a_compiler_that_fails_leaves_no_binary_and_no_record(make):
    (make.root / 'src/stream/kernels/kernels.c').write_text('this is not C\n')
    assert make().returncode == 2
    assert not (make.build / 'stream').exists() and not (make.build / 'stream.json').exists()


def test_the_fortran_version_builds_with_its_own_line(make):
    if not shutil.which('gfortran'):
        pytest.skip("'gfortran' is not on the PATH")
    assert built(make, 'PRESET=gfortran-o2')
    found = json.loads((make.build / 'stream.json').read_text())
    assert found['compile_line'][:5] == ['gfortran', '-O2', '-fopenmp', 'stream.f90', 'stream_f.c']
    assert 'GNU Fortran' in found['compiler']
    assert not built(make, 'PRESET=gfortran-o2')


def plan_and_record(make, words, python):
    done = make(*words, f'PYTHON={python}')
    stem = make.build / 'stream'
    files = [f'{stem}.mk', f'{stem}.json'] if stem.exists() else []
    found = [open(file).read() for file in files]
    shutil.rmtree(make.build, ignore_errors=True)
    return done.returncode, found, done.stderr.partition('hint: ')[0]


@pytest.mark.parametrize(
    'words',
    [
        [],
        ['PRESET=gcc-native', 'OPENMP=0'],
        ['ARRAY_SIZE=100', 'NTIMES=5', 'LIBS=-lm', """EXTRA=-g -DTEXT='"a $$b"'"""],
        ['PRESET=gfortran-o2', 'EXTRA=-O0'],
        ['PRESET=clang-o2', 'EXTRA=-O0'],
        ['PRESET=gcc-o9'],
        ['PRESET=gcc-o2', 'CC=aarch64-linux-gnu-gcc'],
        ['PRESET=icc-o2'],
        ['PRESET=clang-o2', 'CC=gcc'],
    ],
    ids=' '.join,
)
def test_without_python_the_same_line_reaches_the_compiler(make, words, need):
    """What a plain node has: make, sh, awk and a compiler; byte for byte what Python writes, but
    for the checksum of the code, which sh cannot make."""
    need('gfortran', 'aarch64-linux-gnu-gcc')
    status, files, said = plan_and_record(make, words, sys.executable)
    again, same, without = plan_and_record(make, words, '/bin/false')
    files, same = ([CODE.sub('', text) for text in made] for made in (files, same))
    assert (again, same) == (status, files)
    assert bool(files) == (status == 0)
    if status and 'gcc-o9' not in words[0]:
        assert without == said != ''


def test_without_python_mpi_says_what_it_needs(make):
    done = make('MPI=1', 'PYTHON=/bin/false')
    assert done.returncode == 2 and "'--mpicc' needs Python 3.8 or later" in done.stderr


def test_a_launcher_may_stand_before_the_compiler(make, tmp_path):
    launcher = tmp_path / 'ccache'
    launcher.write_text('#!/bin/sh\nexec "$@"\n')
    launcher.chmod(0o755)
    for python in (sys.executable, '/bin/false'):
        assert built(make, 'PRESET=gcc-o2', f'CC={launcher} gcc', f'PYTHON={python}')
        found = record(make)
        assert found['compile_line'][:3] == [str(launcher), 'gcc', '-O2']
        assert found['compiler'] == presets.banner('gcc')
        shutil.rmtree(make.build)


def test_program_mk_asks_for_nothing_that_make_3_82_lacks(root):
    """RHEL 7: no .SHELLSTATUS (4.2), no `!=`, no $(file ...) (4.0)."""
    text = (root / 'src/program.mk').read_text()
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    assert not [
        line for line in lines if 'SHELLSTATUS' in line or '!=' in line or '$(file' in line
    ]
