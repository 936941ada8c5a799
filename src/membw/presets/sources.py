"""The exact sources of a result: what a build reads, packed, and found again."""

import functools
import gzip
import hashlib
import io
import re
import shlex
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from membw import presets
from membw.checkout import root
from membw.errors import MembwError
from membw.presets.table import Facts

# in addition to the program's own folder: what a build reads of the checkout, by make or by Spack
BUILT_FROM = (
    'src/harness',
    'src/Makefile',
    'src/build.sh',
    'src/presets.sh',
    'src/program.mk',
    'src/membw/__init__.py',
    'src/membw/presets',
    'configs',
    'spack-repo',
    'spack-repo-index.yaml',
)


def build_files(program: str) -> Iterator[Path]:
    """Files of the checkout itself: no caches, no Spack environment that was tried in place."""
    for top in (f'src/{program}', *BUILT_FROM):
        path = Path(root(), top)
        for file in [path] if path.is_file() else sorted(path.rglob('*')):
            parts = file.relative_to(root()).parts
            ours = not any(part.startswith(('.', '__pycache__')) for part in parts)
            if ours and file.is_file() and file.resolve() == file and file.name != 'spack.lock':
                yield file


@functools.cache
def packed(program: str) -> bytes:
    """The bytes of one archive of what a build reads: the same files give the same bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode='w', format=tarfile.PAX_FORMAT) as archive:
        for path in build_files(program):
            entry = tarfile.TarInfo(path.relative_to(root()).as_posix())
            data = path.read_bytes()
            entry.size, entry.mode = len(data), 0o755 if path.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(content.getvalue(), mtime=0)


@functools.cache
def commit() -> str:
    """The checkout's git commit, with -dirty when tracked files differ from it; '' without git."""
    head = _git('rev-parse', 'HEAD').decode().strip()
    changed = head and _git('status', '--porcelain', '--untracked-files=no')
    return f'{head}-dirty' if changed else head


def _git(*words: str) -> bytes:
    """What git prints; nothing where it fails or is missing."""
    if not Path(root(), '.git').exists():
        return b''
    try:
        # whoever owns it: its code runs already
        line = ['git', '-c', 'safe.directory=*', '-C', root(), *words]
        done = subprocess.run(line, capture_output=True)
    except OSError:
        return b''
    return b'' if done.returncode else done.stdout


def at_commit(commit: str, program: str) -> str:
    """presets.source_sha256() of a program at a commit of this repository; '': not in it."""
    is_name = re.fullmatch('[0-9a-f]{7,64}', commit)
    archive = _git('archive', '--format=tar', commit, 'src') if is_name else b''
    return checksum(archive, program) if archive else ''


class Sources(NamedTuple):
    """Where they come from, and the shell command that unpacks them into $here/sources."""

    origin: str
    command: str


def find_sources(build: Facts, results: Path) -> Sources:
    """The archive whose checksum is build['source_sha256']; MembwError where it is missing."""
    wanted, program = build['source_sha256'], build.get('program', 'stream')
    kept = results / 'sources' / str(build.get('sources'))
    content = kept.read_bytes() if kept.is_file() else b''
    # an archive is named for its sha256
    is_itself = hashlib.sha256(content).hexdigest() == kept.name.split('.')[0]
    if not (is_itself and checksum(content, program) == wanted):
        raise MembwError(
            f"the sources with checksum '{wanted}' are not in '{kept.parent}'",
            'bring results/sources from where it was measured',
        )
    name, sha = shlex.quote(str(kept)), kept.name.split('.')[0]
    # recipe and Makefile of it are run: a changed archive is not unpacked
    command = f'[ "$(sha256sum <{name})" = "{sha}  -" ] || {{\n'
    command += f"\techo 'membw: these sources were changed since:' {name} >&2\n\texit 1\n}}\n"
    command += f'tar -xzf {name} -C "$here/sources"'
    return Sources(f'kept in {kept}', command)


def checksum(archive: bytes, program: str) -> str:
    """presets.source_sha256() of the sources of a program in a tar archive."""
    folders = f'src/{presets.HARNESS}/', f'src/{program}/'
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return presets.checksum(
            (m.name.removeprefix('src/'), tar.extractfile(m).read())  # type: ignore[union-attr]
            for m in tar
            if m.isfile() and m.name.startswith(folders) and m.name.endswith(presets.SUFFIXES)
        )
