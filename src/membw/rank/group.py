"""The nodes of one setting, each beside its peers: losses, deviations, limits."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from membw.grouped import grouped
from membw.results.figure import Figure, Measurement, headline
from membw.results.provenance import BOUGHT, LOST
from membw.results.record import HIGHER
from membw.results.too_good import TENTH
from membw.statistics import MARGIN
from membw.statistics.peers import (
    known,
    middle,
    noticed,
    peers_medians,
    robust_deviation,
    screening_limit,
    sure_limit,
)  # fmt: skip

MEAN = 'mean'  # of a node's rates, each as a part of its peers' median
# robust deviations: so many beyond the margin, as noise seldom lifts a node near it so far; and so
# many in all, in fleets that scatter
BEYOND, IN_ALL = 0.5, 2.0
LEAST_NODES = 4  # fewer cannot decide which of them is slow, and are no unit
CONTROLS = 3  # healthy nodes that are measured again with the low ones
HOUR = 0.05  # what an hour of all nodes may differ from another; a control that fell more is none
# robust deviations by which the median of three runs is seldom better (1.28 x 0.67)
OF_THREE = 0.86
PEER = 'peer'
Row = Sequence[float]  # by column; NaN is not known
Facts = dict[str, Counter[str | None]]  # {fact: how many nodes have each value}


class Run(NamedTuple):
    """One measurement of a node."""

    figures: dict[str, Figure]  # by metric
    losses: Row  # above 0: worse than the median of its peers in their first measurement

    @property
    def of(self) -> Measurement:
        return next(iter(self.figures.values())).of

    @property
    def has_bound(self) -> bool:
        return any(f.bound for f in self.figures.values())


class Group:
    """Columns are the metrics, and the mean of the rates. Of each node: `first`, its run in the
    measurement that is judged; `after`, the further ones that count; `estimates`, losses that are
    NaN where the figure is a bound, or the node no peer."""

    def __init__(
        self,
        first: Iterable[Figure],
        again: Sequence[Figure] = (),
        before: Sequence[Figure] = (),
        peers: set[str] | None = None,
        what: str = PEER,
    ) -> None:
        self.again, self.before, self.what = again, before, what
        self.any: dict[str, Figure] = {}  # one of each metric: for its unit and direction
        figures: dict[str, dict[str, Figure]] = defaultdict(dict)
        for f in first:
            self.any.setdefault(f.metric, f)
            figures[f.node].setdefault(f.metric, f)
        self.nodes, self.metrics = sorted(figures), [*self.any]
        head = headline(self.any)
        self.headline, self.setting = head.metric, head.setting
        self.head = self.metrics.index(self.headline)
        self.rates = [n for n, f in enumerate(self.any.values()) if f.unit == head.unit]
        self.columns = self.metrics + [MEAN] * (len(self.rates) > 1)
        self.peer_names = figures.keys() if peers is None else peers
        self.peers = len(self.peer_names)
        sure = {  # what peers are compared with
            node: {m: f for m, f in figures[node].items() if not f.bound}
            if node in self.peer_names
            else {}
            for node in self.nodes
        }
        by_metric = [
            peers_medians([of[m].value if m in of else math.nan for of in sure.values()])
            for m in self.metrics
        ]
        self.medians = dict(zip(self.nodes, zip(*by_metric, strict=True), strict=True))
        self.first = {node: self._run(node, figures[node]) for node in self.nodes}
        self.estimates = {node: self._run(node, of).losses for node, of in sure.items()}
        by_column = [*zip(*self.estimates.values(), strict=True)]
        self.known = [len(known(column)) for column in by_column]
        self.deviations = [robust_deviation(column) for column in by_column]
        self.screening, self.sure = screening_limit(self.peers), sure_limit(max(self.peers, 2))
        # by column the loss beyond which a first measurement is low, and a node FAILs
        self.low_limits = [max(MARGIN / 2, self.screening * x) for x in self.deviations]
        self.fail_limits = [max(MARGIN + BEYOND * x, IN_ALL * x) for x in self.deviations]
        counts = Counter(metric for of in figures.values() for metric in of)
        self.usual = [m for m in self.metrics if 2 * counts[m] > len(self.nodes)]
        self.most_channels = max(map(self.channels, self.nodes))
        self.newest: dict[str, Run] = {}  # of those that were measured again
        self.after = self._further()

    def part(self, nodes: Iterable[str], peers: set[str] | None = None) -> 'Group':
        """These nodes alone, compared with each other, or with these peers among them."""
        figures = [f for node in sorted(nodes) for f in self.first[node].figures.values()]
        made = Group(figures, self.again, peers=peers)
        made.nights = self.nights
        return made

    def _run(self, node: str, figures: dict[str, Figure]) -> Run:
        losses = [
            (1 - figures[m].value / base) * (1 if f.better == HIGHER else -1)
            if m in figures
            else math.nan
            for (m, f), base in zip(self.any.items(), self.medians[node], strict=True)
        ]
        if len(self.columns) > len(self.metrics):
            losses.append(sum(losses[n] for n in self.rates) / len(self.rates))
        return Run(figures, losses)

    def _further(self) -> dict[str, list[Run]]:
        """Of each node the further runs that have all metrics; not a bound that is low, nor what
        is too good."""
        found: dict[str, list[Run]] = {}
        for of in grouped((id(f.of), f) for f in self.again).values():
            node, figures = of[0].node, {f.metric: f for f in of}
            if node in self.first and figures.keys() >= self.first[node].figures.keys():
                run = self.newest[node] = self._run(node, figures)
                is_low = any(x > y for x, y in zip(run.losses, self.fail_limits, strict=True))
                if not (is_low and run.has_bound or run.losses[self.head] < -TENTH):
                    found.setdefault(node, []).append(run)
        return found

    def now(self, node: str) -> Run:
        """Its newest one."""
        return self.newest.get(node, self.first[node])

    def channels(self, node: str) -> int:
        """Of its memory; 0: not known."""
        record = self.first[node].of.record
        return record.facts.memory_channels or 0 if record else 0

    def lacks(self, node: str) -> list[str]:
        """Metrics that more than half of the nodes have, and this one has not."""
        return [m for m in self.usual if m not in self.first[node].figures]

    def peers_of(self, node: str) -> int:
        return self.peers - (node in self.peer_names)

    def is_healthy(self, node: str) -> bool:
        """Its first measurement is low in no metric."""
        row = zip(self.first[node].losses, self.low_limits, strict=True)
        return not any(loss > limit for loss, limit in row)

    def too_good(self, node: str) -> tuple[int, Run] | None:
        """The column, the headline's before others, and the first or newest run, in which a node
        is better than a machine of its kind can be."""
        for column in self.head, *range(len(self.columns)):
            limit = max(TENTH, self.sure * self.deviations[column])
            for run in self.first[node], self.now(node):
                if -run.losses[column] > limit:
                    return column, run
        return None

    @cached_property
    def controls(self) -> dict[str, Row]:
        """Of each healthy node that was measured again the median of its losses by column."""
        rows = {}
        for node in sorted(filter(self.is_healthy, self.after.keys() & self.peer_names)):
            runs = self.after[node]
            row = _medians([run.losses for run in runs])
            is_steady = abs(row[self.head]) <= HOUR and not any(run.has_bound for run in runs)
            if is_steady and not self.too_good(node):
                rows[node] = row
        return rows

    @cached_property
    def _hour(self) -> Row:
        return _medians([*self.controls.values()])

    def hour(self, node: str) -> Row:
        """By column what the healthy nodes lost since that were measured again; of fewer than two
        besides the node it could be its own loss."""
        is_sure = len(self.controls) - (node in self.controls) >= CONTROLS - 1
        return self._hour if is_sure else [0.0] * len(self.columns)

    @cached_property
    def nights(self) -> list['Group']:
        """Those before, the newest first."""
        by_night = sorted(grouped((f.night, f) for f in self.before).items(), reverse=True)
        return [Group(figures) for _, figures in by_night]

    def facts(self, nodes: Iterable[str]) -> Facts:
        every = [self.first[node].of.provenance for node in nodes]
        return {name: Counter(own.get(name) for own in every) for name in (*BOUGHT, *LOST)}

    @cached_property
    def facts_of_healthy(self) -> Facts:
        return self.facts(filter(self.is_healthy, self.nodes))

    def noticed(self, node: str) -> float:
        """The smallest loss of the headline that a PASS of this node would have shown: a first
        measurement that is low, and three further ones that do not clear it."""
        column, deviation = self.head, self.deviations[self.head]
        own = self.estimates[node][column]
        peers = self.known[column] - (own == own)
        if deviation != deviation or peers < LEAST_NODES - 1:
            return math.inf
        first = self.low_limits[column] + noticed(peers, deviation)
        return max(first, self.fail_limits[column] + OF_THREE * deviation)


def _medians(rows: Sequence[Row]) -> Row:
    return [middle(column) for column in zip(*rows, strict=True)]
