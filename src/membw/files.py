"""Files that are replaced atomically: if writing fails, the old file stays."""

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from membw.errors import OF_SYSTEM, MembwError

Name = str | os.PathLike[str]


def write_whole(name: Name, content: str | bytes, hint: str = OF_SYSTEM) -> None:
    """Write a new file, then rename; a device or a pipe is written through.

    A link stays a link: its target is replaced. Raises MembwError where that fails.
    """
    with writing(name, hint) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def writing(name: Name, hint: str = OF_SYSTEM) -> Iterator[IO[bytes]]:
    """The same, of what comes in parts."""
    try:
        path = Path(os.path.realpath(name))
        with open(name, 'wb') if _is_special(name) else _replacing(path) as file:
            yield file
    except OSError as err:
        raise MembwError(f"cannot write '{name}': {err.strerror}", hint) from err


@contextlib.contextmanager
def one_at_a_time(folder: Name) -> Iterator[None]:
    """Processes that change files of that folder take turns, where the file system has locks."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def read_text(name: Name) -> str:
    """The text of a file or a pipe, without the mark of Windows; what is not UTF-8 is replaced."""
    with naming(name), open(name, 'rb') as stream:
        return stream.read().decode('utf-8-sig', errors='replace')


def text_if_any(name: Name) -> str:
    """The same; '' where it is not there. What may not be read is an OSError."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return read_text(name)
    return ''


@contextlib.contextmanager
def naming(name: Name) -> Iterator[None]:
    """An OSError within gets the name of this file: failed reads have none."""
    try:
        yield
    except OSError as err:
        err.filename = err.filename or os.fspath(name)
        raise


def files_below(folder: Name) -> tuple[list[Path], list[str]]:
    """(files, a line for each folder that may not be read). Hidden folders, as a file server's
    snapshots, and those of the file system itself, hold no results; hidden files neither."""
    refused: list[OSError] = []
    files = []
    for place, below, names in os.walk(folder, onerror=refused.append):
        below[:] = [name for name in below if name[0] != '.' and name != 'lost+found']
        files += [Path(place, name) for name in names if name[0] != '.']
    return sorted(files), [
        f"'{err.filename}': {err.strerror}: another user's? 'ls -ld' shows the owner"
        for err in refused
        if isinstance(err, PermissionError)
    ]


def _is_special(name: Name) -> bool:
    """/dev/stdout may point to a regular file, but must not be replaced."""
    is_device = os.path.abspath(name).startswith(('/dev/', '/proc/'))
    return is_device or (os.path.exists(name) and not os.path.isfile(name))


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    umask = os.umask(0o22)
    os.umask(umask)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~umask
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.name}.')
    try:
        with open(handle, 'wb') as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            _sync(file.fileno())  # a power cut would leave a name without its blocks
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # a signal came when it was in its place
            os.unlink(part)
        raise
    with contextlib.suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            _sync(folder)
        finally:
            os.close(folder)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as err:  # some file systems know no fsync
        if err.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
