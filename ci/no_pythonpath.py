"""Imported by each Python of .venv before anything else (ci/setup.sh).

PYTHONPATH is a module's of the site: its numpy is another Python's. What is in this checkout
stays, and a copy of membw.
"""

import os
import sys


class Dropped:
    """The last finder: nobody else has a module. It says so where PYTHONPATH had it."""

    def __init__(self, folders):
        self.folders = sorted(folders)

    def find_spec(self, name, path=None, target=None):
        if name in ('sitecustomize', 'usercustomize'):  # Python itself looks for them
            return
        for folder in self.folders if path is None else ():
            place = os.path.join(folder, name)
            if os.path.isdir(place) or os.path.isfile(place + '.py'):
                said = f"'{folder}' of PYTHONPATH, which has '{name}', is left out here"
                print(f'membw: {said}: it is of another Python', file=sys.stderr)


def is_ours(path: str) -> bool:
    here = os.path.join(os.path.dirname(sys.prefix), '')  # the checkout, which holds .venv
    return path.startswith(here) or os.path.isfile(os.path.join(path, 'membw', 'start.py'))


def drop() -> None:
    given = [os.path.abspath(path) for path in os.environ.pop('PYTHONPATH').split(os.pathsep)]
    kept = [path for path in given if is_ours(path)]
    library = os.path.dirname(os.__file__)
    gone = {path for path in given if path not in kept and not path.startswith(library)}
    sys.path[:] = [path for path in sys.path if path not in gone]
    if gone:
        sys.meta_path.append(Dropped(gone))
    if kept:
        os.environ['PYTHONPATH'] = os.pathsep.join(kept)


if 'PYTHONPATH' in os.environ:
    drop()
