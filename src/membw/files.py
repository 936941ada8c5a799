"""Files that are written as a whole: the last good one stays when the new one cannot be; and
what is never read to its end."""

import contextlib
import fcntl
import os
import stat
import tempfile
from functools import partial
from pathlib import Path

from membw.errors import MembwError


def write_whole(name, content, hint=None):
    """Write beside, then rename; what is no regular file (a device, a pipe) is written through.

    `content`: text, bytes, or a function that writes to a binary file. A link stays a link: its
    target is replaced.
    """
    write = content if callable(content) else partial(_write, content=content)
    try:
        if _is_special(name):
            with open(name, 'wb') as file:
                write(file)
        else:
            _replace(Path(os.path.realpath(name)), write)
    except OSError as err:
        raise MembwError(f"cannot write '{name}': {err.strerror}", hint) from err


@contextlib.contextmanager
def one_at_a_time(folder):
    """Whoever reads, changes and writes files of that folder waits for the others that do; where
    the file system has locks."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def refuse_endless(name, hint=None):
    """/dev/zero, a terminal: whoever reads them to the end waits for ever; /dev/null has one."""
    if Path(name).is_char_device() and Path(name) != Path(os.devnull):
        raise MembwError(f"'{name}' is a device, which has no end", hint)


def _write(file, content):
    file.write(content.encode() if isinstance(content, str) else content)


def _is_special(name):
    """/dev/stdout may be a regular file by now, and is still no name of it."""
    if os.path.abspath(name).startswith(('/dev/', '/proc/')):
        return True
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        return False


def _replace(path, write):
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with open(handle, 'wb') as file:
            write(file)
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
