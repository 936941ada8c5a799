"""One program of src, built as its one file for the compiler: the same line once per checkout.

Workers of pytest-xdist, and the stages of ci/test.sh, take each other's binaries: they lie in
build/tests, by what the sources, the compiler and the line are.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import time

from changed_source import copy_source
from places import ROOT

# what is measured here means nothing, and -O2 takes the compiler twice as long
USUAL = ('-O1', '-fopenmp')
# with a fault planted: it runs once or twice, and the compiler takes a third of -O1's time
PLANTED = ('-O0', '-fopenmp')
BUILDS = ROOT / 'build/tests'
DAY_S = 24 * 60 * 60


@functools.cache
def sources():
    """A checksum of what any program is made of."""
    total = hashlib.sha256()
    planted = [*ROOT.glob('tests/data/*.[ch]'), *ROOT.glob('tests/probes/*.h')]
    for path in sorted((ROOT / 'src').glob('*/**/*.[ch]')) + sorted(planted):
        total.update(f'{path} '.encode() + path.read_bytes())
    return total.hexdigest()


def build(program, *flags, cc='gcc', usual=None, changes=()):
    """Its path. Flags come behind the usual ones, so that a later -O counts; `usual=()` leaves
    those out. `changes`: of a copy of the sources (changed_source.py), not optimized."""
    if usual is None:
        usual = PLANTED if changes else USUAL
    line = [cc, *usual, *flags]
    compiler = shutil.which(cc)
    assert compiler, f"'{cc}' is not on the PATH"
    made_of = [sources(), os.path.realpath(compiler), os.stat(compiler).st_mtime_ns, *line]
    made_of += [program, changes]
    folder = BUILDS / hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / program
        if not path.exists():
            source = copy_source(folder, *changes) if changes else ROOT / 'src'
            line += [source / program / f'{program}.c', '-o', f'{path}.part']
            done = subprocess.run(line, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            os.rename(f'{path}.part', path)
    return path


def harness(*flags, cc='gcc'):
    """The harness as an object, for what is built of some other sources file by file: those are
    compiled as the test says, this is not what it proves."""
    return build('harness', '-c', '-DLOCAL=', *flags, cc=cc, usual=('-O0', '-w'))


def remove_old():
    """Of sources, compilers and folders of tests that are no more: not asked for since a day."""
    for lock in BUILDS.glob('*/lock'):
        with contextlib.suppress(FileNotFoundError):  # another worker was faster
            if time.time() - lock.stat().st_mtime > DAY_S:
                shutil.rmtree(lock.parent, ignore_errors=True)
