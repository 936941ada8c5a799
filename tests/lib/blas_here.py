"""Which BLAS libraries of Debian are on this machine, and a dgemm that is linked with them."""

import glob

import pytest


def folder(variant):
    """Where a variant lies; the test is skipped where it does not."""
    found = glob.glob(f'/usr/lib/*/{variant}')
    if not found:
        pytest.skip(f'no {variant} of Debian here')
    return found[0]


def words(variant):
    """That link a program with it, whatever stands behind them."""
    library = '-lblis' if variant.startswith('blis') else '-lopenblas'
    return ['-Wl,--no-as-needed', f'-L{folder(variant)}', library]
