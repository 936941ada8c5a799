"""What a figure was built and run with, and how two figures differ in it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import attrgetter

from membw.results.record import Build, Facts, Module, Record

# ordered from cause to consequence: the first that differs is the one to name
FIELDS = (
    'kernels_set', 'language', 'element_bytes', 'compiler', 'flags', 'compile_line', 'version',
    'source_sha256', 'code_sha256', 'spack_hash', 'built_with', 'binary_sha256', 'bios_version',
    'bios_date', 'kernel_release', 'microcode', 'thp', 'numa_balancing', 'governor', 'pages',
    'array_size', 'bodies', 'shapes', 'ntimes', 'threads', 'threads_on', 'board_vendor',
    'board_name', 'cpu_model', 'card_model', 'card_driver', 'card_ecc', 'card_uuid', 'card_gib',
    'memory_gib', 'dimms', 'memory_channels', 'module_kinds', 'sockets', 'numa_nodes', 'ranks',
)  # fmt: skip
# what was bought: it divides a fleet, as the CPU does, which is of the setting
BOUGHT = 'module_kinds', 'sockets', 'card_gib'
# what explains that a node is slow and clears it not: it was lost, or is set
LOST = (
    'dimms', 'memory_channels', 'memory_gib', 'numa_nodes', 'microcode', 'kernel_release',
    'governor', 'thp', 'numa_balancing', 'threads', 'code_sha256', 'card_driver', 'card_ecc',
)  # fmt: skip
# these name a file, not its code: where the code is the same, anything else that differs is first
OF_FILE = ('spack_hash', 'built_with', 'binary_sha256')
# the check's of a build go before the program's; three of the record's are made below
OF_BUILD = tuple(f for f in FIELDS if f in Build.__struct_fields__)
OF_FACTS = tuple(f for f in FIELDS if f in Facts.__struct_fields__)
MADE = 'pages', 'shapes', 'threads_on'
OF_RECORD = tuple(f for f in FIELDS if f in Record.__struct_fields__ and f not in MADE)
_built, _own = attrgetter(*OF_BUILD), attrgetter(*OF_RECORD)
# what a node is, and its code: a change of these begins a new sample of its figures
OF_SAMPLE = (
    'bios_version', 'bios_date', 'microcode', 'kernel_release', 'cpu_model', 'board_vendor',
    'board_name', 'dimms', 'memory_channels', 'memory_gib', 'code_sha256',
)  # fmt: skip
SHARED: dict[tuple, dict[str, str]] = {}  # equal ones are one object


def requested_pages(record: Record) -> str:
    """'default', 'thp', '2M', '1G'; records of membw 1.0.0 have another key."""
    pages = record.pages
    return (pages.requested or pages.asked or '') if pages else ''


def key_of(record: Record) -> tuple:
    """Equal only for records of equal provenance; quickly made."""
    more = requested_pages(record), shapes(record) if record.shapes else '', record.affinities
    return (
        id(record.facts),
        id(record.build),
        _built(record.case),
        _own(record),
        more,
        record.device,
    )


def of_record(record: Record) -> dict[str, str]:
    """{field: value} of what is known of a record's build and run, as text."""
    facts, build, case, card = record.facts, record.build, record.case, record.device
    mib = facts.mem_total_mib
    fields = {
        **{name: getattr(record, name) for name in OF_RECORD},
        **{name: getattr(case, name) or getattr(build, name) for name in OF_BUILD},
        **{name: getattr(facts, name) for name in OF_FACTS},
        'kernel_release': facts.kernel,
        'pages': requested_pages(record),
        'threads_on': record.affinities,
        'shapes': shapes(record),
        # whole GiB: the kernel keeps some MB more or less from boot to boot
        'memory_gib': round(mib / 1024) if mib else None,
        'dimms': _dimms(facts.dimms),
        'module_kinds': _kinds(facts.dimms),
    }
    if card:
        fields |= {'card_model': card.name, 'card_driver': card.driver, 'card_uuid': card.uuid}
        fields |= {'card_ecc': card.ecc, 'card_gib': round(card.memory_mib / 1024) or None}
    known = {f: str(fields[f]) for f in FIELDS if fields.get(f) not in (None, '')}
    return SHARED.setdefault(tuple(known.items()), known)


def _dimms(modules: tuple[Module, ...]) -> str:
    """'16 x 32768 MiB at 3200 MT/s'; without the speed where it is not known."""
    sizes = Counter(
        f'{m.size_mib} MiB' + (f' at {m.configured_mts} MT/s' if m.configured_mts else '')
        for m in modules
    )
    return ' + '.join(f'{n} x {size}' for size, n in sorted(sizes.items()))


def _kinds(dimms: tuple[Module, ...]) -> str:
    """'DDR of 32768 MiB', however many and fast they are."""
    return ' + '.join(sorted({f'{m.type or "DDR"} of {m.size_mib} MiB' for m in dimms}))


def shapes(record: Record) -> str:
    """'square 4096x4096x4096, ...' of src/dgemm: another one is another figure."""
    every = (record.shapes or {}).items()
    return ', '.join(f'{name} {s.m}x{s.n}x{s.k}' for name, s in every)


def difference(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str]]:
    """{field: (before, after)} of what differs, the likeliest cause first; a field unknown on one
    side does not differ."""
    code = before.get('code_sha256')
    last = OF_FILE if code is not None and code == after.get('code_sha256') else ()
    return {
        f: (before[f], after[f])
        for f in (*(f for f in FIELDS if f not in last), *last)
        if f in before and f in after and before[f] != after[f]
    }


def changes(every: Iterable[Mapping[str, str]]) -> dict[int, dict[str, tuple[str, str]]]:
    """{place: {fact of OF_SAMPLE: (before, after)}} of one node's provenances in order of time:
    where a fact is not what it was last known to be."""
    last: dict[str, str] = {}
    found = {}
    for place, known in enumerate(every):
        own = {name: known[name] for name in OF_SAMPLE if name in known}
        differing = {n: (last[n], v) for n, v in own.items() if not _is_same(n, last.get(n, v), v)}
        if differing:
            found[place] = differing
        last |= {
            name: value for name, value in own.items() if name in differing or name not in last
        }
    return found


def _is_same(name: str, one: str, other: str) -> bool:
    """Of the memory that a kernel keeps for itself half a GiB may be rounded away, or not."""
    return one == other or name == 'memory_gib' and abs(int(one) - int(other)) <= 1


def first_change(facts: Mapping[str, tuple[str, str]]) -> str:
    """ "microcode '0x2', before '0x1'", of the likeliest cause; '' of none."""
    every = (f"{name} '{new[:60]}', before '{old[:60]}'" for name, (old, new) in facts.items())
    return next(every, '')
