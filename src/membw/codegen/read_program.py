"""All facts of the kernels of one program, from its disassembly."""

import hashlib
import pathlib
import re

from membw.codegen.elf import Program
from membw.codegen.facts import COUNTED, read_kernel
from membw.errors import MembwError

SCHEMA = 'membw-codegen-1'
PREFIX = 'kernel_'
TUNED = re.compile(r'tuned_(copy|scale|add|triad)_\w+$')


def read(path, names=None, tuned=False):
    """All facts of a program's kernels; MembwError where there are none to be had."""
    program = Program(path)
    names = list(names or standard(program)) + (variants(program) if tuned else [])
    kernels = {name: read_named(program, name) for name in names}
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


def variants(program):
    """Tuned kernels are functions named tuned_triad_nt_256_u4_t0_s1."""
    names = {function.name for function in program.functions}
    tuned = sorted(name for name in names if TUNED.match(name))
    if not tuned:
        raise MembwError('the program has no tuned kernels', "leave out '--tuned'")
    return tuned


def read_named(program, name):
    """By the kernel's name, else by that of a function."""
    tuned = TUNED.match(name)
    if tuned:
        return read_kernel(program, name, tuned.group(1))
    return read_kernel(program, PREFIX + name, name) or read_kernel(program, name)
