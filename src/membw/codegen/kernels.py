"""Kind and width of the stores of each kernel of a program, from its (optimized) code.

A kernel is a function kernel_<name> (fortran_<name> for a loop in Fortran), with all functions
that it names: compilers move the parallel part into functions of their own. Of all innermost loops
the one that stores most an iteration is the kernel's.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import capstone

from membw.codegen.elf import Function, Program
from membw.errors import MembwError

STREAM = ('copy', 'scale', 'add', 'triad')
PREFIXES = ('fortran_', 'kernel_')  # a program with loops in Fortran has both; the first counts
# functions that store for a kernel: libc's and those of Intel's runtime (libirc), by their names
STORING = re.compile(r'(_*(intel|VEC)_\w*)?mem(cpy|move|set)|_*libirc_nontemporal_store\w*')
RUNTIME = re.compile(r'_*(gomp|omp|kmp|kmpc|ompc)(_|$)', re.IGNORECASE)  # of OpenMP
BITS = {'byte': 8, 'word': 16, 'dword': 32, 'qword': 64, 'xmmword': 128, 'ymmword': 256,
        'zmmword': 512}  # fmt: skip
# of a data register of aarch64; one of SVE (z) holds at least 128
REGISTER_BITS = {'q': 128, 'v': 128, 'z': 128, 'd': 64, 'x': 64, 's': 32, 'w': 32}
NO_STORE = ('lea', 'nop', 'prefetch', 'call', 'j', 'push', 'pop', 'clflush')
MOST_FUNCTIONS = 50


class Step(NamedTuple):
    """One instruction: address, bytes, its name and its operands as text."""

    address: int
    size: int
    name: str
    operands: str


class Stores(NamedTuple):
    """What a loop stores per iteration, in bits; `widest`: its widest store."""

    stored: int
    nontemporal: int
    widest: int


def read_kernels(path: str, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """{kernel: facts} of a program, STREAM's four first; NAMES: these kernels or functions alone.

    Facts: stores (ordinary, nontemporal, mixed, call, string, none), calls (names), width_bits
    (None: a call decides it when it runs). Raises MembwError where there is no such kernel.
    """
    program = Program(path)
    found = {name: read_kernel(program, name) for name in names or kernel_names(program)}
    missing = [name for name, facts in found.items() if not facts]
    if missing or not found:
        what = f"'{missing[0]}'" if missing else 'any kernel (kernel_copy ...)'
        fact = f"'{path}' has no function of {what}"
        raise MembwError(fact, f"'--kernel FUNCTION' reads another one; 'nm {path}' lists them")
    return {name: facts for name, facts in found.items() if facts}


def kernel_names(program: Program) -> list[str]:
    # link-time optimization appends to the name: kernel_copy.lto_priv.0
    name_of = re.compile(r'(?:kernel|fortran)_([a-z]\w*?)(?:\.|$)').match
    found = {match[1] for match in map(name_of, (f.name for f in program.functions)) if match}
    return [n for n in STREAM if n in found] + sorted(found - set(STREAM))


def read_kernel(program: Program, name: str) -> dict[str, Any] | None:
    for symbol in (*(prefix + name for prefix in PREFIXES), name):
        bodies, calls = gather(program, symbol)
        if bodies:
            return facts_of(bodies, calls)
    return None


def facts_of(bodies: list[list[Step]], calls: list[str]) -> dict[str, Any]:
    loops = [stores_of(loop) for body in bodies for loop in innermost(body)]
    hot = max(loops, default=Stores(0, 0, 0))
    streaming = [name for name in calls if 'nontemporal' in name and 'dynamic' not in name]
    if streaming:
        kind = 'nontemporal' if hot.stored == hot.nontemporal else 'mixed'
    elif calls and not hot.nontemporal:
        kind = 'call'  # with non-temporal stores memcpy does the few remaining elements
    elif any(step.name.startswith(('rep movs', 'rep stos')) for body in bodies for step in body):
        kind = 'string'
    elif not hot.stored:
        kind = 'none'
    else:
        kind = {0: 'ordinary', hot.stored: 'nontemporal'}.get(hot.nontemporal, 'mixed')
    by_loop = kind in ('ordinary', 'nontemporal', 'mixed') and not streaming
    return {'stores': kind, 'calls': calls, 'width_bits': hot.widest if by_loop else None}


def gather(program: Program, symbol: str) -> tuple[list[list[Step]], list[str]]:
    """The code of a function and of all that it calls; the library functions that store for it."""
    waiting = [f for f in program.functions if f.name == symbol or f.name.startswith(symbol + '.')]
    seen: set[int] = set()
    bodies: list[list[Step]] = []
    calls: dict[str, None] = {}
    while waiting and len(seen) < MOST_FUNCTIONS:
        function = waiting.pop(0)
        if function.address in seen:
            continue
        seen.add(function.address)
        body = disassemble(program, function.address, program.body(function))
        bodies.append(body)
        for address in named_addresses(body, program.machine):
            if function.address <= address < function.address + max(function.size, 1):
                continue
            name, callee = behind(program, address)
            storing = STORING.search(name)
            if storing:
                calls[storing.group()] = None
            elif callee and not RUNTIME.match(name):
                waiting.append(callee)
    return bodies, list(calls)


def behind(program: Program, address: int) -> tuple[str, Function | None]:
    """The function at an address, or named in the slot at it or behind it."""
    if address in program.at:
        return program.at[address].name, program.at[address]
    if address in program.slots:
        return program.slots[address], None
    linkage = disassemble(program, address, program.code(address, 16))
    slots = (program.slots.get(a, '') for a in named_addresses(linkage, program.machine))
    return next(filter(None, slots), ''), None


def disassemble(program: Program, address: int, code: bytes) -> list[Step]:
    if program.machine == 'x86-64':
        engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    else:
        engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    engine.skipdata = True  # a literal amidst the code must not end the reading
    return [Step(*instruction) for instruction in engine.disasm_lite(code, address)]


def named_addresses(body: list[Step], machine: str) -> Iterator[int]:
    """Where it jumps or calls to, and the addresses that it computes."""
    pages: dict[str, int] = {}  # aarch64 makes an address by adrp and add (or a load)
    for step in body:
        relative = re.search(r'\[rip ([+-]) (0x)?([0-9a-f]+)\]', step.operands)
        if relative:
            distance = int(relative[3], 16 if relative[2] else 10)
            yield step.address + step.size + (distance if relative[1] == '+' else -distance)
        elif machine == 'x86-64' or step.name.startswith(('b', 'cb', 'tb', 'adr')):
            number = re.search(r'(?:^|, )#?(0x[0-9a-f]+)$', step.operands)
            if number and step.name == 'adrp':
                pages[step.operands.split(',')[0]] = int(number[1], 16)
            elif number:
                yield int(number[1], 16)
        else:
            low = re.search(r'(x\d+)(?:, #(0x[0-9a-f]+|\d+))?\]?$', step.operands)
            if low and low[1] in pages and step.name in ('add', 'ldr'):
                yield pages[low[1]] + int(low[2] or '0', 0)


def innermost(body: list[Step]) -> list[list[Step]]:
    """The loops that have no other loop in them: from the target of a jump back to the jump."""
    position = {step.address: n for n, step in enumerate(body)}
    ends: dict[int, int] = {}
    for n, step in enumerate(body):
        target = re.search(r'(?:^|, )#?(0x[0-9a-f]+)$', step.operands)
        begin = position.get(int(target[1], 16)) if target else None
        if step.name.startswith(('j', 'b', 'cb', 'tb')) and begin is not None and begin <= n:
            ends[begin] = n
    return [
        body[begin : end + 1]
        for begin, end in ends.items()
        if not any(begin < b <= e <= end for b, e in ends.items())
    ]


def stores_of(loop: list[Step]) -> Stores:
    stored = nontemporal = widest = 0
    for step in loop:
        bits = stored_bits(step)
        stored += bits
        widest = max(widest, width(step) if bits else 0)
        nontemporal += bits * ('movnt' in step.name or step.name.startswith(('stnp', 'stnt')))
    return Stores(stored, nontemporal, widest)


def stored_bits(step: Step) -> int:
    """Bits that an instruction stores to memory other than the stack."""
    if '[' not in step.operands or re.search(r'\[(rsp|rip|rbp - \w+\]|sp|x29)', step.operands):
        return 0
    if 'ptr [' in step.operands:  # x86-64: in Intel's order the destination is first
        reads = step.name.startswith((*NO_STORE, 'cmp', 'test', 'div', 'mul', 'bt'))
        return 0 if reads or '[' not in step.operands.split(',')[0] else width(step)
    registers = step.operands.partition('[')[0].count(',')
    return width(step) * max(registers, 1) if step.name.startswith('st') else 0


def width(step: Step) -> int:
    """Bits of one register of an access."""
    size = re.search(r'(\w+) ptr \[', step.operands)
    return BITS.get(size[1], 0) if size else REGISTER_BITS.get(step.operands.strip('{ ')[0], 0)
