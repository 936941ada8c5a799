"""All facts of the kernels of one program, from its disassembly."""

import hashlib
import pathlib
import re

from membw.codegen.elf import Program
from membw.codegen.facts import read_kernel
from membw.errors import MembwError

SCHEMA = 'membw-codegen-1'
STREAM = ('copy', 'scale', 'add', 'triad')
# of a kernel's function; a kernel in Fortran has both, and the first counts
PREFIXES = ('fortran_', 'kernel_')


def read(path, names=None):
    """All facts of a program's kernels; MembwError where there are none to be had."""
    program = Program(path)
    kernels = {name: read_named(program, name) for name in names or standard(program)}
    missing = [name for name, kernel in kernels.items() if not kernel]
    if missing or not kernels:
        what = f"'{missing[0]}'" if missing else f'any kernel ({PREFIXES[1]}copy ...)'
        raise MembwError(
            f"'{path}' has no function of {what}",
            f"'--kernel FUNCTION' reads another one; 'nm {path}' lists them",
        )
    return {
        'schema': SCHEMA,
        'binary': str(path),
        'binary_sha256': hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(),
        'machine': program.machine,
        'kernels': kernels,
    }


def standard(program):
    """The names of the program's kernels: STREAM's four in its order, then what else there is."""
    # link-time optimization appends to the name: kernel_copy.lto_priv.0
    found = (
        re.match(r'(?:kernel|fortran)_([a-z]\w*?)(?:\.|$)', f.name) for f in program.functions
    )
    return sorted({match[1] for match in found if match}, key=lambda name: (order(name), name))


def order(name):
    return STREAM.index(name) if name in STREAM else len(STREAM)


def read_named(program, name):
    """By the kernel's name, else by that of a function."""
    names = [*(prefix + name for prefix in PREFIXES), name]
    return next(filter(None, (read_kernel(program, n, name) for n in names)), None)
