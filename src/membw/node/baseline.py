"""What a node is compared with: a reference, its peers, its earlier runs, what is published."""

import functools
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from membw.checkout import root
from membw.node.figures import METRICS, Record, facts_of, facts_of_node, of_node, stream_of
from membw.plural import plural
from membw.possible import peak, published
from membw.results import regimes
from membw.site.systems import fits_here
from membw.statistics.peers import LEAST_DEVIATION, OF_MEDIAN, sure_limit
from membw.statistics.robust import MAD_TO_SIGMA

MARGIN = 0.03  # the smallest loss that counts, as in `membw rank`
FEW, OF_FEW = 3, 0.1  # fewer records have no spread: a tenth, and they condemn no node
MOST = 0.5
PINNING = 'omp'
KIND = ('cpu_model', 'compiler', 'flags')  # equal, before two nodes are compared


class Base(NamedTuple):
    value: float
    limit: float  # low is a share below 1 - limit
    source: str  # '12 peers'
    is_weak: bool = False  # it may clear a node, and condemns none


WITHIN = {'late': Base(1, 0.05, 'this run'), 'domain': Base(1, MARGIN, 'this run')}


def of_nodes(nodes: Sequence[Record], word: str) -> dict[str, Base]:
    """Medians of what was not disturbed. Low is beyond 3 %, and beyond what chance gives any of so
    many nodes (statistics/peers.py)."""
    bases, every = {}, [of_node(node) for node in nodes]
    for name in {name for quantities in every for name in quantities}:
        own = [quantities[name] for quantities in every if name in quantities]
        values = [quantity.value for quantity in own if not quantity.is_bound]
        if not values:
            continue
        middle = statistics.median(values)
        mad = statistics.median(abs(value / middle - 1) for value in values)
        deviation = max(MAD_TO_SIGMA * mad, LEAST_DEVIATION)
        deviation *= (1 + OF_MEDIAN / len(values)) ** 0.5
        chance = deviation * sure_limit(len(values) + 1, len(METRICS))
        is_weak = len(values) < FEW
        limit = OF_FEW if is_weak else max(MARGIN, min(chance, MOST))
        bases[name] = Base(middle, limit, plural(len(values), word), is_weak)
    return bases


def of_reference(record: Record, system: str = '') -> dict[str, Base]:
    """Triad of `stream`, of the preset and the pinning of this battery; of a system with several
    such partitions, where `system` names the partition, too."""
    name, _, partition = system.partition(':')
    preset = (record.get('build') or {}).get('preset') or ''
    rows = {}
    for place, environs in (_references(name).get('stream') or {}).items():
        pinnings = environs.get(preset) if isinstance(environs, dict) else None
        row = ((pinnings or {}).get(PINNING) or {}).get('triad')
        is_here = partition in ('', place.partition(':')[2])
        if row and is_here and isinstance(row[0], int | float):  # no known failure
            rows[place] = Base(row[0], -(row[1] or -MARGIN), f'reference of {place}')
    return {'rate': base for base in rows.values()} if len(rows) == 1 else {}


@functools.cache
def _references(system: str) -> dict[str, Any]:
    """Of that system, or of the one whose `hostnames` name this host."""
    for path in sorted(Path(root(), 'systems').glob('*.yaml')):
        data = yaml.safe_load(path.read_text())
        is_here = '.*' not in data['hostnames'] and fits_here(data)
        if 'references' in data and (path.stem == system or not system and is_here):
            return yaml.safe_load((path.parent / data['references']).read_text()) or {}
    return {}


def of_published(record: Record) -> dict[str, Base]:
    """The lowest that others reach, their kind of stores not said."""
    top, facts = peak.of_node(record), record.get('facts') or {}
    others = published.others(top, published.NOT_SAID, facts.get('sockets') or 1)
    if not others:
        return {}
    low = others.low if others.unit == 'GB/s' else others.low * top.gbs / 100
    return {'rate': Base(low, MARGIN, 'what others published', is_weak=True)}


def are_alike(a: Record, b: Record) -> bool:
    """Of one kind: the same CPU, programs built alike, one state of a virtual machine's host."""
    records = [stream_of(node) for node in (a, b)]
    mine, others = map(facts_of, records)
    is_one = not regimes.states(map(regimes.latency, records))
    return is_one and all(mine.get(n) == others.get(n) for n in KIND)


def compared(
    node: Record, peers: Iterable[Record], earlier: Iterable[Record], system: str = ''
) -> tuple[dict[str, Base], dict[str, Any]]:
    """({quantity: the first Base there is}, the usual facts); of others only what is of its kind,
    of its own earlier runs not those in which it was slow."""
    record = stream_of(node)
    others = [n for n in peers if n['host'] != node['host'] and are_alike(n, node)]
    same = [n for n in earlier if n['host'] == node['host'] and n['time'] < node['time']]
    same = [n for n in same if n.get('word') not in ('SLOW', 'DEAD') and are_alike(n, node)]
    bases = WITHIN | of_published(record) | of_nodes(same, 'earlier run')
    bases |= of_nodes(others, 'peer') | of_reference(record, system)
    every: dict[str, Counter] = {}
    for one in others or same:
        for name, value in facts_of_node(one).items():
            every.setdefault(name, Counter())[value] += 1
    return bases, {name: counts.most_common(1)[0][0] for name, counts in every.items()}
