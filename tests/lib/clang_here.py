"""The clang of this machine, by what it can do: the first that builds OpenMP, else any."""

import os
import shutil

import pytest

from membw.presets import compilers

FOUND = compilers().get('clang', [])
OPENMP = [cc for cc, _, why in FOUND if not why]
CLANG = next(iter([*OPENMP, *(cc for cc, *_ in FOUND)]), 'clang')


def skip_without(cc, words=('-fopenmp',)):
    """Where `cc` is a clang, and cannot do these words."""
    if 'clang' not in os.path.basename(cc):
        return
    if not shutil.which(cc):
        pytest.skip("'clang' is not on the PATH")
    if '-fopenmp' in words and not OPENMP:
        pytest.skip(f"'{cc}' does not build with -fopenmp: {FOUND[0][2] if FOUND else 'no clang'}")
