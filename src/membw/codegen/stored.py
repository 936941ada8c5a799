"""What the compiler made of a program's kernels: read once, kept below results/codegen."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from membw import codegen
from membw.errors import MembwError

Kernels = dict[str, dict[str, Any]]


def read(binary: str, results: str) -> tuple[Kernels, str | None]:
    """({kernel: facts}, None), or ({}, the reason) where the binary cannot be read."""
    path = kept_at(binary, results)
    if path.is_file():
        return json.loads(path.read_text()), None
    from membw.codegen.kernels import read_kernels  # the disassembler takes time to load

    try:
        kernels = read_kernels(binary)
    except (MembwError, OSError) as err:
        return {}, str(err)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kernels, indent=1) + '\n')
    return kernels, None


def kept_at(binary: str, results: str) -> Path:
    """results/codegen/...: of these bytes, as this version of the reader sees them."""
    files = [Path(binary), *sorted(Path(codegen.__file__).parent.glob('*.py'))]
    digests = b''.join(hashlib.sha256(file.read_bytes()).digest() for file in files)
    return Path(results, 'codegen', f'{hashlib.sha256(digests).hexdigest()[:32]}.json')


def word(kernel: Mapping[str, Any]) -> str:
    """'memcpy', '64', '256nt' (non-temporal), 'mixed', 'string'."""
    if kernel['stores'] == 'call':
        return kernel['calls'][0]
    if kernel['stores'] in ('ordinary', 'nontemporal'):
        return f'{kernel["width_bits"] or ""}{"nt" if kernel["stores"] == "nontemporal" else ""}'
    return kernel['stores']


def brief(kernels: Mapping[str, Mapping[str, Any]]) -> str:
    """'memmove/64': Copy calls memmove, the others store 64 bits at a time; '512': all do."""
    first, *rest = map(word, kernels.values())
    if len(set(rest)) != 1:
        return '/'.join([first, *rest])
    return first if first == rest[0] else f'{first}/{rest[0]}'
