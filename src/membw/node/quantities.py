"""The quantities of a node's record: what its battery measured, by the names of its metrics."""

from typing import NamedTuple

from msgspec.structs import replace

from membw.results.figure import flatters
from membw.results.record import HIGHER, Metric, Part, Record, in_common
from membw.words import VALID

FACTS = (
    'thp', 'numa_balancing', 'governor', 'clock_source', 'smt', 'cores', 'cpus',
    'numa_nodes', 'freq_max_khz', 'memory_channels', 'microcode', 'kernel', 'cpu_model',
    'uncore_max_khz', 'cpus_allowed',
)  # fmt: skip
DISTURBS = 0.03  # of the CPUs: more of other processes, or stolen, disturbs


class Quantity(NamedTuple):
    metric: str  # of the node's record
    cause: str  # as systems/facts/causes.yaml names it
    name: str
    part: str  # of the battery, and the metric of that part's record
    of: str


EVERY = (
    Quantity('triad', 'rate', 'Triad', 'stream', 'triad'),
    Quantity('triad_one_thread', 'one', 'Triad of one thread', 'one', 'triad'),
    Quantity('memory_latency', 'latency', 'latency of memory', 'ladder', 'memory_latency'),
    Quantity('l1_latency', 'l1', 'latency of L1', 'ladder', 'l1_latency'),
    Quantity('l2_latency', 'l2', 'latency of L2', 'ladder', 'l2_latency'),
    Quantity('l3_latency', 'l3', 'latency of L3', 'ladder', 'l3_latency'),
    Quantity('l3_size', 'cache', 'size of L3', 'ladder', 'l3_size'),
    Quantity('max_gbs_1r0w', 'loaded', 'highest rate of reads', 'loaded', 'max_gbs_1r0w'),
    # made here of several figures of a part, see below
    Quantity('read_gbs_across', 'across', 'reads from another NUMA domain', 'tiers', ''),
    Quantity('lowest_domain', 'domain', 'lowest NUMA domain, of the others', 'stream', ''),
    Quantity('triad_at_the_end', 'late', 'Triad at the end, of the first', 'late', ''),
    Quantity('cards', 'cards', 'cards (GPUs)', '', ''),
)
BY_METRIC = {quantity.metric: quantity for quantity in EVERY}
HEADLINE = 'triad'


def metrics_of(parts: tuple[Part, ...], evidence: dict[str, dict]) -> dict[str, Metric]:
    """{metric: figure} of the parts that came to a valid end; `evidence`: their JSON objects."""
    found: dict[str, Metric] = {}
    for part in parts:
        if part.record and part.record.verdict == VALID and not part.why:
            found |= _of_part(part, evidence.get(part.name) or {})
    late, early = found.pop('late', None), found.get(HEADLINE)
    if late and early:
        if not late.bound and not early.bound:
            ratio = (late.value or 0) / (early.value or 1)
            found['triad_at_the_end'] = Metric(ratio, 'ratio', HIGHER)
        # the better of the two, an estimate before a bound
        found[HEADLINE] = max(early, late, key=lambda m: (not m.bound, m.value or 0))
    if cards := sum(bool(part.record and part.record.device) for part in parts):
        found['cards'] = Metric(cards, 'cards', HIGHER)
    order = [quantity.metric for quantity in EVERY]
    return {name: found[name] for name in order if name in found}


def _of_part(part: Part, evidence: dict) -> dict[str, Metric]:
    assert part.record
    found, measured = {}, part.record.measured
    if part.name == 'late' and 'triad' in measured:
        return _firm({'late': measured['triad']}, part)
    for quantity in EVERY:
        if quantity.part == part.name and quantity.of in measured:
            found[quantity.metric] = measured[quantity.of]
    across = [
        m
        for m in measured.values()
        if m.series == 'read_gbs' and m.at and m.at.get('cpu_domain') != m.at.get('memory_domain')
    ]
    if part.name == 'tiers' and across:
        found['read_gbs_across'] = min(across, key=lambda m: m.value or 0)
    domains = (evidence.get('looks') or {}).get('domains') or {}
    if part.name == 'stream' and len(domains) > 1 and not is_disturbed(part):
        apart = min(float(own['apart']) for own in domains.values())
        found['lowest_domain'] = Metric(1 + apart, 'ratio', HIGHER)
    return _firm(found, part)


def is_disturbed(part: Part) -> bool:
    busy = part.record.busy if part.record else None
    return busy is not None and max(busy.other_share or 0, busy.stolen_share or 0) > DISTURBS


def _firm(found: dict[str, Metric], part: Part) -> dict[str, Metric]:
    """Without what may be worse. A rate says itself whether it is a bound; all else is one where
    others took CPU time."""
    made = {}
    for name, metric in found.items():
        is_rate = in_common(metric.unit)[0] == 'GB/s'
        if flatters(metric.bound or '', metric.better):
            continue
        if is_disturbed(part) and not is_rate:
            metric = bound_of(metric)
        made[name] = replace(metric, series='', at=None)
    return made


def bound_of(metric: Metric) -> Metric:
    """The node is at least so good."""
    bound = 'lower' if metric.better == HIGHER else 'upper'
    return replace(metric, low=None, high=None, bound=bound)


def pages_elsewhere(record: Record) -> float:
    """Share of the pages sampled that lay on a domain that was not requested."""
    both = [p for p in (record.placement_before, record.placement_after) if p]
    return max((p.pages_misplaced / (p.pages_sampled or 1) for p in both), default=0.0)


def stream_of(record: Record) -> Record:
    """The first record of a battery; any other record is its own."""
    return next((part.record for part in record.parts if part.record), record)


def facts_of(record: Record) -> dict[str, float | str]:
    """What may explain a figure, by the names of causes.yaml; what is not known is left out."""
    facts, own, build = record.facts, stream_of(record), record.build
    speeds = [module.configured_mts for module in facts.dimms]
    huge = own.pages.huge_mib if own.pages else None
    element = own.element_bytes if isinstance(own.element_bytes, int) else 8
    size = 3 * (own.array_size or 0) * element / 2**20
    every = {name: getattr(facts, name) for name in FACTS} | {
        'memory_gib': round((facts.mem_total_mib or 0) / 1024, 1) or None,
        'modules': len(facts.dimms) or None,
        'memory_mts': min(filter(None, speeds)) if speeds and all(speeds) else None,
        'memory_policy': own.placement_before.policy if own.placement_before else None,
        'huge_share': round(huge / size, 1) if huge is not None and size else None,
        'compiler': build.compiler,
        'flags': build.flags,
    }
    return {name: value for name, value in every.items() if value is not None}


def counted_of(record: Record) -> dict[str, float]:
    """What was counted meanwhile; of the shares of the CPUs the largest of any part."""
    counted = dict(record.counted or {})
    records = [part.record for part in record.parts if part.record]
    for name in ('other_share', 'stolen_share'):
        counted[name] = max((getattr(r.busy, name, 0) or 0 for r in records), default=0)
    return counted | {'pages_elsewhere': max(map(pages_elsewhere, records), default=0)}
