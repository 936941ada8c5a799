"""Installed without a checkout: what one has beside the library, unpacked into a user's folder.

setup.py puts checks, presets, systems, recipes and C sources into the wheel, below `data`, with a
list of them. The folder is a checkout in all but git: there the systems of a site are added, and
builds, results and references are written, for which no environment of Python is the place.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from membw.errors import MembwError
from membw.files import one_at_a_time, write_whole

DATA = Path(__file__).with_name('data')
LIST = DATA / 'files.json'  # {path: sha256}
TAKEN = '.files.json'  # the same, of the release that lies in the folder
# what a site writes: an edited one stays, and the new release's is put beside it
# ReFrame and Spack cannot work there; ci/setup.sh refuses the same of a checkout, before Python
READ_BY_SHELLS = re.compile(r"""[\s'"`\\$&;|<>()*?\[\]{}:#!]""")
OF_THE_SITE = ('systems/', 'configs/presets.yaml', 'configs/blas.yaml')


def home():
    """MEMBW_HOME, else `membw` where the XDG Base Directory Specification has a user's data."""
    data = os.environ.get('XDG_DATA_HOME') or os.path.expanduser('~/.local/share')
    return Path(os.environ.get('MEMBW_HOME') or os.path.join(data, 'membw')).absolute()


@functools.cache
def unpacked():
    """The folder, with the files of this release."""
    folder = home()
    if not LIST.is_file():
        raise MembwError(f"no checkout of membw around '{DATA.parent}'",
                         'source the setup-env.sh of one first')  # fmt: skip
    if READ_BY_SHELLS.search(str(folder)):
        raise MembwError(f"its path holds a space or a sign that shells read: '{folder}'",
                         'MEMBW_HOME=PATH names another one: of letters, digits, ._-')  # fmt: skip
    if not _is_of_this_release(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(folder):
                if not _is_of_this_release(folder):  # nobody else did it while we waited
                    _bring(folder)
        except OSError as err:
            raise MembwError(f"cannot write '{err.filename}': {err.strerror}",
                             'MEMBW_HOME=PATH names a folder that can be written')  # fmt: skip
    _link_commands(folder)
    return folder


def _is_of_this_release(folder):
    with contextlib.suppress(OSError):
        return (folder / TAKEN).read_text() == LIST.read_text()
    return False


def _bring(folder):
    """Copy what is new, remove what is gone; nothing that a person wrote is lost."""
    new = json.loads(LIST.read_text())
    old = json.loads((folder / TAKEN).read_text()) if (folder / TAKEN).is_file() else {}
    for name, checksum in new.items():
        _copy(folder, name, edited=_is_edited(folder / name, {old.get(name), checksum}))
    for name in old.keys() - new.keys():
        if (folder / name).is_file() and not _is_edited(folder / name, {old[name]}):
            (folder / name).unlink()
    write_whole(folder / TAKEN, LIST.read_text())
    print(
        f"membw: checks, systems and C sources are in '{folder}', results will be", file=sys.stderr
    )


def _is_edited(path, known):
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() not in known


def _copy(folder, name, edited):
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if edited and name.startswith(OF_THE_SITE):
        target = folder / f'{name}.new'
        print(f"membw: '{folder / name}' was edited and stays; the new one is '{target}'",
              file=sys.stderr)  # fmt: skip
    elif edited:
        os.replace(target, f'{target}.old')
        print(f"membw: '{target}' was edited: that is '{target}.old' now", file=sys.stderr)
    part = target.with_name(f'.{target.name}.part')
    shutil.copy(DATA / name, part)  # some are to be run
    os.replace(part, target)


def _link_commands(folder):
    """setup-env.sh takes membw, reframe and python from .venv/bin."""
    prefix, link = _prefix(), folder / '.venv'
    if prefix and (not link.is_symlink() or os.readlink(link) != prefix):
        new = folder / f'.venv.{os.getpid()}'
        new.symlink_to(prefix)
        os.replace(new, link)


def _prefix():
    """Where pip put our commands: of an environment, of a user, or of the machine; or None."""
    of_user = sysconfig.get_path('scripts', f'{os.name}_user')
    folders = (sysconfig.get_path('scripts'), of_user, os.path.dirname(sys.argv[0]))
    with_membw = (path for path in folders if os.access(os.path.join(path, 'membw'), os.X_OK))
    return next((os.path.dirname(os.path.abspath(path)) for path in with_membw), None)
