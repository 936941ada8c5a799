"""A year of a fleet in numbers: what the history needs of each valid estimate, in arrays.

A figure is 28 bytes here, and some 500 as a Figure of a Record.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.results import provenance
from membw.results.others import Wanted
from membw.results.record import VALID, Metric, in_common
from membw.results.table import Figure, Measurement, Setting, Table, figures_of, read_table


class Series(NamedTuple):
    """Of one metric in one setting; `values` and `builds` are nodes x nights: the lower median of
    a night, NaN where there is none, and a number of `Nights.provenances`, -1."""

    figure: Figure  # any one
    nodes: list[str]
    nights: list[str]
    values: NDArray
    builds: NDArray


class _Column:
    """The valid estimates of one metric in one setting."""

    def __init__(self, figure: Figure) -> None:
        self.figure = figure  # the first
        self.node, self.night, self.build = array('I'), array('I'), array('I')
        self.time, self.values = array('d'), array('d')


class Nights:
    """The valid estimates of records; bounds are left out.

    `nodes`, `nights`: of all records, `builds`: keys of their provenances; each with its number.
    `most`: the measured nights of the node that has most, in one of the series that were given.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.nights: dict[str, int] = {}
        self.builds: dict[tuple, int] = {}
        self.provenances: list[dict[str, str]] = []  # by number
        self.kept: list[object] = []  # so that nothing else gets an id that a key of builds has
        self.samples: dict[str, str] = {}  # night: the fact that changed then on many nodes
        self.columns: dict[Setting, dict[str, _Column]] = {}  # by metric
        self.by_setting: dict[Setting, dict[str, _Column]] = {}  # with the compiler: the same
        self.most = 0

    def add(self, of: Measurement, metrics: Mapping[str, Metric]) -> None:
        """Those of one record."""
        assert of.record
        node = self.nodes.setdefault(of.node, len(self.nodes))
        night = self.nights.setdefault(of.night, len(self.nights))
        if of.verdict != VALID:
            return
        build = self.builds.setdefault(provenance.key_of(of.record), len(self.builds))
        if build == len(self.provenances):
            self.provenances.append(of.provenance)
            self.kept += [of.record.facts, of.record.build]
        columns = self.by_setting.get(of.setting)
        if columns is None:
            columns = self.columns.setdefault(of.setting.conditions, {})
            self.by_setting[of.setting] = columns
        for name, metric in metrics.items():
            if metric.bound or metric.value is None:
                continue
            column = columns.get(name)
            if column is None:
                column = columns[name] = _Column(figures_of(of.record)[name])
            column.node.append(node)
            column.night.append(night)
            column.build.append(build)
            column.time.append(of.time)
            column.values.append(metric.value * in_common(metric.unit)[1])

    def series(self) -> Iterator[Series]:
        """One at a time: a year of a fleet is large."""
        for column in (one for columns in self.columns.values() for one in columns.values()):
            one = self._series(column)
            self.most = max(self.most, int((~np.isnan(one.values)).sum(axis=1).max()))
            yield one

    def of_figure(self, figure: Figure) -> Series | None:
        """Of its metric and setting."""
        column = self.columns.get(figure.setting.conditions, {}).get(figure.metric)
        return self._series(column) if column else None

    def _series(self, column: _Column) -> Series:
        node, nodes = _ordered(np.asarray(column.node), self.nodes)
        night, nights = _ordered(np.asarray(column.night), self.nights)
        cell, count = node * np.int32(len(nights)) + night, len(nodes) * len(nights)
        builds, medians = np.full(count, -1, dtype=np.int32), np.full(count, np.nan)
        by_time = np.argsort(np.asarray(column.time), kind='stable')
        builds[cell[by_time]] = np.asarray(column.build)[by_time]
        values = np.asarray(column.values)
        order = np.lexsort((values, cell))
        cell, values = cell[order], values[order]
        begins = np.flatnonzero(np.diff(cell, prepend=-1))
        counts = np.diff(begins, append=len(cell))
        medians[cell[begins]] = values[begins + (counts - 1) // 2]
        shape = len(nodes), len(nights)
        return Series(column.figure, nodes, nights, medians.reshape(shape), builds.reshape(shape))


def _ordered(numbers: NDArray, known: dict[str, int]) -> tuple[NDArray, list[str]]:
    """(places in the names, the names that occur, sorted)."""
    names = list(known)
    used = np.flatnonzero(np.bincount(numbers)).tolist()
    used.sort(key=names.__getitem__)
    place = np.zeros(len(names), dtype=np.int32)
    place[used] = np.arange(len(used))
    return place[numbers], [names[i] for i in used]


def read_nights(
    paths: Sequence[str], newest_s: float = 0.0, wanted: Wanted = Wanted()
) -> tuple[Table, Nights]:
    """The nights of record files and folders, and a table of the figures of the last seconds."""
    nights = Nights()
    return read_table(paths, newest_s, nights.add, wanted), nights
