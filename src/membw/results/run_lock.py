"""Locks in results/: one run at a time in a checkout, one measurement at a time on a host."""

import contextlib
import errno
import fcntl
import os
import shlex
import sys
from collections.abc import Iterator

from membw.checkout import root
from membw.errors import MembwError
from membw.printable import printable

NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK)  # Lustre without `-o flock`, some NFS


@contextlib.contextmanager
def alone(what: str = 'run') -> Iterator[None]:
    """One run at a time in a checkout: two would share stage folders and the bandwidth. Or one of
    what else has a lock in results/."""
    path = os.path.join(root(), 'results', f'{what}.lock')
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        file = open(path, 'a+')  # whoever has it wrote who it is
    except OSError as err:
        is_foreign = err.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        way = 'measure in your own clone' if is_foreign else 'free some disk space'
        fact = f"cannot write '{err.filename}': {err.strerror}"
        raise MembwError(fact, f'results are written to results/: {way}') from err
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            file.seek(0)
            who = printable(file.readline().strip()) or 'not known which'
            fact = f'another {os.path.basename(what)} is under way here ({who})'
            raise MembwError(fact, 'wait until it has ended') from err
        except OSError as err:
            if err.errno not in NO_LOCKS:
                raise
            fact = f"no locks on the file system of '{path}'"
            print(f'membw: {fact}: two runs at a time would not be noticed', file=sys.stderr)
        file.truncate(0)
        words = shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])[:80]
        print(f'process {os.getpid()} on {os.uname().nodename}: {words}', file=file, flush=True)
        yield


def alone_on_host() -> contextlib.AbstractContextManager[None]:
    """For what measures here: a run of local tests, `membw node`. Nodes may share a checkout."""
    return alone(f'hosts/{os.uname().nodename}/measurement')


def is_held(what: str = 'run') -> bool:
    """Whether a session has this lock, as far as it can be known."""
    path = os.path.join(root(), 'results', f'{what}.lock')
    with contextlib.suppress(OSError), open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
