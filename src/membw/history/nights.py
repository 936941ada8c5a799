"""A year of a fleet in numbers: what the history needs of each valid estimate, in arrays.

A record is 20 bytes here and 8 for each figure, and some 5,000 as a Record.
"""

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.results import provenance
from membw.results.case import Case
from membw.results.figure import Figure, Measurement, figure_of
from membw.results.record import RATES, Metric
from membw.results.site_tests import Wanted
from membw.results.table import Table, read_table
from membw.words import VALID


class Series(NamedTuple):
    """Of one metric in one setting; `values` and `builds` are nodes x nights: the lower median of
    a night, NaN where there is none, and of one of its runs the number in `Nights.provenances`,
    -1."""

    figure: Figure  # any one
    nodes: list[str]
    nights: list[str]
    values: NDArray
    builds: NDArray


class Runs:
    """The runs in one setting, in columns: a column of values per metric, NaN: no estimate."""

    def __init__(self) -> None:
        self.node, self.night, self.build = array('I'), array('I'), array('I')
        self.figures: dict[str, Figure] = {}  # the first of each metric
        self.values: dict[str, array[float]] = {}


class Part(NamedTuple):
    """A node in one setting, and when it was measured: days as numbers, and how many nights."""

    setting: Case  # of the first run of any node, with the compiler
    runs: Runs
    node: str
    first: int
    last: int
    nights: int

    @property
    def gap(self) -> float:
        """Usual, from night to night: of what is measured weekly 7."""
        return (self.last - self.first) / max(self.nights - 1, 1)


class Nights:
    """The valid estimates of records; bounds are left out.

    `nodes`, `nights`: of all records, `builds`: keys of their provenances; each with its number.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.nights: dict[str, int] = {}
        self.builds: dict[tuple, int] = {}
        self.provenances: list[dict[str, str]] = []  # by number
        self.kept: list[object] = []  # so that nothing else gets an id that a key of builds has
        self.runs: defaultdict[Case, Runs] = defaultdict(Runs)  # by series, without the node

    def add(self, of: Measurement, metrics: Mapping[str, Metric]) -> None:
        """Those of one run."""
        assert of.record
        node = self.nodes.setdefault(of.node, len(self.nodes))
        night = self.nights.setdefault(of.night, len(self.nights))
        if of.verdict != VALID:
            return
        build = self.builds.setdefault(provenance.key_of(of.record), len(self.builds))
        if build == len(self.provenances):
            self.provenances.append(of.provenance)
            self.kept += [of.record.facts, of.record.build]
        values = {
            name: metric.value * RATES.get(metric.unit, 1.0)
            for name, metric in metrics.items()
            if metric.value is not None and not metric.bound
        }
        if not values:
            return
        runs = self.runs[of.setting.series]
        for name in values:
            if name not in runs.values:
                runs.figures[name] = figure_of(of, name, metrics[name])
                runs.values[name] = array('d', [math.nan]) * len(runs.node)
        for name, column in runs.values.items():
            column.append(values.get(name, math.nan))
        runs.node.append(node)
        runs.night.append(night)
        runs.build.append(build)

    def series(self) -> Iterator[Series]:
        """One at a time: a year of a fleet is large."""
        for runs, metric in ((own, name) for own in self.runs.values() for name in own.values):
            yield self.of(runs, metric)

    def of_figure(self, figure: Figure) -> Series | None:
        """Of its metric and setting."""
        runs = self.runs.get(figure.setting.series)
        return self.of(runs, figure.metric) if runs and figure.metric in runs.values else None

    def parts(self) -> list[Part]:
        """Of each setting each node."""
        days = np.array([date.fromisoformat(night).toordinal() for night in self.nights])
        names, found = list(self.nodes), []
        for runs in self.runs.values():
            of = next(iter(runs.figures.values())).setting
            night = days[np.asarray(runs.night)]
            pairs = np.unique(np.asarray(runs.node, dtype=np.int64) << 32 | night)
            node, day = pairs >> 32, pairs & 0xFFFFFFFF
            begins = np.flatnonzero(np.diff(node, prepend=-1)).tolist()
            for begin, end in zip(begins, [*begins[1:], len(node)], strict=True):
                when = int(day[begin]), int(day[end - 1]), end - begin
                found.append(Part(of, runs, names[node[begin]], *when))
        return found

    def of(self, runs: Runs, metric: str) -> Series:
        own = np.flatnonzero(~np.isnan(runs.values[metric])).astype(np.int32)
        node, nodes = _ordered(np.asarray(runs.node)[own], self.nodes)
        night, nights = _ordered(np.asarray(runs.night)[own], self.nights)
        shape = len(nodes), len(nights)
        cell = node * np.int32(len(nights)) + night
        del node, night
        builds = np.full(shape, -1, dtype=np.int32)
        builds.flat[cell] = np.asarray(runs.build)[own]
        values = _low_medians(cell, shape, np.asarray(runs.values[metric])[own])
        return Series(runs.figures[metric], nodes, nights, values, builds)


def _low_medians(cell: NDArray, shape: tuple[int, int], values: NDArray) -> NDArray:
    """Of each cell the lower median of its runs; NaN of none."""
    medians = np.full(shape, np.nan)
    order = np.lexsort((values, cell))
    cell, values = cell[order], values[order]
    begins = np.flatnonzero(np.diff(cell, prepend=-1))
    counts = np.diff(begins, append=len(cell))
    medians.flat[cell[begins]] = values[begins + (counts - 1) // 2]
    return medians


def _ordered(numbers: NDArray, known: dict[str, int]) -> tuple[NDArray, list[str]]:
    """(places in the names, the names that occur, sorted)."""
    names = list(known)
    used = sorted(np.flatnonzero(np.bincount(numbers)).tolist(), key=names.__getitem__)
    place = np.zeros(len(names), dtype=np.int32)
    place[used] = np.arange(len(used))
    return place[numbers], [names[i] for i in used]


def read_nights(
    paths: Sequence[str], newest_s: float = 0.0, wanted: Wanted = Wanted()
) -> tuple[Table, Nights]:
    """The nights of record files and folders, and a table of the figures of the last seconds."""
    nights = Nights()
    table = read_table(paths, newest_s, lambda run: nights.add(run.of, run.metrics), wanted)
    return table, nights
