"""What a node is compared with: a reference, its peers, its earlier runs."""

import functools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from membw.checkout import root
from membw.node.figures import METRICS, Quantity, Record, facts_of_node, of_node, stream_of
from membw.printable import plural
from membw.results import regimes
from membw.site.systems import fits_here
from membw.statistics import MAD_TO_SIGMA
from membw.statistics.peers import LEAST_DEVIATION, OF_MEDIAN, sure_limit

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
    varies: bool = False  # by more than a tenth, and clears a node within that alone


WITHIN = {'late': Base(1, 0.05, 'this run'), 'domain': Base(1, MARGIN, 'this run')}


class Known(NamedTuple):
    """What a record says, read once for all that are compared with it."""

    record: Record
    quantities: dict[str, Quantity]
    facts: dict[str, Any]
    latency: float  # of the nearest cores: the state of a virtual machine's host

    @classmethod
    def of(cls, record: Record) -> 'Known':
        latency = regimes.latency(stream_of(record))
        return cls(record, of_node(record), facts_of_node(record), latency)

    @property
    def kind(self) -> tuple:
        """Of nodes that are compared with the same ones; the latency by factors of 1.5."""
        facts = [self.facts.get(name) for name in (*KIND, 'cpus_allowed')]
        return (*facts, self.latency and round(math.log(self.latency, regimes.APART)))


def of_nodes(nodes: Sequence[Known], word: str) -> dict[str, Base]:
    """Medians of what was not disturbed. Low is beyond 3 %, and beyond what chance gives any of so
    many nodes (statistics/peers.py). Their deviation is the larger of 1.4826 MAD, which of a few
    is often too small, and the root mean square of the better half, in which no slow node is."""
    bases, every = {}, [node.quantities for node in nodes]
    for name in {name for quantities in every for name in quantities}:
        own = [quantities[name] for quantities in every if name in quantities]
        own = [quantity for quantity in own if not quantity.is_bound]
        if not own:
            continue
        count, middle = len(own), statistics.median(quantity.value for quantity in own)
        apart = [quantity.share(middle) - 1 for quantity in own]
        better = [part**2 for part in apart if part > 0]
        mad = MAD_TO_SIGMA * statistics.median(map(abs, apart))
        deviation = max(mad, LEAST_DEVIATION, statistics.fmean(better or [0]) ** 0.5)
        # Student's t by the deviation's own degrees of freedom: one less than there are peers
        sure = sure_limit(count, len(METRICS))
        chance = deviation * (1 + OF_MEDIAN / count) ** 0.5 * sure
        is_weak = count < FEW
        limit = OF_FEW if is_weak else max(MARGIN, min(chance, MOST))
        bases[name] = Base(middle, limit, plural(count, word), is_weak, limit > OF_FEW)
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


def is_reference(other: Known, node: Known) -> bool:
    """Of one kind: the same CPU, programs built alike, one state of a virtual machine's host; and
    not confined, or no more than the node itself."""
    if any(other.facts.get(name) != node.facts.get(name) for name in KIND):
        return False
    least, stopped = node.facts.get('cpus_allowed', 0), other.record.get('counted') or {}
    if stopped.get('quota_throttles') or other.facts.get('cpus_allowed', math.inf) < least:
        return False
    return not regimes.states((other.latency, node.latency))


def was_good(record: Record) -> bool:
    """Neither slow nor dead, nor of few records a loss whose cause a fact confirmed."""
    lost = any(not cause['disturbs'] for cause in record.get('causes') or ())
    return not lost and record.get('word') not in ('SLOW', 'DEAD')


def compared(
    node: Known, peers: Iterable[Known], earlier: Iterable[Known], system: str = ''
) -> tuple[dict[str, Base], dict[str, Any]]:
    """({quantity: the first Base there is}, the usual facts); of others only what is of its kind,
    of its own earlier runs not those in which it was slow."""
    record, host = stream_of(node.record), node.record['host']
    others = [n for n in peers if n.record['host'] != host and is_reference(n, node)]
    same = [
        n
        for n in earlier
        if n.record['host'] == host
        and n.record['time'] < node.record['time']
        and was_good(n.record)
        and is_reference(n, node)
    ]
    bases: dict[str, Base] = {}
    for nodes, what in ((same, 'earlier run'), (others, 'peer')):
        bases |= of_nodes(nodes, what)
    bases |= of_reference(record, system)
    bases |= {n: base for n, base in WITHIN.items() if n not in bases or bases[n].is_weak}
    every: dict[str, Counter] = {}
    for one in others or same:
        for name, value in one.facts.items():
            every.setdefault(name, Counter())[value] += 1
    return bases, {name: counts.most_common(1)[0][0] for name, counts in every.items()}
