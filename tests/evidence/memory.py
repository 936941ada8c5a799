"""How often rank errs where noise has a memory: memory.csv, of which docs/judging.md has a table.

python tests/evidence/memory.py FLEETS NODES [SHAPE ...]     (200 63 "own value"): its rows

Noise of a run is 0.5 % (one standard deviation), half of its variance common to its kernels. A
FAIL is wrong where the node's true value lies within 3 % of the true median of the fleet. Nodes
are r01c1n01 ...: 16 to a rack, 4 to a chassis.
"""

import csv
import sys
from math import comb
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'src'))

from membw.rank.judge import judge  # noqa: E402
from membw.results.table import Figure, Measurement  # noqa: E402

KERNELS = ('copy', 'scale', 'add', 'triad')
NOISE = 0.005


class Fleet:
    """`share`: of the usual rate per node, true for good; `now()`: what changes by the hour."""

    def __init__(self, rng: np.random.Generator, nodes: int) -> None:
        self.rng, self.nodes = rng, nodes
        self.share = np.ones(nodes)

    def now(self, again: bool) -> np.ndarray:
        """Factors of all nodes in a run."""
        return np.ones(self.nodes)

    def runs(self, again: bool) -> np.ndarray:
        noise = self.rng.normal(size=(self.nodes, 1)) + self.rng.normal(size=(self.nodes, 4))
        return 100 * (self.share * self.now(again))[:, None] * (1 + NOISE * noise / np.sqrt(2))


def own(deviation: float) -> type[Fleet]:
    class Own(Fleet):
        def __init__(self, rng, nodes):
            super().__init__(rng, nodes)
            self.share = 1 + deviation * rng.normal(size=nodes)

    return Own


class LeftTail(Fleet):
    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 - 0.007 / np.sqrt(2) * (rng.gamma(2, 1, nodes) - 2)


class Chassis(Fleet):
    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + 0.006 * rng.normal(size=nodes)[np.arange(nodes) // 4]


class HotRack(Fleet):
    """A rack is 3.5 % down tonight, in 8 of 10 cases still at the retest."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.is_hot = np.arange(nodes) // 16 == rng.integers(max(nodes // 16, 1))
        self.stays = rng.random() < 0.8

    def now(self, again):
        hot = self.is_hot & (self.stays or not again)
        return 1 - 0.035 * hot * (self.nodes > 16)


class Hour(Fleet):
    """Retests are by day: all nodes are 1 +- 1 % slower."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + 0.003 * rng.normal(size=nodes)
        self.shift = -0.01 + 0.01 * rng.normal()

    def now(self, again):
        return np.full(self.nodes, 1 + self.shift * again)


class Neighbour(Fleet):
    """2 % of the nodes have one that no /proc/stat shows: -6 %, in 6 of 10 still at the retest."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.is_shared = rng.random(nodes) < 0.02
        self.stays = rng.random(nodes) < 0.6

    def now(self, again):
        return 1 - 0.06 * (self.is_shared & (self.stays | (not again)))


# written when the rules of November stood (each of three beyond the margin)
class Firmware(Fleet):
    """All nodes are 4 % slower after an update between the two."""

    def now(self, again):
        return np.full(self.nodes, 1 - 0.04 * again)


class Warm(Fleet):
    """Each node drifts by itself: the retest's own values have a correlation of 0.5 with 0.6 %."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.first, self.later = (0.006 * rng.normal(size=nodes) for _ in range(2))

    def now(self, again):
        return 1 + (0.5 * self.first + np.sqrt(0.75) * self.later if again else self.first)


class Restart(Fleet):
    """Each run has its own page layout: 0.8 %, equal in the runs of one boot."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + 0.008 * rng.uniform(-1, 1, nodes)


class Batches(Fleet):
    """A tenth of the nodes has other memory modules: -1.5 %."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 - 0.015 * (rng.random(nodes) < 0.1) + 0.003 * rng.normal(size=nodes)


class Slope(Fleet):
    """The upper nodes of each rack are warmer: 0 to -1.5 % over 16."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 - 0.015 * (np.arange(nodes) % 16) / 15 + 0.002 * rng.normal(size=nodes)


# written when the rule had one robust deviation beyond the margin, where it has half of one now
class Drift(Fleet):
    """Each node falls by 1 +- 0.5 % until the retest."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + 0.003 * rng.normal(size=nodes)
        self.fall = 0.01 + 0.005 * rng.normal(size=nodes)

    def now(self, again):
        return 1 - self.fall * again


class HeavyTails(Fleet):
    """Student's t3 of 1 % in each run, beside the noise of all."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + 0.003 * rng.normal(size=nodes)

    def now(self, again):
        return 1 + 0.01 * self.rng.standard_t(3, self.nodes) / np.sqrt(3)


class BimodalRack(Fleet):
    """Half of the runs in one rack (of small fleets: chassis) are 4 % slower."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        size = 16 if nodes > 16 else 4
        self.is_bimodal = np.arange(nodes) // size == rng.integers(max(nodes // size, 1))

    def now(self, again):
        return 1 - 0.04 * self.is_bimodal * (self.rng.random(self.nodes) < 0.5)


class Blades(Fleet):
    """Two share their power: one of each pair is 1.5 % slower, in 7 of 10 cases the same again."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + 0.004 * rng.normal(size=nodes)[np.arange(nodes) // 2]
        self.slower = rng.integers(2, size=nodes)[np.arange(nodes) // 2]

    def now(self, again):
        if again:
            new = self.rng.integers(2, size=self.nodes)[np.arange(self.nodes) // 2]
            keeps = (self.rng.random(self.nodes) < 0.7)[np.arange(self.nodes) // 2]
            self.slower = np.where(keeps, self.slower, new)
        return 1 - 0.015 * (np.arange(self.nodes) % 2 == self.slower)


class Rollout(Fleet):
    """A third of the nodes has a firmware that costs 2 %."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 - 0.02 * (rng.random(nodes) < 1 / 3) + 0.003 * rng.normal(size=nodes)


# written when the rules stood as they are now, and nothing was changed after
class Daemon(Fleet):
    """One run of ten is 3 % slower."""

    def now(self, again):
        return 1 - 0.03 * (self.rng.random(self.nodes) < 0.1)


class Ages(Fleet):
    """Own values of 0.3 %, of 3 nodes in 10 of 1 %."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 + np.where(rng.random(nodes) < 0.3, 0.01, 0.003) * rng.normal(size=nodes)


class ClockSteps(Fleet):
    """Half of the nodes has a memory clock that is 1.2 % lower."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.share = 1 - 0.012 * rng.integers(2, size=nodes)


class ChassisLater(Fleet):
    """At the retest each chassis of 4 is 1 +- 0.6 % slower."""

    def __init__(self, rng, nodes):
        super().__init__(rng, nodes)
        self.fall = (0.01 + 0.006 * rng.normal(size=nodes))[np.arange(nodes) // 4]

    def now(self, again):
        return 1 - self.fall * again


class FirstRun(Fleet):
    """The first run is slower: exponential, 0.8 %."""

    def now(self, again):
        return 1 - 0.008 * self.rng.exponential(size=self.nodes) * (not again)


SHAPES = {
    'own value of each node, 0.3 %': own(0.003),
    'own value, 0.6 %': own(0.006),
    'own value, 1 %': own(0.01),
    'own value, a tail of slower nodes (gamma, 0.7 %)': LeftTail,
    'chassis of 4 share 0.6 %': Chassis,
    'a rack of 16 is 3.5 % down': HotRack,
    'the hour: all nodes 1 +- 1 % slower at the retest': Hour,
    'a neighbour that no /proc/stat shows: 2 % of nodes at -6 %': Neighbour,
    'all nodes 4 % slower at the retest': Firmware,
    'warm nodes: own values of the hour, 0.6 %': Warm,
    'page layout of each boot, 0.8 %': Restart,
    'a tenth of the nodes has slower modules, -1.5 %': Batches,
    'slope of 1.5 % in each rack': Slope,
    'each node falls by 1 +- 0.5 % until the retest': Drift,
    "heavy tails: Student's t3 of 1 % in each run": HeavyTails,
    'half of the runs in one rack are 4 % slower': BimodalRack,
    'one of each two blades is 1.5 % slower, mostly the same one': Blades,
    'a firmware that costs 2 % on a third of the nodes': Rollout,
    'one run of ten is 3 % slower': Daemon,
    'own values of 0.3 %, of 3 nodes in 10 of 1 %': Ages,
    'half of the nodes has a memory clock 1.2 % lower': ClockSteps,
    'each chassis is 1 +- 0.6 % slower at the retest': ChassisLater,
    'the first run is slower: exponential, 0.8 %': FirstRun,
}


def figures(fleet: Fleet, names: list[str], keep: set[str], when: float) -> list[Figure]:
    values = fleet.runs(again=when > 0)
    made = []
    for node, row in zip(names, values, strict=True):
        if node in keep:
            of = Measurement(node=node, time=when)
            made += [
                Figure(kernel, float(value), 'GB/s', of=of, is_headline=kernel == 'triad')
                for kernel, value in zip(KERNELS, row, strict=True)
            ]
    return made


def fails(fleet: Fleet) -> tuple[set[str], set[str]]:
    """(nodes that FAIL, those of them that are truly within 3 %)."""
    names = [f'r{i // 16 + 1:02d}c{i % 16 // 4 + 1}n{i % 4 + 1:02d}' for i in range(fleet.nodes)]
    first = figures(fleet, names, set(names), 0.0)
    one = judge(first)
    low = {node for nodes in one.low.values() for node in nodes}
    if not low:
        return set(), set()
    keep = low | {node for nodes in one.controls.values() for node in nodes}
    again = [f for when in (1.0, 2.0, 3.0) for f in figures(fleet, names, keep, when)]
    found = {v.node for v in judge(first, again).verdicts if v.verdict == 'FAIL'}
    truth = fleet.share / np.median(fleet.share)
    return found, {n for n, t in zip(names, truth, strict=True) if n in found and t > 0.97}


def at_most(hits: int, of: int, share: float) -> float:
    """The chance of so many hits or fewer."""
    return sum(comb(of, i) * share**i * (1 - share) ** (of - i) for i in range(hits + 1))


def interval(hits: int, of: int) -> list[str]:
    """Percent, and the ends of its 95 % interval (Clopper and Pearson), by bisection."""

    def end(chance, target: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if chance(middle) > target else (low, middle)
        return low

    low = end(lambda share: at_most(hits - 1, of, share), 0.975) if hits else 0.0
    high = end(lambda share: at_most(hits, of, share), 0.025) if hits < of else 1.0
    return [f'{100 * share:.2g}' if share < 0.1 else f'{100 * share:.0f}'
            for share in (hits / of, low, high)]  # fmt: skip


def row(shape: type[Fleet], nodes: int, fleets: int) -> list[str]:
    rng, wrong, found = np.random.default_rng(1), 0, []
    for _ in range(fleets):
        wrong += bool(fails(shape(rng, nodes))[1])
    times = min(fleets, 60 if nodes < 500 else 15)
    for loss in (0.04, 0.05):
        hits = 0
        for _ in range(times):
            fleet = shape(rng, nodes)
            fleet.share[0] = np.median(fleet.share) * (1 - loss)
            hits += 'r01c1n01' in fails(fleet)[0]
        found.append(interval(hits, times))
    return [*interval(wrong, fleets), found[0][0], *found[1]]


def main(fleets: int, nodes: int, shapes: list[str]) -> None:
    out = csv.writer(sys.stdout, lineterminator='\n')
    for name, shape in SHAPES.items():
        if not shapes or any(part in name for part in shapes):
            out.writerow([name, nodes, *row(shape, nodes, fleets)])
            sys.stdout.flush()


if __name__ == '__main__':
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
