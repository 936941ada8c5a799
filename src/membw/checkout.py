"""Where the checkout lies."""

import os
import pathlib

from membw.errors import MembwError


def root():
    """The folder that holds reframe-checks and systems: MEMBW_ROOT, or this file's checkout."""
    here = os.environ.get('MEMBW_ROOT') or pathlib.Path(__file__).resolve().parents[2]
    if not os.path.isdir(os.path.join(here, 'reframe-checks')):
        raise MembwError(f"no checkout of membw in '{here}'", 'source its setup-env.sh first')
    return str(here)
