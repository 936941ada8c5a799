"""Imported by each Python of .venv before anything else (ci/setup.sh).

PYTHONPATH is a module's of the site: its numpy is another Python's. What is in this checkout
stays, and a copy of membw.
"""

import os
import sys


def is_ours(path: str) -> bool:
    here = os.path.join(os.path.dirname(sys.prefix), '')  # the checkout, which holds .venv
    return path.startswith(here) or os.path.isfile(os.path.join(path, 'membw', 'start.py'))


def drop() -> None:
    given = [os.path.abspath(path) for path in os.environ.pop('PYTHONPATH').split(os.pathsep)]
    kept = [path for path in given if is_ours(path)]
    library = os.path.dirname(os.__file__)
    gone = {path for path in given if path not in kept and not path.startswith(library)}
    sys.path[:] = [path for path in sys.path if path not in gone]
    if kept:
        os.environ['PYTHONPATH'] = os.pathsep.join(kept)


if 'PYTHONPATH' in os.environ:
    drop()
