"""From a row to a compile line: the compiler, its options, what a BLAS and an MPI add."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence

from membw.presets.table import Facts, PresetError, Table, blas_row, family_of, language, load, row

MACHINES = {'x86_64', 'aarch64', 'ppc64le', 'riscv64'}  # words of `requires`


def fill(
    template: str,
    preset: str,
    family: Facts,
    openmp: bool,
    defines: Sequence[str],
    libhugetlbfs: str | None,
) -> list[str]:
    if '{libhugetlbfs}' in template and not libhugetlbfs:
        raise PresetError(
            f"preset '{preset}' needs the path of libhugetlbfs",
            'make: LIBHUGETLBFS=PATH, spack: libhugetlbfs=PATH (the folder with ldscripts, obj64)',
        )
    values = {
        'openmp': family['openmp'] if openmp else '',
        'defs': shlex.join(f'-D{define}' for define in defines),
        'libhugetlbfs': libhugetlbfs or '',
    }
    return shlex.split(template.format(**values))


def flags(
    preset: str,
    openmp: bool = True,
    defines: Sequence[str] = (),
    extra: Sequence[str] = (),
    *,
    libhugetlbfs: str | None = None,
    table: Table | None = None,
) -> list[str]:
    """The options of a preset for a C program, in order; `extra` comes last.

    `defines` are the program's own macros, 'NAME=VALUE', in the order of the line.
    """
    table = table or load()
    template, family = row(preset, table)['line'], family_of(preset, table)
    return fill(template, preset, family, openmp, defines, libhugetlbfs) + list(extra)


def sources_of(preset: str, program: str, table: Table) -> list[str]:
    """The files of src/<program> that stand on the line."""
    if language(family_of(preset, table)) == 'fortran':
        return [f'{program}.f90', f'{program}_f.c']
    return [f'{program}.c']


# --- the compiler ------------------------------------------------------------------------------


def banner(cc: str) -> str:
    """First line of `cc --version`."""
    try:
        words = [*shlex.split(cc), '--version']  # 'ccache gcc'
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as err:
        raise PresetError(
            f"compiler '{cc}' does not run: {err}", 'CC=PATH names another one'
        ) from err
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else ''


def compiler_version(family: str, cc: str, table: Table | None = None) -> str | None:
    """Version of `cc`, or None when its banner is not that of the family."""
    table = table or load()
    match = re.search(table['families'][family]['version'], banner(cc))
    return match.group(1) if match else None


def candidates(cc: str) -> list[str]:
    """cc itself and cc-<version> on PATH, newest first; a path names one alone."""
    versions, version = set(), re.compile(re.escape(cc) + r'-\d[\d.]*')
    for folder in os.environ.get('PATH', '').split(os.pathsep) if os.sep not in cc else ():
        with contextlib.suppress(OSError):  # `su` keeps root's PATH, which one may not read
            versions |= {*filter(version.fullmatch, os.listdir(folder or '.'))}
    newest = sorted(versions, key=lambda n: [int(x) for x in re.findall(r'\d+', n)], reverse=True)
    return [c for c in [cc, *newest] if shutil.which(c)]


def compiler_of(family: str, table: Table) -> str:
    """The family's compiler by its plain name, else its newest cc-<version> (Debian's clang-19);
    where none of them is of the family, the one to say so of."""
    cc = table['families'][family]['cc']
    there = candidates(cc)
    return next((c for c in there if compiler_version(family, c, table)), [*there, cc][0])


def check_compiler(preset: str, cc: str, table: Table) -> None:
    """A row needs a compiler of its family, for a machine that it is for."""
    family = table['presets'][preset]['family']
    if not shutil.which(shlex.split(cc)[0]):
        raise PresetError(
            f"compiler '{cc}' of preset '{preset}' not found",
            'load its module, or CC=PATH; `membw presets list` shows other presets',
        )
    if not compiler_version(family, cc, table):
        raise PresetError(
            f"'{cc}' is not of family '{family}' (preset '{preset}'): {banner(cc)!r}",
            'CC=PATH of another compiler, or a preset of its family',
        )
    machine = target(cc)
    wrong = {*table['presets'][preset]['requires']} & MACHINES - {machine}
    if machine in MACHINES and wrong:
        raise PresetError(
            f"preset '{preset}' is for {wrong.pop()}, '{cc}' compiles for {machine}",
            'PRESET=gcc-o3 or clang-o3 is for any',
        )


def target(cc: str) -> str:
    """The machine that a compiler makes code for, as `uname -m` there names it."""
    words = [*shlex.split(cc), '-dumpmachine']
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.stdout.partition('-')[0].replace('powerpc64le', 'ppc64le')


# --- the BLAS that a program is linked with --------------------------------------------------


def from_environment(words: str, name: str) -> list[str]:
    """Words of a row with each ${NAME} filled in."""

    def value(match: re.Match[str]) -> str:
        if not os.environ.get(match[1]):
            raise PresetError(
                f"BLAS '{name}' needs {match[1]}, which is not set",
                'load the module of the library, or set it to the folder that it lies in',
            )
        return os.environ[match[1]]

    return [re.sub(r'\$\{(\w+)\}', value, word) for word in shlex.split(words)]


def blas_words(name: str, rows: Facts | None = None) -> tuple[list[str], list[str]]:
    """(words in front of the sources, words behind them) that link a row's library."""
    row = blas_row(name, rows)
    folders = sorted(glob.glob(row.get('folder', '')))[:1]
    places = [word for path in folders for word in (f'-L{path}', f'-Wl,-rpath,{path}')]
    return from_environment(row['compile'], name), [*places, *from_environment(row['link'], name)]


# --- what an MPI compiler wrapper adds to a preset's line ----------------------------------------

MPI_DEFINE = '-DMEMBW_MPI'
# Open MPI, MPICH and its kin (Intel, MVAPICH2, Cray's own mpicc) know one of these
SHOW = ('-show', '--showme', '-compile-info')
FOR_LINKER = re.compile(r'-(l|L|Wl,|Xlinker|z$|T$|u$|rdynamic)|.*\.(a|so)(\.\d+)*$')
# their value is the next word
TAKES_NEXT = ('-Xlinker', '-z', '-L', '-l', '-T', '-u', '-I', '-D', '-isystem', '-include')


def mpi_wrapped(mpicc: str) -> list[str]:
    """The words that the wrapper would run, its compiler first."""
    if not shutil.which(mpicc):
        raise PresetError(f"no '{mpicc}' on the PATH", 'load an MPI module, or MPICC=PATH')
    for option in SHOW:
        try:
            done = subprocess.run([mpicc, option], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as err:
            raise PresetError(f"'{mpicc}' does not run: {err}", 'MPICC=PATH') from err
        words = shlex.split(done.stdout)
        if done.returncode == 0 and len(words) > 1:
            return words
    raise PresetError(
        f"'{mpicc} -show' does not say what it adds", 'MPICC=PATH names another MPI compiler'
    )


def mpi_added(mpicc: str) -> tuple[list[str], list[str]]:
    """(for the compiler, for the linker): what goes before the sources and what after them."""
    before, after = [MPI_DEFINE], []  # type: list[str], list[str]
    words = iter(mpi_wrapped(mpicc)[1:])
    for word in words:
        value = [next(words, '')] if word in TAKES_NEXT else []
        (after if FOR_LINKER.match(word) else before).extend([word, *value])
    return before, after
