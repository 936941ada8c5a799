"""The nodes of one setting, each beside its peers: losses, deviations, limits."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

from membw.results.case import Case
from membw.results.figure import Figure
from membw.results.provenance import BOUGHT, LOST
from membw.results.record import HIGHER
from membw.statistics import MARGIN
from membw.statistics.peers import (
    known,
    middle,
    noticed,
    peers_medians,
    robust_deviation,
    screening_limit,
)  # fmt: skip

MEAN = 'mean'  # of a node's rates, each as a part of its peers' median
# robust deviations: so many beyond the margin, as noise seldom lifts a node near it so far; and so
# many in all, in fleets that scatter
BEYOND, IN_ALL = 0.5, 2.0
LEAST_NODES = 4  # fewer cannot decide which of them is slow, and are no unit
# robust deviations by which the median of three runs is seldom better (1.28 x 0.67)
OF_THREE = 0.86
PEER = 'peer'
Run = dict[str, Figure]  # one measurement of a node, by metric
Row = list[float]  # by column; NaN is not known


Facts = dict[str, Counter[str | None]]  # {fact: how many nodes have each value}


class Group:
    """The loss of each node in each metric and in the mean of its rates. `losses`, `estimates`
    (NaN of bounds): {node: by column}; `deviations`: by column."""

    def __init__(
        self, figures: Sequence[Figure], peers: set[str] | None = None, what: str = PEER
    ) -> None:
        self.what = what
        self.figures: dict[str, Run] = defaultdict(dict)
        for figure in figures:
            self.figures[figure.node].setdefault(figure.metric, figure)
        self.nodes = sorted(self.figures)
        self.now = {**self.figures}  # the newest run of each; the judge knows it
        self.any = {f.metric: f for f in reversed(figures)}  # for unit and direction
        self.metrics = list(dict.fromkeys(f.metric for f in figures))
        heads = [f.metric for f in self.any.values() if f.is_headline]
        self.headline = heads[0] if heads else self.metrics[-1]
        unit = self.any[self.headline].unit
        self.rates = [n for n, m in enumerate(self.metrics) if self.any[m].unit == unit]
        self.columns = self.metrics + [MEAN] * (len(self.rates) > 1)
        self.head = self.metrics.index(self.headline)
        self.peer_names = {node for node in self.nodes if peers is None or node in peers}
        self.peers = len(self.peer_names)
        self.medians = {node: [] for node in self.nodes}  # type: dict[str, Row]
        for metric in self.metrics:
            estimates = [self._estimate(node, metric) for node in self.nodes]
            for node, value in zip(self.nodes, peers_medians(estimates), strict=True):
                self.medians[node].append(value)
        self.losses = {node: self.losses_of(node, self.figures[node]) for node in self.nodes}
        self.estimates = {}
        for node in self.nodes:
            own = {m: f for m, f in self.figures[node].items() if not f.is_bound}
            self.estimates[node] = self.losses_of(node, own if node in self.peer_names else {})
        by_column = list(zip(*self.estimates.values(), strict=True))
        self.deviations = [robust_deviation(column) for column in by_column]
        self.known = [len(known(column)) for column in by_column]
        counts = Counter(metric for run in self.figures.values() for metric in run)
        self.usual = [m for m in self.metrics if 2 * counts[m] > len(self.nodes)]
        self.screening = screening_limit(self.peers)
        records = {node: next(iter(run.values())).of.record for node, run in self.figures.items()}
        self.channels = {n: of.facts.memory_channels or 0 for n, of in records.items() if of}

    @property
    def setting(self) -> Case:
        return self.any[self.headline].setting

    def _estimate(self, node: str, metric: str) -> float:
        f = self.figures[node].get(metric)
        return f.value if f and not f.is_bound and node in self.peer_names else math.nan

    def losses_of(self, node: str, run: Run) -> Row:
        """By column: a measurement of a node, to the medians of its peers in the first."""
        medians = self.medians.get(node) or [
            middle(row[n] for row in self.medians.values()) for n in range(len(self.metrics))
        ]
        losses = [
            self._sign(m) * (1 - run[m].value / base) if m in run else math.nan
            for m, base in zip(self.metrics, medians, strict=True)
        ]
        if len(self.columns) > len(self.metrics):
            losses.append(sum(losses[n] for n in self.rates) / len(self.rates))
        return losses

    def _sign(self, metric: str) -> int:
        return 1 if self.any[metric].better == HIGHER else -1

    def lacks(self, node: str) -> list[str]:
        """Metrics that more than half of the nodes have, and this one has not."""
        return [m for m in self.usual if m not in self.figures[node]]

    @cached_property
    def fail_limits(self) -> Row:
        """By column the loss beyond which a node FAILs."""
        return [max(MARGIN + BEYOND * x, IN_ALL * x) for x in self.deviations]

    @cached_property
    def healthy(self) -> set[str]:
        """Whose first measurement is low in no metric."""
        rows = (
            (node, zip(row, self.low_limits, strict=True)) for node, row in self.losses.items()
        )
        return {node for node, row in rows if not any(x > y for x, y in row)}

    def facts(self, nodes: Iterable[str]) -> Facts:
        every = {id(f.of): f.of for node in nodes for f in self.figures[node].values()}
        made = [of.provenance for of in every.values()]
        return {name: Counter(known.get(name) for known in made) for name in (*BOUGHT, *LOST)}

    @cached_property
    def facts_of_healthy(self) -> Facts:
        return self.facts(self.healthy)

    @cached_property
    def most_channels(self) -> int:
        return max(self.channels.values(), default=0)

    @cached_property
    def low_limits(self) -> Row:
        """By column the loss beyond which a first measurement is low."""
        return [max(MARGIN / 2, self.screening * x) for x in self.deviations]

    def noticed(self, node: str) -> float:
        """The smallest loss of the headline that a PASS of this node would have shown: a first
        measurement that is low, and three further ones that do not clear it."""
        column, deviation = self.head, self.deviations[self.head]
        peers = self.known[column] - (self.estimates[node][column] == self.estimates[node][column])
        if deviation != deviation or peers < LEAST_NODES - 1:
            return math.inf
        first = self.low_limits[column] + noticed(peers, deviation)
        return max(first, self.fail_limits[column] + OF_THREE * deviation)
