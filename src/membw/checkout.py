"""Where the checkout lies, or what stands for one where membw is installed without: checks,
systems and sources, unpacked into a user's folder.

setup.py puts checks, presets, systems, recipes and C sources into the wheel, below `data`, with a
list of them. The folder is a checkout in all but git: there the systems of a site are added, and
builds, results and references are written. A new release replaces the files that it brings; of
systems and tables that were edited it adds its own as NAME.new.
"""

import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from membw.errors import MembwError, did_you_mean
from membw.files import one_at_a_time, write_whole

DATA = Path(__file__).with_name('data')
LIST = DATA / 'files.json'  # {path: sha256}
TAKEN = '.files.json'  # the same, of the release that lies in the folder
# ReFrame and Spack cannot work there; ci/setup.sh refuses the same of a checkout, before Python
READ_BY_SHELLS = re.compile(r"""[\s'"`\\$&;|<>()*?\[\]{}:#!]""")
OF_THE_SITE = ('systems/', 'configs/presets.yaml', 'configs/blas.yaml')


def root() -> str:
    """The folder that holds reframe-checks and systems: MEMBW_ROOT, this file's checkout, or what
    an installed membw unpacked."""
    around = Path(__file__).resolve().parents[2]
    named = os.environ.get('MEMBW_ROOT')
    here = named or (around if is_checkout(around) else unpacked())
    if not is_checkout(here):
        raise MembwError(f"no checkout of membw in '{here}'", 'source its setup-env.sh first')
    return str(here)


def systems() -> list[str]:
    return sorted(path.stem for path in Path(root(), 'systems').glob('*.yaml'))


def checks() -> list[str]:
    """The names of our tests, which are those of their files."""
    return sorted(path.stem for path in Path(root(), 'reframe-checks').glob('*.py'))


def refuse_unknown_system(name: str) -> None:
    known = systems()
    if name not in known:
        raise MembwError(f"no system '{name}' in systems/", did_you_mean(name, known))


def is_checkout(folder: str | os.PathLike[str]) -> bool:
    return os.path.isdir(os.path.join(folder, 'reframe-checks'))


# --- installed without one


def home() -> Path:
    """MEMBW_HOME, else `membw` where the XDG Base Directory Specification has a user's data."""
    data = os.environ.get('XDG_DATA_HOME') or os.path.expanduser('~/.local/share')
    return Path(os.environ.get('MEMBW_HOME') or os.path.join(data, 'membw')).absolute()


@functools.cache
def unpacked() -> Path:
    """The folder, with the files of this release; MembwError where it cannot be."""
    folder = home()
    if not LIST.is_file():
        fact = f"no checkout of membw around '{DATA.parent}'"
        raise MembwError(fact, 'source the setup-env.sh of a checkout first')
    if READ_BY_SHELLS.search(str(folder)):
        fact = f"the path has a space or a special character: '{folder}'"
        raise MembwError(fact, 'MEMBW_HOME=PATH names another one, of letters, digits, ._-')
    if not _is_of_this_release(folder):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(folder):
                if not _is_of_this_release(folder):  # another process did not do it meanwhile
                    _bring(folder)
        except OSError as err:
            fact = f"cannot write '{err.filename}': {err.strerror}"
            raise MembwError(fact, 'MEMBW_HOME=PATH names a folder that can be written') from err
    _link_commands(folder)
    return folder


def _is_of_this_release(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return (folder / TAKEN).read_text() == LIST.read_text()
    return False


def _bring(folder: Path) -> None:
    from membw import strict  # not at each start

    new, old = strict.file(LIST, dict), {}
    with contextlib.suppress(FileNotFoundError, strict.Damaged):
        old = strict.file(folder / TAKEN, dict)
    for name, checksum in new.items():
        path = target = folder / name
        known = (old.get(name), checksum)
        is_edited = path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() not in known
        if is_edited and name.startswith(OF_THE_SITE):
            target = folder / f'{name}.new'
            print(
                f"membw: '{path}' was edited and stays; the new one is '{target}'", file=sys.stderr
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f'.{target.name}.part')
        shutil.copy(DATA / name, part)  # with its mode: some are to be run
        os.replace(part, target)
    for name in old.keys() - new.keys():
        (folder / name).unlink(missing_ok=True)
    write_whole(folder / TAKEN, LIST.read_text())
    print(f"membw: checks, systems and sources are in '{folder}'", file=sys.stderr)


def _link_commands(folder: Path) -> None:
    """setup-env.sh takes membw, reframe and python from .venv/bin."""
    prefix, link = _prefix(), folder / '.venv'
    if prefix and (not link.is_symlink() or os.readlink(link) != prefix):
        new = folder / f'.venv.{os.getpid()}'
        new.symlink_to(prefix)
        os.replace(new, link)


def _prefix() -> str | None:
    """Where pip put our commands: of an environment, of a user, or of the machine; or None."""
    of_user = sysconfig.get_path('scripts', f'{os.name}_user')
    folders = (sysconfig.get_path('scripts'), of_user, os.path.dirname(sys.argv[0]))
    with_membw = (path for path in folders if os.access(os.path.join(path, 'membw'), os.X_OK))
    return next((os.path.dirname(os.path.abspath(path)) for path in with_membw), None)
