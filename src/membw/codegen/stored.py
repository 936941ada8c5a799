"""What the compiler made of a program's kernels: read once, kept below results/codegen."""

import hashlib
import json
import pathlib

from membw import codegen
from membw.errors import MembwError

# what a row or a record says of each kernel; the loops themselves stay in codegen.json
KEYS = (
    'stores',
    'calls',
    'width_bits',
    'unroll',
    'fma',
    'prefetches',
    'counted_bytes',
    'moved_bytes',
    'write_allocate_factor',
)


def read(binary, results):
    """({'copy': {...}, ...}, None), or ({}, the reason) where it cannot be read.

    codegen.json, in a folder of the binary's own, holds the whole of it.
    """
    path = folder_of(binary, results) / 'codegen.json'
    facts = json.loads(path.read_text()) if path.is_file() else {}
    if 'kernels' not in facts:
        facts = ask(binary)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(facts, indent=1) + '\n')
    kernels = facts.get('kernels', {})
    brief = {name: {key: kernel[key] for key in KEYS} for name, kernel in kernels.items()}
    return brief, facts.get('why')


def ask(binary):
    """What `membw codegen --json` prints, or {'why': its error}."""
    from membw.codegen import read_program  # disassembles: not needed where a result is kept

    try:
        return read_program.read(binary)
    except (MembwError, OSError) as err:
        return {'why': str(err)}


def folder_of(binary, results):
    """results/codegen/...: of these bytes, as this version of the reader sees them."""
    reader = sorted(pathlib.Path(codegen.__file__).parent.glob('*.py'))
    files = [pathlib.Path(binary), *reader]
    digest = hashlib.sha256(b''.join(hashlib.sha256(f.read_bytes()).digest() for f in files))
    return pathlib.Path(results, 'codegen', digest.hexdigest())


def word(kernel):
    """'memcpy', '64', '256nt' (non-temporal), 'mixed', 'string'."""
    if kernel['stores'] in ('libc', 'intel'):
        return kernel['calls'][0]
    if kernel['stores'] in ('ordinary', 'nontemporal'):
        return f'{kernel["width_bits"] or ""}{"nt" if kernel["stores"] == "nontemporal" else ""}'
    return kernel['stores']


def brief(kernels):
    """'memmove/64': Copy calls memmove, the others store 64 bits at a time; '512': all do."""
    first, *others = map(word, kernels.values())
    if len(set(others)) != 1:
        return '/'.join([first, *others])
    return first if first == others[0] else f'{first}/{others[0]}'
