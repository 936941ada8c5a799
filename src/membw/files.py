"""Files that are written as a whole: the last good one stays when the new one cannot be."""

import os
import stat
import tempfile
from pathlib import Path

from membw.errors import MembwError


def write_whole(name, text, hint=None):
    """Write beside, then rename; what is no regular file (a device, a pipe) is written through.

    A link stays a link: its target is replaced.
    """
    try:
        if _is_special(name):
            with open(name, 'w', encoding='utf-8') as file:
                file.write(text)
        else:
            _replace(Path(os.path.realpath(name)), text)
    except OSError as err:
        raise MembwError(f"cannot write '{name}': {err.strerror}", hint) from err


def _is_special(name):
    """/dev/stdout may be a regular file by now, and is still no name of it."""
    if os.path.abspath(name).startswith(('/dev/', '/proc/')):
        return True
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        return False


def _replace(path, text):
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with open(handle, 'w', encoding='utf-8') as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), mode)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _umask():
    now = os.umask(0o22)
    os.umask(now)
    return now
