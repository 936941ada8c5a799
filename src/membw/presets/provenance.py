"""What a binary is built from and by: release, checksums, the record next to it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from membw.presets.table import ROOT, Facts

PROGRAMS = ROOT / 'src'  # PROGRAMS/<name>/<name>.c, and the harness of all of them
HARNESS = 'harness'
SUFFIXES = ('.c', '.h', '.f90')


def version() -> str:
    """Of the release: its one place is the harness, which every program carries along."""
    text = (PROGRAMS / HARNESS / 'config.h').read_text(encoding='utf-8')
    return re.findall(r'#define MEMBW_VERSION "(.+)"', text)[0]


def source_sha256(folder: Path | str) -> str:
    """One checksum of all that a program is made of: the sources in its folder and the harness."""
    folder = Path(folder).resolve()
    paths = [p for d in (folder, folder.parent / HARNESS) for p in d.rglob('*')]
    files = {p.relative_to(folder.parent).as_posix(): p for p in paths if p.suffix in SUFFIXES}
    return checksum((name, path.read_bytes()) for name, path in files.items())


def checksum(sources: Iterable[tuple[str, bytes]]) -> str:
    """Of (name below src, bytes): sha256 of what `sha256sum` prints in src, sorted by path."""
    total = hashlib.sha256()
    for name, content in sorted(sources, key=lambda source: source[0].encode()):
        total.update(f'{hashlib.sha256(content).hexdigest()}  {name}\n'.encode())
    return total.hexdigest()


def sha256(path: Path | str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def write_if_changed(path: Path | str, text: str) -> bool:
    """Write only changed content: an unchanged file keeps its time, so make rebuilds nothing."""
    path = Path(path)
    if path.is_file() and path.read_text(encoding='utf-8') == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')
    return True


def build_record(binary: Path | str) -> Facts:
    """What make or Spack wrote of a binary when it was built."""
    path = Path(binary)
    own = Path(f'{path}.json')
    of_spack = path.parents[1] / 'share' / 'membw' / own.name
    return json.loads((own if own.is_file() else of_spack).read_text(encoding='utf-8'))
