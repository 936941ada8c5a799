"""The quantities that tell causes apart, from the records of a battery or of one program."""

import re
from typing import Any, NamedTuple

from membw.results import regimes
from membw.results.table import too_good

Record = dict[str, Any]
FEW = 0.03  # of the CPUs: more of other processes, or stolen, disturbs
# quantity: (its name, part of the battery, metric of its record)
METRICS = {
    'rate': ('Triad', 'stream', 'triad'),
    'one': ('Triad of one thread', 'one', 'triad'),
    'latency': ('latency of memory', 'ladder', 'memory_latency'),
    'l1': ('latency of L1', 'ladder', 'l1_latency'),
    'l2': ('latency of L2', 'ladder', 'l2_latency'),
    'l3': ('latency of L3', 'ladder', 'l3_latency'),
    'cache': ('size of L3', 'ladder', 'l3_size'),
    'loaded': ('highest rate of reads', 'loaded', 'max_gbs_1r0w'),
    'arithmetic': ('DGEMM', 'dgemm', 'square'),
    'across': ('reads from another NUMA domain', 'tiers', 'read_gbs_across'),
}
ACROSS = re.compile(r'read_gbs_(\d+)_(?!\1$)\d+')  # of tiers, the slowest of them
OWN = {'late': 'Triad at the end', 'domain': 'the lowest NUMA domain'}  # compared within a run
NAMES = {**{name: row[0] for name, row in METRICS.items()}, **OWN}
FACTS = ('thp', 'numa_balancing', 'governor', 'smt', 'cores', 'cpus', 'numa_nodes', 'freq_max_khz',
         'memory_channels', 'microcode', 'kernel', 'cpu_model')  # fmt: skip
OF_NODE = ('uncore_max_khz', 'cpus_allowed')  # facts that no program's record has


class Quantity(NamedTuple):
    """`better` 1: higher is better, -1: lower; `half`: of its interval, as a fraction."""

    value: float
    unit: str
    better: int = 1
    is_bound: bool = False  # disturbed: the node is at least so good
    half: float = 0.0

    def share(self, base: float) -> float:
        """Of a reference: 0.9 is a tenth worse, whichever direction is better."""
        return self.value / base if self.better > 0 else base / self.value

    def text(self) -> str:
        sign = '' if not self.is_bound else '≥ ' if self.better > 0 else '≤ '
        return f'{sign}{self.value:.4g} {self.unit}'


def of_record(part: str, record: Record, is_disturbed: bool) -> dict[str, Quantity]:
    """Of one program's valid record. A rate says itself whether it is a bound."""
    found: dict[str, Quantity] = {}
    metrics = record['metrics']
    if rows := [row for name, row in metrics.items() if ACROSS.fullmatch(name)]:
        metrics = {**metrics, METRICS['across'][2]: min(rows, key=lambda row: row['value'] or 0)}
    for name, (_, of_part, metric) in METRICS.items():
        row = metrics.get(metric) if part == of_part else None
        if row and row.get('value') and not too_good(row.get('bound') or '', row['better']):
            ends = [row[end] for end in ('low', 'high') if row.get(end)]
            half = max((abs(end / row['value'] - 1) for end in ends), default=0.0)
            is_bound = bool(row.get('bound')) or is_disturbed and row['unit'] != 'GB/s'
            better = 1 if row['better'] == 'higher' else -1
            found[name] = Quantity(row['value'], row['unit'], better, is_bound, half)
    apart = [d['apart'] for d in ((record.get('looks') or {}).get('domains') or {}).values()]
    if part == 'stream' and len(apart) > 1 and not is_disturbed:
        found['domain'] = Quantity(1 + min(apart), 'of the others')
    return found


def of_node(node: Record) -> dict[str, Quantity]:
    """Of a record of `membw node`: the better of the two Triads, and how they compare."""
    found: dict[str, Quantity] = {}
    for part in node['parts']:
        record, taken = part.get('record'), part.get('trace') or {}
        if not record or record['verdict'] != 'VALID' or part['why']:
            continue
        shares = [taken.get(name, 0) for name in ('other_share', 'steal_share')]
        is_disturbed = max(shares) > FEW or bool(part.get('stopped'))
        own = of_record(part['name'].replace('late', 'stream'), record, is_disturbed)
        early, late = found.get('rate'), own.get('rate')
        if part['name'] == 'late' and early and late:
            if not early.is_bound and not late.is_bound and is_one_state(node):
                found['late'] = Quantity(late.value / early.value, 'of the first', half=late.half)
            own = {'rate': max(early, late, key=lambda q: (not q.is_bound, q.value))}
        found |= own
    return found


def is_one_state(node: Record) -> bool:
    """Whether no host of a virtual machine moved the cores in or between its runs of stream."""
    records = [p['record'] for p in node['parts'] if p['name'] in ('stream', 'late')]
    warned = [w['reason'] for record in records for w in record.get('warnings') or ()]
    return 'regime-changed' not in warned and not regimes.states(map(regimes.latency, records))


def pages_elsewhere(record: Record) -> float:
    """Share of the pages sampled that lay on a domain that was not requested."""
    both = (record.get(f'placement_{when}') or {} for when in ('before', 'after'))
    return max(p.get('pages_misplaced', 0) / (p.get('pages_sampled') or 1) for p in both)


def facts_of_node(node: Record) -> Record:
    """Of its first record: of stream, where that was measured; and its own."""
    own = node.get('facts') or {}
    return facts_of(stream_of(node)) | {name: own[name] for name in OF_NODE if name in own}


def stream_of(node: Record) -> Record:
    return next((part['record'] for part in node['parts'] if part.get('record')), {})


def facts_of(record: Record) -> Record:
    """What may explain a figure, by the names of causes.yaml; what is not known is left out."""
    facts, build = record.get('facts') or {}, record.get('build') or {}
    modules = facts.get('dimms') or []
    speeds = [module.get('configured_mts') for module in modules]
    huge = (record.get('pages') or {}).get('huge_mib')
    size = 3 * record.get('array_size', 0) * record.get('element_bytes', 8) / 2**20
    every = {name: facts.get(name) for name in FACTS} | {
        'memory_gib': round((facts.get('mem_total_mib') or 0) / 1024, 1) or None,
        'modules': len(modules) or None,
        'memory_mts': min(speeds) if speeds and all(speeds) else None,
        'memory_policy': (record.get('placement_before') or {}).get('policy'),
        'huge_share': round(huge / size, 1) if huge is not None and size else None,
        'compiler': build.get('compiler'),
        'flags': build.get('flags'),
    }
    return {name: value for name, value in every.items() if value is not None}
