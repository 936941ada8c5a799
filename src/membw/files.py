"""Files that are written as a whole: the last good one stays when the new one cannot be; and
what is never read to its end."""

import contextlib
import fcntl
import os
import stat
import tempfile
import threading
from functools import partial
from pathlib import Path

from membw.errors import MembwError

PIPE_WAIT_S = 10  # for whoever is to open the other end of a named pipe: longer is never


def write_whole(name, content, hint=None):
    """Write beside, then rename; what is no regular file (a device, a pipe) is written through.

    `content`: text, bytes, or a function that writes to a binary file. A link stays a link: its
    target is replaced.
    """
    write = content if callable(content) else partial(_write, content=content)
    try:
        if _is_special(name):
            with open(_opened(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, hint), 'wb') as file:
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


def open_to_read(name, hint=None):
    """A stream of bytes: of a file, a pipe, what <(COMMAND) names.

    Raises MembwError where whoever reads would wait for ever, OSError as open() does.
    """
    refuse_endless(name, hint)
    return open(_opened(name, os.O_RDONLY, hint), 'rb')


def read_text(name, hint=None):
    """All that open_to_read gives; what is not UTF-8 is replaced."""
    with naming(name), open_to_read(name, hint) as stream:
        return stream.read().decode('utf-8', errors='replace')


@contextlib.contextmanager
def naming(name):
    """An OSError within names this file: a read that fails (a stale handle, a disk) names none."""
    try:
        yield
    except OSError as err:
        err.filename = err.filename or os.fspath(name)
        raise


def refuse_endless(name, hint=None):
    """/dev/zero, a terminal: whoever reads them to the end waits for ever; /dev/null has one."""
    if Path(name).is_char_device() and not os.path.samefile(name, os.devnull):
        raise MembwError(f"'{name}' is a device, which has no end", hint)


def refuse_special(name, hint=None):
    """What is read more than once, or added to, is a regular file, or not there yet; of a folder
    open() says so."""
    if os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name)):
        raise MembwError(f"'{name}' is no file", hint)


def unreadable_folders(folder):
    """A line for each folder in it that may not be read: to look for files passes over it, and
    another user's results (umask 077) would be none. What is hidden, and what a file system has of
    its own, is nobody's results."""
    refused = []
    for _, below, _ in os.walk(folder, onerror=refused.append):
        below[:] = [name for name in below if name[0] != '.' and name != 'lost+found']
    return [f"'{err.filename}': {err.strerror}: another user's? 'ls -ld' shows whose it is"
            for err in refused if isinstance(err, PermissionError)]  # fmt: skip


def _opened(name, flags, hint):
    """A descriptor. To open a named pipe is to wait for its other end, and nobody may come."""
    if not Path(name).is_fifo():
        return os.open(name, flags | os.O_CLOEXEC, 0o666)
    handles, reads = [], not flags & os.O_WRONLY
    waits = threading.Thread(target=lambda: handles.append(os.open(name, flags)), daemon=True)
    waits.start()
    waits.join(PIPE_WAIT_S)
    if not handles:
        fact = f"nobody {'writes to' if reads else 'reads'} the pipe '{name}'"
        with contextlib.suppress(OSError, IndexError):  # the thread gets its other end, and ends
            os.close(os.open(name, os.O_NONBLOCK | (os.O_RDWR if reads else os.O_RDONLY)))
            waits.join(1)
            os.close(handles[0])
        raise MembwError(f'{fact}: waited {PIPE_WAIT_S} s', hint)
    return handles[0]


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
        with contextlib.suppress(FileNotFoundError):  # a signal came when it was in its place
            os.unlink(part)
        raise


def _umask():
    now = os.umask(0o22)
    os.umask(now)
    return now
