"""The code of a kernel, whatever the compiler cut it into, and the loop in it that runs hot."""

import re
from dataclasses import dataclass, field

from membw.codegen.isa import steps

# the OpenMP runtime in a static program: no part of a kernel
RUNTIME = re.compile(r'_*(gomp|omp|kmp|kmpc|ompc)(_|$)', re.IGNORECASE)
LIBC = re.compile(r'mem(cpy|move|set)')
# Intel's runtime (libirc, libintlc 2026.2.0 and icc 2020.0.133, by `nm`): _intel_fast_memcpy,
# __intel_avx_rep_memcpy, _VEC_memcpy choose their stores when they run, as
# __libirc_nontemporal_store_dynamic does; __libirc_nontemporal_store_256 has no choice
INTEL_CHOOSES = re.compile(
    r'_*(intel|VEC)_\w*mem(cpy|move|set)\w*|__libirc_nontemporal_store_dynamic\w*'
)
INTEL_STREAMS = re.compile(r'__libirc_nontemporal_store(_(?P<bits>\d+))?$')
MOST_FUNCTIONS = 50


@dataclass
class Code:
    """All functions that one kernel consists of, and what it calls to have bytes stored."""

    functions: list  # of (Function, [Step])
    libc: list  # 'memcpy', as called
    intel: list = field(default_factory=list)  # '_intel_fast_memcpy': chooses when it runs
    streaming: list = field(default_factory=list)  # '__libirc_nontemporal_store_256'

    @property
    def calls(self):
        return [*self.libc, *self.intel, *self.streaming]

    def note_call(self, name):
        """Is this a function that stores for the kernel?  Then it is no part of the kernel."""
        for pattern, names in (
            (INTEL_CHOOSES, self.intel),
            (INTEL_STREAMS, self.streaming),
            (LIBC, self.libc),
        ):
            called = pattern.search(name)
            if called:
                names += [called.group()] if called.group() not in names else []
                return True
        return False


@dataclass
class Loop:
    function: str
    steps: list

    @property
    def stored_bits(self):
        return sum(access.bits for step in self.steps for access in step.stores)

    @property
    def loaded_bits(self):
        return sum(access.bits for step in self.steps for access in step.loads)

    @property
    def nontemporal_bits(self):
        stores = (s.stores for s in self.steps if s.nontemporal)
        return sum(access.bits for accesses in stores for access in accesses)

    def places(self, of):
        """The accesses of(step), as seen from the registers at the loop's beginning."""
        accesses, bumped = [], {}
        for step in self.steps:
            accesses += [access.after(bumped) for access in of(step)]
            if step.bumps:
                register, by = step.bumps
                bumped[register] = bumped.get(register, 0) + by
        return accesses


def gather(program, symbol):
    """The function of this name, its outlined parts and clones, and all that these refer to.

    gcc calls the parallel part NAME._omp_fn.0, clang NAME.omp_outlined or just .omp_outlined.7:
    in each case the function NAME holds its address.
    """
    waiting = [f for f in program.functions if f.name == symbol or f.name.startswith(symbol + '.')]
    seen, code = set(), Code([], [])
    while waiting and len(code.functions) < MOST_FUNCTIONS:
        function = waiting.pop(0)
        if function.address in seen:
            continue
        seen.add(function.address)
        body = steps(program.machine, program.body(function), function.address)
        code.functions.append((function, body))
        for step in body:
            waiting += leads_to(program, function, step, code)
    return code


def leads_to(program, function, step, code):
    """Further functions of the kernel that this instruction names; runtimes' are noted apart."""
    target = step.call or step.jump or step.refers
    if step.slot is not None:
        name = program.slots.get(step.slot, '')
    elif target is None or inside(function, target):
        return []
    elif target in program.at:
        name = program.at[target].name
    else:
        name = imported(program, target)
    if code.note_call(name):
        return []
    callee = program.at.get(target)
    return [callee] if callee and not RUNTIME.match(callee.name) else []


def inside(function, address):
    return function.address <= address < function.address + max(function.size, 1)


def imported(program, address):
    """The name behind an entry of the procedure linkage table, which jumps through a slot."""
    for step in steps(program.machine, program.code(address, 16), address):
        if step.slot in program.slots:
            return program.slots[step.slot]
    return ''


def innermost(body):
    """Loops that hold no other loop: [first, last] steps of each backward branch."""
    position = {step.address: n for n, step in enumerate(body)}
    ends = {}
    for n, step in enumerate(body):
        begin = position.get(step.jump)
        if begin is not None and begin <= n:
            ends[begin] = max(n, ends.get(begin, n))
    spans = list(ends.items())
    return [
        (begin, end)
        for begin, end in spans
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in spans)
    ]


def hot(code):
    """The loops that do the work: of all innermost ones those that move most an iteration.

    What lines up the arrays before them and what is left after them moves less. More than one
    is left where the compiler made several versions and chooses when the program runs.
    """
    loops = [
        Loop(function.name, body[begin : end + 1])
        for function, body in code.functions
        for begin, end in innermost(body)
    ]
    weights = [loop.stored_bits or loop.loaded_bits for loop in loops]
    most = max(weights, default=0)
    storing = any(loop.stored_bits for loop in loops)
    return [
        loop
        for loop, weight in zip(loops, weights)
        if most and weight == most and bool(loop.stored_bits) == storing
    ]
