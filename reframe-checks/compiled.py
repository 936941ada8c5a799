"""What the compiler made of the kernels, as `membw codegen` reads it off a program."""

import hashlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
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


def read(binary, folder):
    """{'copy': {...}, ...}; {} with the reason in codegen.json where it cannot be read.

    Read once: codegen.json in that folder, which is the binary's own, holds the whole of it.
    """
    path = pathlib.Path(folder, 'codegen.json')
    if not path.is_file() or why_not(folder):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ask(binary))
    kernels = json.loads(path.read_text()).get('kernels', {})
    return {name: {key: found[key] for key in KEYS} for name, found in kernels.items()}


def ask(binary):
    """The command's JSON, or its error as JSON."""
    words = [sys.executable, '-m', 'membw.codegen.command', binary, '--json']
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.strip().splitlines() or ['no reason given']
    return json.dumps({'why': said[0]}) + '\n'


def folder_of(binary, results):
    """results/codegen/...: of these bytes, as this version of the reader sees them."""
    readers = sorted((ROOT / 'src' / 'membw' / 'codegen').glob('*.py'))
    files = [pathlib.Path(binary), *readers]
    digest = hashlib.sha256(b''.join(hashlib.sha256(f.read_bytes()).digest() for f in files))
    return pathlib.Path(results, 'codegen', digest.hexdigest())


def why_not(folder):
    return json.loads(pathlib.Path(folder, 'codegen.json').read_text()).get('why')


def word(kernel):
    """'memcpy', '64', '256nt' (non-temporal), 'mixed', 'string'."""
    if kernel['stores'] == 'libc':
        return kernel['calls'][0]
    if kernel['stores'] in ('ordinary', 'nontemporal'):
        return f'{kernel["width_bits"]}{"nt" * (kernel["stores"] == "nontemporal")}'
    return kernel['stores']


def brief(kernels):
    """'memmove/64': Copy calls memmove, the others store 64 bits at a time; '512': all do."""
    first, *others = map(word, kernels.values())
    if len(set(others)) != 1:
        return '/'.join([first, *others])
    return first if first == others[0] else f'{first}/{others[0]}'
