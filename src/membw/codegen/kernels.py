"""Kind and width of the stores of each kernel of a program, from its (optimized) code.

A kernel is a function kernel_<name> (fortran_<name> for a loop in Fortran), with all functions
that it names: compilers move the parallel part into functions of their own. Of all innermost loops
the one that stores most an iteration is the kernel's.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from membw.codegen.elf import Function, Program
from membw.errors import MembwError

STREAM = ('copy', 'scale', 'add', 'triad')
PREFIXES = ('fortran_', 'kernel_')  # a program with loops in Fortran has both; the first counts
# functions that store for a kernel: libc's and those of Intel's runtime (libirc), by their names
STORING = re.compile(r'(_*(intel|VEC)_\w*)?mem(cpy|move|set)|_*libirc_nontemporal_store\w*')
RUNTIME = re.compile(r'_*(gomp|omp|kmp|kmpc|ompc)(_|$)', re.IGNORECASE)  # of OpenMP
BITS = {'byte': 8, 'word': 16, 'dword': 32, 'qword': 64, 'xmmword': 128, 'ymmword': 256,
        'zmmword': 512}  # fmt: skip
JUMP_TO = re.compile(r'(?:^|, )#?(0x[0-9a-f]+)$')
# of a data register of aarch64; one of SVE (z) holds at least 128, the CPU decides
REGISTER_BITS = {'q': 128, 'v': 128, 'z': 128, 'd': 64, 'x': 64, 's': 32, 'w': 32}
# a line set to zero without being read, in front of the stores: they take no write-allocate
ZEROED = 'dc zva'
NO_STORE = ('lea', 'nop', 'prefetch', 'call', 'j', 'push', 'pop', 'clflush')
UNDECODED = '.byte'  # what the disassembler makes of an instruction that it does not know
MOST_FUNCTIONS = 50
LINE = 64  # bytes of code that a CPU fetches: where in it a short loop begins is worth 5 %
# of the word for a kernel's stores
SUFFIX = {'ordinary': '', 'nontemporal': 'nt', 'zeroed': 'z'}
# capstone's words
ENGINES = {'x86-64': ('CS_ARCH_X86', 'CS_MODE_64'), 'aarch64': ('CS_ARCH_ARM64', 'CS_MODE_ARM')}


class Step(NamedTuple):
    """One instruction: address, bytes, its name and its operands as text."""

    address: int
    size: int
    name: str
    operands: str


class Stores(NamedTuple):
    """What a loop stores per iteration, in bits; `widest`: its widest store, 0: as wide as a
    register of SVE."""

    stored: int
    nontemporal: int
    widest: int
    zeroed: bool = False


def read_kernels(path: str, names: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """{kernel: facts} of a program, STREAM's four first; NAMES: these kernels or functions alone.

    Facts: stores (ordinary, nontemporal, zeroed, mixed, call, string, none; not known: a loop has
    an instruction that the disassembler does not know), calls (names), width_bits (None: a call
    decides it when it runs, 0: the CPU's registers of SVE do), loop_offset (of the timed loop in a
    line of 64 bytes; None: no loop of its own). MembwError: no such kernel.
    """
    program = Program(path)
    if not names:
        # link-time optimization appends to the name: kernel_copy.lto_priv.0
        name_of = re.compile(r'(?:kernel|fortran)_([a-z]\w*?)(?:\.|$)').match
        own = {match[1] for match in map(name_of, (f.name for f in program.functions)) if match}
        names = [n for n in STREAM if n in own] + sorted(own - set(STREAM))
    found = {}
    for name in names:
        symbols = (*(prefix + name for prefix in PREFIXES), name)
        read = (gather(program, symbol) for symbol in symbols)
        bodies, calls = next((one for one in read if one[0]), ([], []))
        if not bodies:
            raise _missing(path, f"'{name}'")
        found[name] = facts_of(bodies, calls)
    if not found:
        raise _missing(path, 'any kernel (kernel_copy ...)')
    return found


def _missing(path: str, what: str) -> MembwError:
    fact = f"'{path}' has no function of {what}"
    return MembwError(fact, f"'--kernel FUNCTION' reads another one; 'nm {path}' lists them")


def facts_of(bodies: list[list[Step]], calls: list[str]) -> dict[str, Any]:
    loops = [loop for body in bodies for loop in innermost(body)]
    loop = max(loops, key=stores_of, default=[])
    hot = stores_of(loop)
    if any(step.name == UNDECODED for loop in loops for step in loop):
        kind, by_loop = 'not known', False
    elif any('nontemporal' in name and 'dynamic' not in name for name in calls):
        kind, by_loop = 'nontemporal' if hot.stored == hot.nontemporal else 'mixed', False
    elif calls and not hot.nontemporal:
        kind, by_loop = 'call', False  # with nt stores memcpy does the few remaining elements
    elif any(step.name.startswith(('rep movs', 'rep stos')) for body in bodies for step in body):
        kind, by_loop = 'string', False
    elif not hot.stored:
        kind, by_loop = 'none', False
    else:
        ordinary, by_loop = 'zeroed' if hot.zeroed else 'ordinary', True
        kind = {0: ordinary, hot.stored: 'nontemporal'}.get(hot.nontemporal, 'mixed')
    width, offset = (hot.widest, loop[0].address % LINE) if by_loop else (None, None)
    return {'stores': kind, 'calls': calls, 'width_bits': width, 'loop_offset': offset}


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
    try:
        import capstone
    except ImportError as err:
        fact = "the Python package 'capstone' is not installed"
        raise MembwError(fact, "'pip install capstone', or read it on another machine") from err
    engine = capstone.Cs(*(getattr(capstone, word) for word in ENGINES[program.machine]))
    engine.skipdata = True  # a literal amidst the code must not end the reading
    return [Step(*instruction) for instruction in engine.disasm_lite(code, address)]


def named_addresses(body: list[Step], machine: str) -> Iterator[int]:
    """Where it jumps or calls to, and the addresses that it computes."""
    # aarch64 makes an address by adrp and add (or a load)
    pages: dict[str, int] = {}
    for step in body:
        relative = re.search(r'\[rip ([+-]) (0x)?([0-9a-f]+)\]', step.operands)
        if relative:
            distance = int(relative[3], 16 if relative[2] else 10)
            yield step.address + step.size + (distance if relative[1] == '+' else -distance)
        elif machine == 'x86-64' or step.name.startswith(('b', 'j', 'cb', 'tb', 'adr')):
            number = JUMP_TO.search(step.operands)
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
        target = JUMP_TO.search(step.operands)
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
    scalable = False
    for step in loop:
        bits = stored_bits(step)
        stored += bits
        widest = max(widest, width(step) if bits else 0)
        scalable |= bits > 0 and bool(re.match(r'{?z\d', step.operands))
        nontemporal += bits * ('movnt' in step.name or step.name.startswith(('stnp', 'stnt')))
    zeroed = any(f'{s.name} {s.operands}'.startswith(ZEROED) for s in loop)
    return Stores(stored, nontemporal, 0 if scalable else widest, zeroed)


def stored_bits(step: Step) -> int:
    """Bits that an instruction stores to memory other than the stack."""
    if re.search(r'\[(rsp|rip|rbp - \w+\]|sp|x29)', step.operands):
        return 0
    if 'ptr [' in step.operands:  # x86-64: in Intel's order the destination is first
        reads = step.name.startswith((*NO_STORE, 'cmp', 'test', 'div', 'mul', 'bt'))
        return 0 if reads or '[' not in step.operands.split(',')[0] else width(step)
    registers = step.operands.partition('[')[0].count(',')
    return width(step) * max(registers, 1) if step.name.startswith('st') else 0


def width(step: Step) -> int:
    size = re.search(r'(\w+) ptr \[', step.operands)
    if size:
        return BITS.get(size[1], 0)
    return REGISTER_BITS.get(step.operands.strip('{ ')[:1], 0)


def word_of(kernel: Mapping[str, Any]) -> str:
    """'memcpy', '64', 'sve' (as wide as the CPU's), '256nt' (non-temporal), '128z' (lines set to
    zero before, not read), 'mixed', 'string'."""
    stores, bits = kernel['stores'], kernel['width_bits']
    if stores == 'call':
        return kernel['calls'][0]
    width = {0: 'sve', None: ''}.get(bits, bits)
    return f'{width}{SUFFIX[stores]}' if stores in SUFFIX else stores


def brief(kernels: Mapping[Any, Mapping[str, Any]]) -> str:
    """'memmove/64': Copy calls memmove, the rest store 64 bits at a time; '512': all do."""
    first, *rest = map(word_of, kernels.values())
    if len(set(rest)) != 1:
        return '/'.join([first, *rest])
    return first if first == rest[0] else f'{first}/{rest[0]}'
