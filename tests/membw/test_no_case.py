"""What holds of any fleet, by seeds: each has a shape of noise of tests/evidence/memory.py, a few
nodes that lost something, some nights, and runs of a few nodes after those of the newest night."""

import importlib.util
import random
import re

import made_up_records as made
import numpy as np
import pytest
from places import ROOT

from membw.rank.judge import judge
from membw.results.newest import newest
from membw.results.table import Figure, Measurement
from membw.words import GOOD

SPEC = importlib.util.spec_from_file_location('memory', ROOT / 'tests/evidence/memory.py')
memory = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(memory)
LOSSES = (0.03, 0.05, 0.08, 0.15, 0.4)
CLEAR = 0.15  # more than one channel of twelve, which a PASS would have shown
SEEDS = range(60)


class Fleet:
    """Rates by (node, time): four kernels. `lost`: the nodes that lost something, and how much."""

    def __init__(self, seed, nights=(1, 1, 4, 7)):
        self.rng = rng = np.random.default_rng(seed)
        fleet = memory.Fleet(rng.choice([*memory.SHAPES]), rng, int(rng.integers(5, 24)))
        self.names = [made.name(n) for n in range(1, fleet.nodes + 1)]
        low = rng.permutation(self.names)[: rng.integers(0, fleet.nodes // 2)]
        self.lost = {node: float(rng.choice(LOSSES)) for node in low.tolist()}
        for node, loss in self.lost.items():
            fleet.share[self.names.index(node)] *= 1 - loss
        again = {*low[:3], *rng.permutation(self.names)[:4]}
        nights, more = int(rng.choice(nights)), int(rng.integers(0, 5))
        times = [made.DAY * night for night in range(nights)]
        times += [times[-1] + 600 * n for n in range(1, more + 1)]
        self.rates = {
            (node, time): row
            for n, time in enumerate(times)
            for node, row in zip(self.names, fleet.runs(n >= nights), strict=True)
            if node in again or n < nights
        }

    def words(self, rates=None):
        return words(figures(rates or self.rates))

    def sound(self):
        """The median of the nodes that lost nothing, at each time."""
        by_time = {}
        for (node, time), row in self.rates.items():
            if node not in self.lost:
                by_time.setdefault(time, []).append(row)
        return {('n999', time): np.median(rows, axis=0) for time, rows in by_time.items()}


def figures(rates):
    return [
        Figure(kernel, float(value), 'GB/s', of=of, is_headline=kernel == 'triad')
        for (node, time), row in rates.items()
        for of in [Measurement(node=node, time=time)]
        for kernel, value in zip(memory.KERNELS, row, strict=True)
    ]


def words(every):
    """{node: (word, whether it is what the fleet could not show, and not the node)}."""
    first, again, _, before = newest(every, {})
    verdicts = judge(first, again, before).verdicts
    return {v.node: (v.verdict, 'insensitive' in {f.code for f in v.findings}) for v in verdicts}


def test_the_order_of_figures_changes_no_word():
    for seed in SEEDS:
        fleet = Fleet(seed)
        every = figures(fleet.rates)
        other = [every[n] for n in fleet.rng.permutation(len(every))]
        assert words(other) == fleet.words(), seed


def test_a_worse_figure_clears_no_node_that_was_not_clear():
    """The scatter of a fleet is of all its figures: what that hides is no word about the node."""
    for seed in SEEDS:
        fleet = Fleet(seed)
        before = fleet.words()
        for place in fleet.rng.permutation(len(fleet.rates))[:8].tolist():
            at = [*fleet.rates][place]
            row, kernel = fleet.rates[at].copy(), fleet.rng.choice(5)
            row[kernel if kernel < 4 else slice(4)] *= 1 - fleet.rng.choice(
                [0.005, 0.02, 0.1, 0.5]
            )
            word, is_of_fleet = before[at[0]]
            now = fleet.words({**fleet.rates, at: row})[at[0]][0]
            assert word in GOOD or is_of_fleet or now not in GOOD, (seed, at, kernel)


def test_a_peer_more_or_less_clears_no_node_that_lost_something():
    cleared = 0
    for seed in SEEDS:
        fleet = Fleet(seed)
        before = fleet.words()
        others = [fleet.rates | fleet.sound()]
        for gone in fleet.rng.permutation(fleet.names)[:3]:
            others.append({at: row for at, row in fleet.rates.items() if at[0] != gone})
        for rates in others:
            now = fleet.words(rates)
            for node, loss in fleet.lost.items():
                if loss >= CLEAR and node in now and before[node][0] not in GOOD:
                    assert now[node][0] not in GOOD, (seed, node)
                    cleared += 1
    assert cleared > len(SEEDS)  # it was asked


@pytest.fixture(scope='module')
def records():
    """Of a fleet of 20 nights, and of one with further runs and each word."""
    fleets = [Fleet(1, nights=(20,)), Fleet(8)]
    return [
        [
            made.record(
                node,
                time / made.DAY,
                made.stream(dict(zip(made.KERNELS, row.tolist(), strict=True))),
            )
            for (node, time), row in fleet.rates.items()
        ]
        for fleet in fleets
    ]


MOUTHS = (['rank'], ['why', 'n001'], ['history'], ['export'], ['export', '--format', 'csv'])
PER_GB = {'GB/s': 1, 'MB/s': 1000, 'GiB/s': 1 / 1.073741824, 'MiB/s': 1000 / 1.048576}


def in_unit(row, unit):
    factor = PER_GB[unit]
    rows = {name: {**m, 'unit': unit, **{k: factor * m[k] for k in ('value', 'low', 'high')}}
            for name, m in row['metrics'].items()}  # fmt: skip
    return {**row, 'metrics': rows}


@pytest.mark.parametrize('words', MOUTHS, ids=' '.join)
def test_neither_order_of_lines_nor_unit_changes_what_is_said(stored, membw, records, words):
    chance = random.Random(1)
    for rows in records:

        def said(lines):
            status, out, err = membw(*words, stored(lines))
            assert not err
            out = re.sub(r'[\d.]{12,}', lambda number: f'{float(number[0]):.9g}', out)
            return status, sorted(out.splitlines())

        one = said(rows)
        assert said(chance.sample(rows, len(rows))) == one
        assert said([in_unit(row, 'MB/s') for row in rows]) == one
        assert said([in_unit(row, chance.choice([*PER_GB])) for row in rows]) == one
