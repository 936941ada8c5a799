"""A kernel that does not say: on which CPU a thread runs, what /proc would tell."""

import subprocess

import pytest

SOURCE = 'int sched_getcpu(void)\n{\n\treturn -1;\n}\n'


def no_cpu(folder):
    """{LD_PRELOAD: ...}: sched_getcpu() fails."""
    source, library = folder / 'no_cpu.c', folder / 'no_cpu.so'
    source.write_text(SOURCE)
    subprocess.run(['gcc', '-shared', '-fPIC', source, '-o', library], check=True)
    return {'LD_PRELOAD': str(library)}


def without_proc():
    """The words in front of a command that finds /proc empty."""
    words = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']
    if subprocess.run([*words, 'true'], capture_output=True).returncode:
        pytest.skip('unshare -m: not permitted here')
    return words
