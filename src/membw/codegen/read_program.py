"""All facts of the kernels of one program, from its disassembly."""

import hashlib
import pathlib

from membw.codegen.elf import Program
from membw.codegen.facts import COUNTED, read_kernel
from membw.errors import MembwError

SCHEMA = 'membw-codegen-1'
PREFIX = 'kernel_'


def read(path, names=None):
    """All facts of a program's kernels; MembwError where there are none to be had."""
    program = Program(path)
    kernels = {name: read_named(program, name) for name in names or standard(program)}
    missing = [name for name, kernel in kernels.items() if not kernel]
    if missing or not kernels:
        what = f"'{missing[0]}'" if missing else f'any kernel ({PREFIX}{", ".join(COUNTED)})'
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
    # link-time optimization appends to the name: kernel_copy.lto_priv.0
    names = {function.name.partition('.')[0] for function in program.functions}
    return [name for name in COUNTED if PREFIX + name in names]


def read_named(program, name):
    """By the kernel's name, else by that of a function."""
    return read_kernel(program, PREFIX + name, name) or read_kernel(program, name)
