"""One program of src, or one probe of the tests, built as its one file for the compiler: the same
line once per checkout.

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

import clang_here
from changed_source import SHORT_LOOKS, copy_source
from places import ROOT

# what is measured here means nothing, and -O2 takes the compiler twice as long
USUAL = ('-O1', '-fopenmp')
# with a fault planted, and probes: they run once or twice, and compile in a third of -O1's time
PLANTED = ('-O0', '-fopenmp')
BUILDS = ROOT / 'build/tests'
DAY_S = 24 * 60 * 60


@functools.cache
def sources():
    """A checksum of what any program is made of."""
    total = hashlib.sha256()
    planted = [*ROOT.glob('tests/data/*.[ch]'), *ROOT.glob('tests/probes/*.[ch]')]
    for path in sorted((ROOT / 'src').glob('*/**/*.[ch]')) + sorted(planted):
        total.update(f'{path} '.encode() + path.read_bytes())
    return total.hexdigest()


def build(program, *flags, cc='gcc', usual=None, changes=()):
    """Its path; `program`: a folder of src, or a file as 'tests/probes/chase.c'. Flags come behind
    the usual ones, so that a later -O counts; `usual=()` leaves those out. `changes`: of a copy of
    the sources (changed_source.py), not optimized, and stream's looks are short."""
    is_probe = program.endswith('.c')
    if program == 'stream' and changes:
        changes = (*(change for change in changes if change != SHORT_LOOKS), SHORT_LOOKS)
    if usual is None:
        usual = (*PLANTED, '-w') if is_probe else PLANTED if changes else USUAL
    line = [cc, *usual, *map(str, flags)]
    clang_here.skip_without(cc, line)
    compiler = shutil.which(cc)
    assert compiler, f"'{cc}' is not on the PATH"
    made_of = [sources(), os.path.realpath(compiler), os.stat(compiler).st_mtime_ns, *line]
    made_of += [program, tuple(changes)]
    folder = BUILDS / hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / os.path.basename(program).removesuffix('.c')
        if not path.exists():
            optimized = any(str(flag).startswith('-O') for flag in flags)
            apart = '-O0' in line or usual and not optimized
            # what is in front of each source is in front of the harness's, too
            apart = apart and not is_probe and program != 'harness' and '-include' not in flags
            source = copy_source(folder, *changes) if changes or apart else ROOT / 'src'
            line.append(source.parent / program if is_probe else source / program / f'{program}.c')
            line += [f'-I{source}', '-lm'] if is_probe else []
            if apart:  # the slowest part is compiled once
                (source / 'harness/harness.c').write_text('')
                below = tuple(change for change in changes if change[0].startswith('harness/'))
                line += ['-DLOCAL=', harness(*flags, cc=cc, usual=usual, changes=below)]
            done = subprocess.run([*line, '-o', f'{path}.part'], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            os.rename(f'{path}.part', path)
    return path


def harness(*flags, cc='gcc', usual=('-O0',), changes=()):
    """The harness as an object, for what is built of other sources file by file, or for itself."""
    flags = [flag for flag in map(str, flags) if flag.startswith(('-O', '-DMEMBW', '-f', '-g'))]
    return build('harness', '-c', '-w', '-DLOCAL=', *flags, cc=cc, usual=usual, changes=changes)


def remove_old():
    """Of sources, compilers and folders of tests that are no more: not asked for since a day."""
    for lock in BUILDS.glob('*/lock'):
        with contextlib.suppress(FileNotFoundError):  # another worker was faster
            if time.time() - lock.stat().st_mtime > DAY_S:
                shutil.rmtree(lock.parent, ignore_errors=True)
