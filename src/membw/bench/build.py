"""Builds what `membw bench` compares: the same line for stream.c and for our own source."""

import hashlib
import os
import pathlib
import shutil
import subprocess
from dataclasses import dataclass

from membw.checkout import root
from membw.errors import MembwError
from membw.presets import presets
from membw.presets.presets import find_compiler

ARRAYS = 3
# static arrays beyond this do not link without -mcmodel=medium
SMALL_MODEL_BYTES = 2**31 - 2**26


@dataclass(frozen=True)
class Line:
    """A compiler and its flags, as a row of the table is named."""

    compiler: str
    flags: tuple

    def __str__(self):
        return ' '.join([self.compiler, *self.flags])


# the first one is what every ratio is held to
LINES = (
    Line('gcc', ('-O2',)),
    Line('gcc', ('-O3', '-march=native')),
    Line('gcc', ('-O2', '-ffreestanding')),
    Line('clang', ('-O3',)),
    Line('clang', ('-O3', '-march=native')),
)


def command(line, sources, out, size, ntimes):
    """The whole compile line; only the size decides about -mcmodel=medium."""
    words = [find_compiler(line.compiler), *line.flags, '-fopenmp']
    words += [f'-DSTREAM_ARRAY_SIZE={size}', f'-DNTIMES={ntimes}'] if size else []
    if ARRAYS * 8 * size > SMALL_MODEL_BYTES and os.uname().machine == 'x86_64':
        words.append('-mcmodel=medium')
    return [*words, *map(str, sources), '-o', str(out)]


def build(line, sources, name, size=0, ntimes=0):
    """Path of the program, or None and the reason; one of an unchanged line is kept."""
    if not find_compiler(line.compiler):
        return None, f"no '{line.compiler}' on PATH"
    folder = pathlib.Path(root(), 'build', 'bench')
    folder.mkdir(parents=True, exist_ok=True)
    words = command(line, sources, folder / 'OUT', size, ntimes)
    key = hashlib.sha256(' '.join(words).encode())
    for path in sorted({*map(pathlib.Path, sources), *taken_in(sources)}):
        key.update(path.read_bytes())
    out = folder / f'{name}-{key.hexdigest()[:16]}'
    if out.exists():
        return out, ''
    words[-1] = str(out)
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        said = [ln for ln in done.stderr.splitlines() if 'error' in ln] or ['no reason given']
        return None, f'{line} does not build it: {said[0].strip()}'
    return out, ''


def taken_in(sources):
    """What sources may include: all that lies beside them; ours: the whole program."""
    src = pathlib.Path(root(), 'src')
    beside = [path for s in sources for path in pathlib.Path(s).parent.glob('*.[ch]')]
    ours = any(src in pathlib.Path(path).parents for path in sources)
    return [*beside, *presets.source_files(src / 'stream').values()] if ours else beside


def own_sources():
    return (pathlib.Path(root(), 'src', 'stream', 'stream.c'),)


# --- stream.c --------------------------------------------------------------------------------


def find_stream_c(asked):
    """(path of stream.c or None, where it is from or why there is none)."""
    if asked:
        if not pathlib.Path(asked).is_file():
            raise MembwError(f"no file '{asked}'", "'--stream-c' takes the path of stream.c")
        return pathlib.Path(asked).resolve(), 'named by the user'
    if not shutil.which('spack'):
        return None, "no Spack to fetch it, and no '--stream-c PATH'"
    folder = pathlib.Path(root(), 'build', 'bench', 'builtin.stream')
    files = sorted(folder.rglob('stream.c'))
    if not files:
        why = stage(folder)
        files = sorted(folder.rglob('stream.c'))
        if not files:
            return None, f"Spack cannot stage builtin.stream ({why}), and no '--stream-c PATH'"
    return files[0], f"Spack's package builtin.stream, commit {commit_of(files[0].parent)}"


def commit_of(folder):
    """Which one Spack fetched: its package pins none."""
    words = ['git', '-C', str(folder), 'rev-parse', '--short=10', 'HEAD']
    return subprocess.run(words, capture_output=True, text=True).stdout.strip() or 'unknown'


def stage(folder):
    """Let Spack fetch the sources of its own package; what it said where that fails."""
    # our scope builds no make, which the package wants: nothing is built here either
    scope = ['-c', 'packages:gmake:buildable:true']
    words = ['spack', *scope, 'stage', '--path', str(folder), 'builtin.stream']
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as err:
        return str(err)
    lines = (done.stderr + done.stdout).splitlines()
    said = [line.strip() for line in lines if line.startswith('fatal:') or 'Error' in line]
    return said[0] if said else 'it fetched no stream.c'
