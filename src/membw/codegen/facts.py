"""What a kernel's hot loop means: kind of store, width, and the bytes that really move."""

from membw.codegen.loops import INTEL_STREAMS, gather, hot

WORD = 8  # bytes of an element; every figure is per element of each array
# arrays that a kernel reads and writes: STREAM counts one word for each
COUNTED = {'copy': (1, 1), 'scale': (1, 1), 'add': (2, 1), 'triad': (2, 1)}
# an ordinary store that misses the caches reads its line first; a non-temporal one does not
KINDS = ('ordinary', 'nontemporal', 'mixed', 'libc', 'intel', 'string', 'none')


def read_kernel(program, symbol, name=''):
    """Facts of one kernel, as `membw codegen --json` prints them; None where it has no code."""
    code = gather(program, symbol)
    if not code.functions:
        return None
    loops = hot(code)
    loop = loops[0] if loops else None
    kind = store_kind(code, loops)
    # a loop whose stores are calls does not show how many arrays it writes
    arrays = COUNTED.get(name) or (None if code.streaming else arrays_of(loop))
    by_loop = kind not in ('libc', 'intel', 'string') and not code.streaming
    facts = {
        'symbol': loop.function if loop else code.functions[-1][0].name,
        'stores': kind,
        'calls': code.calls,
        **(shape(loop) if loop and by_loop else shape(None) | width_of_calls(code)),
        **traffic(kind, arrays, updates(loop) if loop else False),
        'loop': [f'{step.address:#x} {step.text}' for step in loop.steps] if loop else [],
    }
    facts['note'] = note(facts, arrays, loop)
    return facts


def store_kind(code, loops):
    """One of KINDS; libc's memcpy, and Intel's, choose their stores when the program runs.

    Beside a loop of non-temporal stores memcpy does the few elements that are left over.
    """
    stored = sum(loop.stored_bits for loop in loops)
    past_caches = sum(loop.nontemporal_bits for loop in loops)
    if code.libc and not past_caches:
        return 'libc'
    if code.intel and not past_caches:
        return 'intel'
    if code.streaming:
        return 'nontemporal' if stored == past_caches else 'mixed'
    if any(step.string for _, body in code.functions for step in body):
        return 'string'
    if not stored:
        return 'none'
    return {0: 'ordinary', stored: 'nontemporal'}.get(past_caches, 'mixed')


def shape(loop):
    """Width of the widest store (else load), how many an iteration, prefetches, FMA."""
    if not loop:
        return dict.fromkeys(('width_bits', 'scalable', 'unroll', 'fma')) | {'prefetches': []}
    moves = [a for s in loop.steps for a in s.stores] or [a for s in loop.steps for a in s.loads]
    width = max(access.bits for access in moves)
    return {
        'width_bits': width,
        'scalable': any(step.scalable for step in loop.steps),
        'unroll': sum(access.bits for access in moves) // width,
        'fma': any(step.fma for step in loop.steps),
        'prefetches': prefetches(loop),
    }


def width_of_calls(code):
    """Where calls store for the kernel, their names say how wide."""
    bits = [INTEL_STREAMS.match(name)['bits'] for name in code.streaming]
    return {'width_bits': int(bits[0])} if len(bits) == 1 and bits[0] else {}


def prefetches(loop):
    """[{'kind': 'prefetcht0', 'bytes_ahead': 1024}]: from the first access of the iteration."""
    accesses = loop.places(lambda step: step.loads + step.stores)
    distances = {}
    for step, there in zip(
        [step for step in loop.steps if step.prefetch],
        loop.places(lambda step: [step.prefetch] if step.prefetch else []),
    ):
        # aarch64 names the kind by an operand: prfm pldl1keep, [x0, #512]
        kind = step.text.split(',')[0] if step.mnemonic.startswith('prf') else step.mnemonic
        offsets = [there.offset - a.offset for a in accesses if a.base == there.base]
        distances.setdefault(kind, []).extend([max(offsets)] if offsets else [])
    return [{'kind': k, 'bytes_ahead': min(d, default=None)} for k, d in distances.items()]


def arrays_of(loop):
    """(arrays read, arrays written) of a loop that is no STREAM kernel, by the bits it moves."""
    if not loop:
        return None
    each = loop.stored_bits or loop.loaded_bits
    return round(loop.loaded_bits / each), round(loop.stored_bits / each)


def updates(loop):
    """Does it load each line that it stores to? Then write-allocate costs nothing more."""
    loaded = {(a.base, a.offset) for a in loop.places(lambda step: step.loads)}
    stored = {(a.base, a.offset) for a in loop.places(lambda step: step.stores)}
    return bool(stored) and stored <= loaded


def traffic(kind, arrays, in_place):
    """Counted and moved bytes per element, and what write-allocate multiplies them by."""
    counted = WORD * sum(arrays) if arrays else None
    extra = {'nontemporal': 0, 'none': 0, 'ordinary': 0 if in_place else WORD}.get(kind)
    moved = counted + extra * arrays[1] if counted and extra is not None else None
    return {
        'counted_bytes': counted,
        'moved_bytes': moved,
        'write_allocate_factor': round(moved / counted, 3) if moved else None,
    }


def note(facts, arrays, loop):
    """What a reader must know to believe the figures; '' where there is nothing."""
    if facts['stores'] == 'libc':
        return f'{" and ".join(facts["calls"])} of libc chooses its stores when it runs'
    if facts['stores'] == 'intel':
        return f"{' and '.join(facts['calls'])} of Intel's runtime chooses its stores when it runs"
    if facts['stores'] == 'string':
        return "the CPU's microcode chooses its stores"
    if facts['stores'] == 'mixed':
        return 'some stores are non-temporal, some not'
    if facts['stores'] == 'nontemporal' and INTEL_STREAMS.match(' '.join(facts['calls'][-1:])):
        return f'its stores are calls of {" and ".join(facts["calls"])}'
    if not loop:
        return 'no loop found'
    if arrays_of(loop) != arrays:
        return 'the loop reads {}, writes {} arrays; expected were {}, {}'.format(
            *arrays_of(loop), *arrays
        )
    return ''
