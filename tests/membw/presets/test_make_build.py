"""Plain make: the line that reaches the compiler is the preset's; rebuilt when, and only when."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import standin_gcc
from checkout_copy import copy_checkout
from places import ROOT
from standin import BANNERS, BUILD_TOOLS, FOUNDING, StandIn, answers, sources

from membw import presets
from membw.codegen.elf import code_sha256
from membw.presets import generate

# what a node has that has a compiler and nothing else
TOOLS = [*BUILD_TOOLS, 'make']


def environment(tmp_path):
    """With a gcc that does not optimize."""
    path = f'{standin_gcc.put_up(tmp_path / "tools")}:{os.environ["PATH"]}'
    return {**os.environ, 'PATH': path}


def script(path, text):
    path.write_text(f'#!/bin/sh\n{text}')
    path.chmod(0o755)
    return path


@pytest.fixture
def make(tmp_path):
    """make -C src/stream in a copy of what it needs; BUILD lies next to it."""
    root, env = copy_checkout(tmp_path / 'copy', ('src', 'configs')), environment(tmp_path)

    def run(*words, **variables):
        line = ['make', '-C', 'src/stream', f'PYTHON={sys.executable}', f'BUILD={run.build}']
        more = {'cwd': root, 'env': {**env, **variables}, 'timeout': 300}
        return subprocess.run([*line, *words], capture_output=True, text=True, **more)

    run.root, run.build, run.tools = root, tmp_path / 'build', tmp_path / 'tools'
    return run


def first_line(compiler):
    done = subprocess.run([compiler, '--version'], capture_output=True, text=True)
    return done.stdout.partition('\n')[0]


@pytest.mark.parametrize('python', [sys.executable, 'none'])
def test_the_first_line_of_readme_works_in_a_folder_with_a_space(tmp_path, python):
    """It was: unrecognized arguments: stream."""
    folder = copy_checkout(tmp_path / "anna's check out", ('src', 'configs'))
    line = ['make', '-s', '-C', 'src/stream', f'PYTHON={python}', 'PRESET=gcc-o3']
    env = environment(tmp_path)
    done = subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True)
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
    path = f'{icc.path.parent}:{make.tools}:{os.environ["PATH"]}'
    done = make(f'PRESET={preset}', *words, PATH=path)
    assert done.returncode == 0, done.stderr
    expected = [*line.split(), *sources(ROOT), '-o', str(make.build / 'stream')]
    assert icc.lines() == [expected]
    assert record(make)['compile_line'] == expected


def test_the_gcc_line_and_its_record(make):
    make.build.mkdir()
    of_another = make.build / 'stream.text'  # of a build that writes into this folder, too
    of_another.touch()
    assert built(make, 'PRESET=gcc-o2', 'ARRAY_SIZE=1000000', 'NTIMES=20')
    found = record(make)
    line = 'gcc -O2 -fopenmp -DSTREAM_ARRAY_SIZE=1000000 -DNTIMES=20 -mcmodel=medium'
    assert found['compile_line'] == [
        *line.split(), *sources(ROOT), '-o', str(make.build / 'stream')
    ]  # fmt: skip
    assert found['built_with'] == 'make' and found['preset'] == 'gcc-o2'
    assert found['source_sha256'] == presets.source_sha256(ROOT / 'src/stream')
    assert found['binary_sha256'] == presets.sha256(make.build / 'stream')
    assert found['code_sha256'] == code_sha256(make.build / 'stream') != ''
    assert found['compiler'] == first_line('gcc') and of_another.exists()


def test_a_build_without_openmp_runs_and_validates(make):
    assert built(make, 'PRESET=gcc-o3', 'OPENMP=0')
    assert '-fopenmp' not in record(make)['compile_line']
    said = make.build / 'said.json'
    words = [make.build / 'stream', '-n', '100000', '-t', '2', '--json', said]
    done = subprocess.run(words, capture_output=True, text=True)
    assert 'hold the expected bits' in done.stdout
    build = json.loads(said.read_text())['build']
    assert (build['preset'], build['unknown'], build['openmp']) == ('gcc-o3', None, None)
    assert build['binary_sha256'] == record(make)['binary_sha256']


def test_an_edit_of_a_source_or_of_the_row_rebuilds_and_of_another_row_does_not(make):
    assert built(make) and not built(make)
    before = record(make)
    with open(make.root / 'src/stream/kernels/kernels.c', 'a') as file:
        file.write('/* edited */\n')
    assert built(make)
    assert record(make)['source_sha256'] != before['source_sha256']
    table = make.root / 'configs/presets.yaml'
    table.write_text(table.read_text().replace('-O3 -mavx2', '-O1 -mavx2'))
    assert not built(make)
    own = '-O2 {openmp} {defs} -mcm'
    table.write_text(table.read_text().replace(own, own.replace('-O2', '-O1')))
    assert built(make)
    assert '-O1' in record(make)['compile_line']


@pytest.mark.parametrize('words, said', [
    (['PRESET=gcc-o9'], "unknown preset 'gcc-o9'"),
    (['ARRAY_SIZE=-1'], "invalid value of STREAM_ARRAY_SIZE: '-1'"),
    (['NTIMES=1e3'], "invalid value of NTIMES: '1e3'"),
    (['PRESET=icc13-knc', 'CC=no-such-icc'], "compiler 'no-such-icc'"),
    (['PRESET=clang-o2', 'CC=gcc'], "'gcc' is not of family 'clang'"),
    (['EXTRA=-DBROKEN=('], 'error: '),  # of the compiler
])  # fmt: skip
def test_what_cannot_be_built_is_refused_and_leaves_nothing(make, words, said):
    kernels = make.root / 'src/stream/kernels/kernels.c'
    kernels.write_text(kernels.read_text() + '\n#ifdef BROKEN\nthis is not C\n#endif\n')
    done = make(*words)
    assert done.returncode == 2 and said in done.stderr and 'Traceback' not in done.stderr
    assert said == 'error: ' or 'hint: ' in done.stderr
    assert not (make.build / 'stream').exists() and not (make.build / 'stream.json').exists()


def test_the_fortran_version_builds_with_its_own_line(make):
    if not shutil.which('gfortran'):
        pytest.skip("'gfortran' is not on the PATH")
    standin_gcc.put_up(make.tools, name='gfortran')
    assert built(make, 'PRESET=gfortran-o2')
    found = record(make)
    assert found['compile_line'][:5] == ['gfortran', '-O2', '-fopenmp', 'stream.f90', 'stream_f.c']
    assert 'GNU Fortran' in found['compiler']
    assert not built(make, 'PRESET=gfortran-o2')


def test_nothing_of_a_build_needs_python(make, tmp_path):
    """With MPI, by a wrapper as Intel's: words that belong together stay together."""
    show = 'gcc -I"/mpi/include" -isystem /x -L/mpi/lib -Xlinker -rpath -Xlinker /mpi/lib'
    mpicc = script(tmp_path / 'mpicc', f"echo '{show}'\n")
    words = ['MPI=1', f'MPICC={mpicc}', 'LIBS=-lm', """EXTRA=-DTEXT='"a $$b"'"""]
    done = make('-n', 'PYTHON=/bin/false', 'PRESET=gcc-o3', 'NTIMES=5', *words)
    (line, *_) = [text for text in done.stdout.splitlines() if text.startswith('gcc ')]
    assert shlex.split(line) == [
        *['gcc', '-O3', '-fopenmp', '-DNTIMES=5', '-DTEXT="a $b"'],
        *'-DMEMBW_MPI -I/mpi/include -isystem /x stream.c -o'.split(),
        str(make.build / 'stream'),
        *'-L/mpi/lib -Xlinker -rpath -Xlinker /mpi/lib -lm'.split(),
    ]
    assert built(make, 'PYTHON=/bin/false', 'LIBS=-lm', words[-1])
    assert '-DTEXT="a $b"' in record(make)['compile_line']


def test_an_edited_table_needs_python_once_and_says_so(make):
    """A new family is a row, and nothing else."""
    table = make.root / 'configs/presets.yaml'
    family = "  newcc: {cc: newcc, openmp: -fopenmp, spack: '%c=new', macros: [__newcc__]}\n"
    row = "  newcc-o1: {family: newcc, line: '-O1 {openmp} {defs}', requires: [], features: [], "
    row += 'source: a test}\n'
    text = table.read_text().replace('\npresets:\n', f'\n{family}\npresets:\n{row}')
    table.write_text(text)
    says = '--version) echo The New C 3.1; exit ;; -E) sed s/__newcc__/3.1/ "$2"; exit ;;'
    script(make.tools / 'newcc', f'case "$1" in {says} esac\nexec gcc "$@"\n')
    done = make('PRESET=newcc-o1', 'PYTHON=/bin/false')
    assert done.returncode == 2 and 'src/presets.sh is not of this configs/presets' in done.stderr
    assert built(make, 'PRESET=newcc-o1')
    assert record(make)['compiler'] == 'The New C 3.1'
    assert not built(make, 'PRESET=newcc-o1', 'PYTHON=/bin/false')
    table.write_text(text.replace('line:', 'lines:', 1))
    done = make()
    assert done.returncode == 2 and "unknown key 'lines'" in done.stderr
    assert 'Traceback' not in done.stderr


def test_the_committed_table_is_what_the_generator_writes():
    assert (ROOT / generate.GENERATED).read_text() == generate.text()


# a compiler that makes nothing of anything
SAYS = f"""{answers('gcc', '12.2.0')}case "$*" in
--version) echo 'gcc (GCC) 12.2.0' ;;
-dumpmachine) echo x86_64-linux-gnu ;;
*-###*) echo "$SAID" >&2 ;;
*) : >"$OUT" ;;
esac
"""
GCC_SAYS = '/lib/cc1 -quiet "-march={}" -mavx2 --param "l2-cache-size={}" -O3'
CLANG_SAYS = '"clang" "-cc1" "-target-cpu" "{}" "-target-feature" "+avx" "-x" "{}"'
CPU = next(
    line.partition(': ')[2]
    for line in pathlib.Path('/proc/cpuinfo').read_text().splitlines()
    if re.match('(model name|cpu|uarch|CPU part)\\s*:', line)
)
ZEN3, ZEN4, ZEN3_99 = (
    GCC_SAYS.format(*words) for words in (('znver3', 512), ('znver4', 512), ('znver3', 99))
)
PLAIN = GCC_SAYS.format('x86-64', 1)
FOR_CPU = [
    ('gcc-native', '', ZEN3, ZEN4, 'znver3'),
    ('gcc-native', '', ZEN3, ZEN3_99, 'znver3'),
    ('gcc-o2', '-xHost', CLANG_SAYS.format('a', 'c'), CLANG_SAYS.format('b', 'c'), 'a'),
    ('gcc-o2', '', PLAIN, PLAIN, 'x86-64'),
    # one that cannot say it: the kernel's name
    *(('gcc-o2', extra, '', '', CPU) for extra in '-xHost -march=native -tp=native -fast'.split()),
    ('gcc-o2', '-mtune=native', '', '', CPU),
    ('gcc-o2', '-DNATIVE=1', '', '', None),
    ('gcc-o2', '-I/opt/native', '', '', None),
]


@pytest.mark.parametrize('preset, extra, said, other, cpu', FOR_CPU)
def test_code_for_this_cpu_is_built_again_on_another(make, preset, extra, said, other, cpu):
    """Two kinds of CPU share a home: by the compiler's word, else by the kernel's."""
    script(make.tools / 'gcc', SAYS)
    words, out = [f'PRESET={preset}', f'EXTRA={extra}'], str(make.build / 'stream')
    first = make(*words, SAID=said, OUT=out)
    assert first.returncode == 0, first.stderr
    of_first = record(make)['target_cpu']
    assert (of_first or '').rpartition(' ')[0] == (cpu or '')
    if said != other:
        assert ' -o ' not in make(*words, SAID=said, OUT=out).stdout
        assert ' -o ' in make(*words, SAID=other, OUT=out).stdout
        assert record(make)['target_cpu'] != of_first


MACHINE = '[ "$1" != -dumpmachine ] || {{ echo {}-linux-gnu; exit; }}\n'
X86, ARM = 'x86_64', 'aarch64'
FIRST = [
    ({'gcc': ('gcc', '12.2.0', X86)}, '', 'gcc-o2', 'gcc'),
    ({'gcc': ('gcc', '12.2.0', ARM)}, '', 'gcc-o3', 'gcc'),
    ({'gcc-13': ('gcc', '13.2.0', 'riscv64')}, '', 'gcc-o3', 'gcc-13'),
    ({'clang-19': ('clang', '19.1.7', X86)}, '', 'clang-o2', 'clang-19'),
    # Debian's clang is called clang-19: the newest of the family
    ({'clang-9': ('clang', '9.0.1', X86), 'clang-12': ('clang', '12.0.0', X86)}, '',
     'clang-o2', 'clang-12'),
    ({'clang': ('clang', '8.0.0', X86), 'clang-12': ('clang', '12.0.0', X86)}, '',
     'clang-o2', 'clang'),
    ({'clang': ('aocc', '', X86), 'clang-9': ('clang', '9.0.0', X86)}, '', 'clang-o2', 'clang-9'),
    ({'clang-cpp-9': ('clang', '9.0.1', X86)}, '', '', ''),
    ({'cc': ('gcc', '12.2.0', X86)}, '', 'gcc-o2', 'cc'),
    ({'cc': ('clang', '18.1.6', X86)}, '', 'clang-o2', 'cc'),
    ({'nvc': ('nvc', '', ARM)}, '', 'nvc-o3', 'nvc'),
    ({'armclang': ('armclang', '', ARM)}, '', 'armclang-mcpu', 'armclang'),
    ({'armclang': ('atfl', '', ARM)}, '', 'atfl-mcpu', 'armclang'),
    ({'gcc': ('gcc', '12.2.0', X86), 'icx': ('icx', '', X86)}, 'icx', 'icx-o2', 'icx'),
    ({'gcc': ('gcc', '12.2.0', X86), 'amdclang': ('clang', '19.0.0', X86)}, 'amdclang', 'clang-o2',
     'amdclang'),
    # one without OpenMP is no choice where there is another, of any family
    ({'clang-19': ('clang', '19.1.7', None), 'clang-14': ('clang', '14.0.6', X86)}, '', 'clang-o2',
     'clang-14'),
    ({'gcc': ('gcc', '12.2.0', None), 'clang': ('clang', '14.0.6', X86)}, '', 'clang-o2', 'clang'),
    ({'gcc': ('gcc', '12.2.0', X86), 'clang': ('clang', '14.0.6', None)}, '', 'gcc-o2', 'gcc'),
    ({}, '', '', ''),
]  # fmt: skip
NO_OPENMP = """case "$*" in
*openmp*) echo "$2:1:10: fatal error: 'omp.h' file not found" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def plain(make, tmp_path):
    """make -n on a node that has these compilers and POSIX: {name: (family, version, machine;
    None: x86-64 without OpenMP)}."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))

    def run(compilers, *words):
        for compiler, (family, version, machine) in compilers.items():
            says = answers(family, version) + MACHINE.format(machine or X86)
            says += NO_OPENMP if machine is None else ''
            banner = BANNERS.get(family, f'a compiler, version {version}')
            script(folder / compiler, f'{says}cat <<"END"\n{banner}\nEND\n')
        line = ['make', '-n', '-C', make.root / 'src/stream', *words]
        return subprocess.run(line, env={'PATH': str(folder)}, capture_output=True, text=True)

    return run


@pytest.mark.parametrize('compilers, cc, preset, taken', FIRST)
def test_the_preset_is_of_the_compiler_that_is_there(plain, compilers, cc, preset, taken):
    done = plain(compilers, *([f'CC={cc}'] if cc else []))
    if taken:
        assert f'{taken} -O' in done.stdout, done.stderr
        assert f'-o ../../build/{preset}/stream' in done.stdout
    else:
        assert done.returncode == 2 and "compiler 'gcc' of preset 'gcc-o" in done.stderr


@pytest.mark.parametrize('words', [[], ['CC=clang-19'], ['PRESET=clang-o3']])
def test_a_compiler_without_openmp_says_what_is_missing(plain, words):
    compilers = {'clang-19': ('clang', '19.1.7', None)}
    done = plain(compilers, *words)
    assert done.returncode == 2, done.stdout
    assert (
        "'clang-19' does not build with -fopenmp: probe.c:1:10: fatal error: 'omp.h'"
        in done.stderr
    )
    assert 'libomp-dev' in done.stderr and 'OPENMP=0' in done.stderr
    assert 'clang-19 -O' in plain(compilers, *words, 'OPENMP=0').stdout


def test_a_compiler_in_a_folder_with_a_space_builds(make, tmp_path):
    folder = tmp_path / 'a place'
    folder.mkdir()
    (folder / 'gcc').symlink_to(make.tools / 'gcc')
    assert built(make, 'PRESET=gcc-o2', f'CC={folder}/gcc')
    found = record(make)
    assert found['compile_line'][:2] == [f'{folder}/gcc', '-O2']
    assert found['compiler'] == first_line('gcc')
    assert not built(make, 'PRESET=gcc-o2', f'CC={folder}/gcc')


@pytest.mark.skipif(os.uname().machine != 'x86_64', reason='-m32 is an option of x86-64')
def test_code_of_32_bits_is_refused_by_name(make):
    done = make('-n', 'CC=gcc -m32')
    assert done.returncode == 2 and "'gcc -m32' makes code of 32 bits" in done.stderr


def test_a_compiler_that_builds_openmp_is_not_tried_again(plain, make):
    """What is missing may be installed: a failure is not remembered."""
    known = make.root / 'build/openmp-compilers'
    without, usual = {'gcc': ('gcc', '12.2.0', None)}, {'gcc': ('gcc', '12.2.0', X86)}
    assert plain(without).returncode == 2 and not known.exists()
    assert plain(usual).returncode == plain(usual).returncode == 0
    (line,) = known.read_text().splitlines()
    assert line.startswith(f'-fopenmp {os.uname().nodename} gcc ')
    assert plain(without).returncode == 2  # another file of that name


def test_an_mpi_wrapper_that_cannot_start_is_quoted(make, tmp_path):
    broken = 'mpicc: error while loading shared libraries: libpmix.so.2: cannot open'
    mpicc = script(tmp_path / 'mpicc', f'echo "{broken}" >&2; exit 127\n')
    done = make('-n', 'PRESET=gcc-o3', 'MPI=1', f'MPICC={mpicc}')
    assert done.returncode == 2 and broken in done.stderr and 'MPICC=PATH' in done.stderr


def test_a_launcher_may_stand_before_the_compiler(make, tmp_path):
    launcher = script(tmp_path / 'ccache', 'exec "$@"\n')
    assert built(make, 'PRESET=gcc-o2', f'CC={launcher} gcc')
    found = record(make)
    assert found['compile_line'][:3] == [str(launcher), 'gcc', '-O2']
    assert found['compiler'] == first_line('gcc')


def test_program_mk_asks_for_nothing_that_make_3_82_lacks(root):
    """RHEL 7: no .SHELLSTATUS (4.2), no `!=`, no $(file ...) (4.0)."""
    text = (root / 'src/program.mk').read_text()
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    assert not re.search(r'SHELLSTATUS|!=|\$\(file', '\n'.join(lines))
