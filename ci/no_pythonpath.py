"""Imported by each Python of .venv before anything else (ci/setup.sh): PYTHONPATH is a site
module's, and its numpy is another Python's. Folders that hold a membw stay."""

import os
import sys


def drop() -> None:
    given = os.environ.pop('PYTHONPATH', '').split(os.pathsep)
    kept = [path for path in given if os.path.isfile(os.path.join(path, 'membw', 'start.py'))]
    gone = {os.path.abspath(path) for path in given if path not in kept}
    own = (sys.prefix, os.path.dirname(os.__file__))
    sys.path[:] = [path for path in sys.path if path not in gone or path.startswith(own)]
    if kept:
        os.environ['PYTHONPATH'] = os.pathsep.join(kept)


if 'PYTHONPATH' in os.environ:
    drop()
