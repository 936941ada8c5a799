"""Not x86-64: what gcc and clang say of each program, README's first line, an emulated run."""

import json
import re
import subprocess

import pytest
from clang_here import CLANG, skip_without
from places import ROOT

MACHINES = ('aarch64', 'powerpc64le', 'riscv64')
PROGRAMS = sorted(p.name for p in (ROOT / 'src').iterdir() if (p / f'{p.name}.c').is_file())
WARNINGS = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-fopenmp']
ASSEMBLY = {path.relative_to(ROOT / 'src').parts[0] for path in (ROOT / 'src').rglob('*.[ch]')
            if 'asm' in path.read_text()}  # fmt: skip
COMPILERS = {
    'gcc': lambda machine: [f'{machine}-linux-gnu-gcc', '-O1'],
    'clang': lambda machine: [CLANG, f'--target={machine}-linux-gnu', '-O0'],
}


@pytest.mark.parametrize('machine', MACHINES)
@pytest.mark.parametrize('compiler', COMPILERS)
def test_each_program_compiles_without_a_warning(compiler, machine, need):
    need(f'{machine}-linux-gnu-gcc', CLANG)  # the headers of C come with the first
    words = [*COMPILERS[compiler](machine), *WARNINGS]
    skip_without(words[0])
    for program in PROGRAMS:
        # code, too, where it has assembly, which clang reads
        has_code = compiler == 'clang' and program in ASSEMBLY
        line = [*words, *(['-c', '-o/dev/null'] if has_code else ['-fsyntax-only'])]
        line.append(ROOT / 'src' / program / f'{program}.c')
        done = subprocess.run(line, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('machine', MACHINES)
@pytest.mark.parametrize('compiler', COMPILERS)
def test_the_first_command_of_readme_builds_and_runs(compiler, machine, need, tmp_path):
    """By sh and awk in place of Python; not optimized, to be quick; clang without OpenMP."""
    gcc = need(f'{machine}-linux-gnu-gcc')  # the C library, too
    clang = f'{need(CLANG)} --target={machine}-linux-gnu'
    preset, cc = ('gcc-o3', gcc) if compiler == 'gcc' else ('clang-o2', clang)
    command = 'make -s -C src/stream'
    assert f'`{command} ' in (ROOT / 'README.md').read_text()
    words = [f'CC={cc}', 'EXTRA=-O0', f'BUILD={tmp_path}', 'PYTHON=/bin/false']
    words += ['OPENMP=0'] * (compiler == 'clang')
    done = subprocess.run([*command.split(), *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / 'stream.json').read_text())['preset'] == preset
    emulator = need(f'qemu-{"ppc64le" if machine[0] == "p" else machine}')
    run = [emulator, '-L', f'/usr/{machine}-linux-gnu', tmp_path / 'stream']
    run += ['-n', '100000', '-t', '2', '--json', tmp_path / 'r.json']
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert 'hold the expected bits' in done.stdout, done.stdout + done.stderr
    assert json.loads((tmp_path / 'r.json').read_text())['build']['preset'] == preset


@pytest.mark.parametrize(
    'words, said',
    [(['-m32'], 'membw_needs_a_64_bit_compiler'), (['-U__linux__'], 'measures on Linux alone')],
)
def test_where_it_cannot_work_one_line_says_so(words, said, need):
    line = [need('gcc'), *words, '-fsyntax-only', '-x', 'c', ROOT / 'src/harness/config.h']
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode and said in done.stderr, done.stderr


def test_what_threads_write_lies_further_apart_than_any_line():
    """64 bytes on x86 and most of Arm, 128 on POWER, 256 on A64FX; x86 fetches lines in pairs."""
    config = (ROOT / 'src/harness/config.h').read_text()
    assert re.findall(r'LINE = (\d+)', config) == ['128', '64'] and 'LINES_APART = 256' in config
    for path in (ROOT / 'src').glob('*/**/*.[ch]'):
        assert not re.search(r'2 \* (LINE|WORDS)\b', path.read_text()), path
