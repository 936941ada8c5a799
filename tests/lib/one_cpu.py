"""A cgroup that grants its processes the time of one CPU."""

import contextlib
import os
import pathlib

import pytest


@contextlib.contextmanager
def one_cpu():
    """Words before a command, by which it runs in it; skips the test where none can be made."""
    group = pathlib.Path('/sys/fs/cgroup/cpu', f'membw-test-{os.getpid()}')
    try:
        group.mkdir()
        (group / 'cpu.cfs_quota_us').write_text('100000')
        (group / 'cpu.cfs_period_us').write_text('100000')
    except OSError as err:
        pytest.skip(f'no cgroup can be made here: {err.strerror}')
    try:
        yield 'sh', '-c', f'echo $$ >{group}/tasks; exec "$@"', 'sh'
    finally:
        group.rmdir()
