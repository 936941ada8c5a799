"""A kernel that says something else: not on which CPU a thread runs, nothing in /proc; that pages
came back from swap."""

import subprocess

import program_build
import pytest


def preloaded(name, *words):
    """{LD_PRELOAD: ...} of a probe."""
    flags = ('-shared', '-fPIC', *words)
    return {'LD_PRELOAD': str(program_build.build(f'tests/probes/{name}.c', *flags, usual=()))}


def with_a_slow_clock(slower=8, every=0):
    """The monotonic clock runs at an eighth of its speed; `every`: that of the CPU time, too."""
    return preloaded('slow_clock', f'-DSLOWER={slower}', f'-DEVERY={every}')


def without_load(folder, text='cpu 1 0 1 1 0 0 0 0\ncpu0 1 0 1 1 0 0 0 0\n'):
    """The words in front of a command for which the CPUs of /proc/stat never change."""
    (folder / 'stat').write_text(text)
    return mounted(f'--bind {folder}/stat /proc/stat')


def without_proc():
    """The words in front of a command that finds /proc empty."""
    return mounted('-t tmpfs none /proc')


def mounted(what):
    words = ['unshare', '-m', 'sh', '-c', f'mount {what} && exec "$@"', 'sh']
    if subprocess.run([*words, 'true'], capture_output=True).returncode:
        pytest.skip('unshare -m: not permitted here')
    return words
