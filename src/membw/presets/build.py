"""What src/build.sh says, which has the rules: a preset's line, the compilers on the PATH."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
import sys

from membw.presets.table import ROOT, PresetError

SCRIPT = str(ROOT / 'src' / 'build.sh')


def ask(*words: str) -> str:
    """What it prints; PresetError with its words where it refuses."""
    environ = {**os.environ, 'PYTHON': sys.executable}
    done = subprocess.run(
        ['sh', SCRIPT, *words], env=environ, capture_output=True, text=True, errors='replace'
    )
    if done.returncode:
        said, _, hint = done.stderr.strip().partition('\nhint: ')
        raise PresetError([line.removeprefix('membw: ') for line in said.splitlines()], hint)
    sys.stderr.write(done.stderr)  # of a compiler that does not answer
    return done.stdout


def flags(preset: str, *options: str) -> list[str]:
    return shlex.split(ask('flags', preset, *options))


@functools.cache
def plan(preset: str, program: str, *options: str) -> str:
    """All that make builds a program by: another text, another binary."""
    return ask('plan', preset, program, *options)


def compilers() -> dict[str, list[list[str]]]:
    """{family: [[compiler, version, why it builds no OpenMP]]}: its plain name, then the
    newest first."""
    found: dict[str, list[list[str]]] = {}
    for line in ask('compilers').splitlines():
        family, *words = line.split('\t')
        found.setdefault(family, []).append(words)
    return found


def compiler_version(preset: str, cc: str) -> str:
    """Of a compiler that can build the preset; PresetError where it cannot."""
    return ask('compiler', preset, cc).strip()


def cpu() -> str:
    return ask('cpu')


def blas_words(name: str) -> tuple[list[str], list[str]]:
    """(words in front of the sources, words behind them) that link a row's library."""
    before, after = ask('blas', name).splitlines()
    return shlex.split(before), shlex.split(after)
