"""Finds the exact sources of a stored result: kept beside it, or in the history of git."""

import hashlib
import io
import shlex
import subprocess
import tarfile
from dataclasses import dataclass

from membw.errors import MembwError
from membw.checkout import root

# what a build reads of the checkout (reframe-checks/kept.py keeps the same)
BUILT_FROM = ('src/harness', 'src/stream', 'configs', 'spack-repo', 'spack-repo-index.yaml')
SOURCES = ('src/harness/', 'src/stream/')
SUFFIXES = ('.c', '.h', '.f90')


@dataclass
class Sources:
    """Where they come from, and the shell command that unpacks them into $here/sources."""

    origin: str
    command: str
    notes: tuple = ()


def find_sources(build, results):
    """Sources whose checksum is build['source_sha256'], never others."""
    wanted = build['source_sha256']
    kept = results / 'sources' / str(build.get('sources'))
    notes = _about_present(wanted)
    if kept.is_file() and checksum(kept.read_bytes()) == wanted:
        command = f'tar -xzf {shlex.quote(str(kept))} -C "$here/sources"'
        return Sources(f'kept in {kept}', command, notes)
    commit = _commit(build.get('commit') or '', wanted)
    if commit:
        words = shlex.join(['git', '-C', root(), 'archive', commit, *BUILT_FROM])
        return Sources(f'git commit {commit}', f'{words} | tar -x -C "$here/sources"', notes)
    raise MembwError(
        f"the sources with checksum '{wanted}' are neither in '{kept.parent}' nor in git",
        'fetch the commit they are of, or bring results/sources from where it was measured',
    )


def _about_present(wanted):
    present = checksum_of_folder()
    if present == wanted:
        return ()
    return (f'the present src/stream ({present[:12]}) is not that of the result ({wanted[:12]})',)


def _commit(recorded, wanted):
    """The recorded commit where it holds these sources, else the newest one that does."""
    recorded = recorded.removesuffix('-dirty')
    history = _git('log', '--all', '--format=%H', '--', *SOURCES).decode().split()
    for commit in filter(None, [recorded, *history]):
        packed = _git('archive', commit, *SOURCES)
        if packed and checksum(packed) == wanted:
            return commit
    return None


def _git(*words):
    try:
        return subprocess.run(['git', '-C', root(), *words], capture_output=True).stdout
    except OSError:
        return b''


def checksum(archive):
    """Checksum of the sources in a tar archive, as configs/presets.py source-sha256 takes it."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [m for m in tar if m.isfile() and m.name.startswith(SOURCES)]
        return _total((m.name.removeprefix('src/'), tar.extractfile(m).read()) for m in members)


def checksum_of_folder():
    from pathlib import Path

    src = Path(root(), 'src')
    paths = [p for name in SOURCES for p in Path(root(), name).rglob('*') if p.is_file()]
    return _total((p.relative_to(src).as_posix(), p.read_bytes()) for p in paths)


def _total(files):
    """sha256 of what `sha256sum` prints in src, sorted by path."""
    total = hashlib.sha256()
    for name, data in sorted(files, key=lambda f: f[0].encode()):
        if name.endswith(SUFFIXES):
            total.update(f'{hashlib.sha256(data).hexdigest()}  {name}\n'.encode())
    return total.hexdigest()
