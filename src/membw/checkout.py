"""Where the checkout lies."""

import difflib
import os
import pathlib

from membw.errors import MembwError


def root():
    """The folder that holds reframe-checks and systems: MEMBW_ROOT, or this file's checkout."""
    here = os.environ.get('MEMBW_ROOT') or pathlib.Path(__file__).resolve().parents[2]
    if not os.path.isdir(os.path.join(here, 'reframe-checks')):
        raise MembwError(f"no checkout of membw in '{here}'", 'source its setup-env.sh first')
    return str(here)


def systems():
    """Names of systems/*.yaml."""
    return sorted(path.stem for path in pathlib.Path(root(), 'systems').glob('*.yaml'))


def refuse_unknown_system(name):
    known = systems()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else f'known are {", ".join(known)}'
        raise MembwError(f"no system '{name}' in systems/", hint)
