"""A year of a fleet in numbers: what the history needs of each valid estimate, in arrays.

A record is 20 bytes and 8 of each metric here, and some 2,000 as Figures.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.results import provenance
from membw.results.record import VALID, Metric, in_common
from membw.results.table import Figure, Measurement, Setting, Table, figures_of, read_table


class Series(NamedTuple):
    """Of one metric in one setting; `values` and `builds` are nodes x nights: the median of a
    night, NaN where there is none, and a number of `Nights.builds`."""

    figure: Figure  # any one
    nodes: list[str]
    nights: list[str]
    values: NDArray
    builds: NDArray


class Nights:
    """The valid estimates of records, by setting; bounds are left out.

    `nodes`, `nights`: of all records, `builds`: keys of their provenances; each with its number.
    `most`: the measured nights of the node that has most, in one of the series that were given.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.nights: dict[str, int] = {}
        self.builds: dict[tuple, int] = {}
        self.provenances: list[dict[str, str]] = []  # by number
        self.samples: dict[str, str] = {}  # night: the fact that changed then on many nodes
        self.settings: dict[Setting, _Setting] = {}
        self.by_setting: dict[Setting, _Setting] = {}  # with the compiler, for a quick look
        self.most = 0

    def add(self, of: Measurement, metrics: Mapping[str, Metric]) -> None:
        """Those of one record."""
        assert of.record
        node = self.nodes.setdefault(of.node, len(self.nodes))
        night = self.nights.setdefault(of.night, len(self.nights))
        if of.verdict != VALID:
            return
        key = provenance.key_of(of.record)
        build = self.builds.setdefault(key, len(self.builds))
        if build == len(self.provenances):
            self.provenances.append(of.provenance)
        setting = self.by_setting.get(of.setting)
        if setting is None:
            setting = self.settings.setdefault(of.setting.conditions, _Setting())
            self.by_setting[of.setting] = setting
        setting.add(of, metrics, node, night, build)

    def sample_of(self, build: int) -> tuple:
        known = self.provenances[build]
        return tuple(known.get(name) for name in provenance.OF_SAMPLE)

    def series(self) -> Iterator[Series]:
        """One at a time: a year of a fleet is large."""
        for setting in self.settings.values():
            for metric in setting.values:
                one = self._series(setting, metric)
                self.most = max(self.most, int((~np.isnan(one.values)).sum(axis=1).max()))
                yield one

    def of_figure(self, figure: Figure) -> Series | None:
        """Of its metric and setting."""
        setting = self.settings.get(figure.setting.conditions)
        is_known = setting and figure.metric in setting.values
        return self._series(setting, figure.metric) if setting and is_known else None

    def _series(self, setting: '_Setting', metric: str) -> Series:
        column = setting.column(metric)
        is_of = ~np.isnan(column)
        node, nodes = _ordered(np.asarray(setting.node)[is_of], self.nodes)
        night, nights = _ordered(np.asarray(setting.night)[is_of], self.nights)
        cell, count = node * np.int32(len(nights)) + night, len(nodes) * len(nights)
        builds, medians = np.full(count, -1, dtype=np.int32), np.full(count, np.nan)
        by_time = np.argsort(np.asarray(setting.time)[is_of], kind='stable')
        builds[cell[by_time]] = np.asarray(setting.build)[is_of][by_time]
        del node, night, by_time
        values = column[is_of]
        order = np.lexsort((values, cell))
        cell, values = cell[order], values[order]
        begins = np.flatnonzero(np.diff(cell, prepend=-1))
        counts = np.diff(begins, append=len(cell))
        medians[cell[begins]] = values[begins + (counts - 1) // 2]
        shape = len(nodes), len(nights)
        figure = setting.first[metric]
        return Series(figure, nodes, nights, medians.reshape(shape), builds.reshape(shape))


class _Setting:
    """Rows are records."""

    def __init__(self) -> None:
        self.node, self.night, self.build = array('I'), array('I'), array('I')
        self.time = array('d')
        self.values: dict[str, array] = {}  # by metric; NaN at the end may be lacking
        self.first: dict[str, Figure] = {}

    def add(
        self, of: Measurement, metrics: Mapping[str, Metric], node: int, night: int, build: int
    ) -> None:
        known, count = self.values, len(self.node)
        for name, metric in metrics.items():
            if metric.bound or metric.value is None:
                continue
            values = known.get(name)
            if values is None:
                assert of.record
                self.first[name] = figures_of(of.record)[name]
                values = known[name] = array('d')
            if len(values) < count:
                values.extend([np.nan] * (count - len(values)))
            values.append(metric.value * in_common(metric.unit)[1])
        self.node.append(node)
        self.night.append(night)
        self.build.append(build)
        self.time.append(of.time)

    def column(self, metric: str) -> NDArray:
        values = np.asarray(self.values[metric])
        lacking = len(self.node) - len(values)
        return np.concatenate([values, np.full(lacking, np.nan)]) if lacking else values


def _ordered(numbers: NDArray, known: dict[str, int]) -> tuple[NDArray, list[str]]:
    """(places in the names, the names that occur, sorted)."""
    names = list(known)
    used = np.flatnonzero(np.bincount(numbers)).tolist()
    used.sort(key=names.__getitem__)
    place = np.zeros(len(names), dtype=np.int32)
    place[used] = np.arange(len(used))
    return place[numbers], [names[i] for i in used]


def read_nights(paths: Sequence[str], newest_s: float = 0.0) -> tuple[Table, Nights]:
    """The nights of record files and folders, and a table of the figures of the last seconds."""
    nights = Nights()
    return read_table(paths, newest_s, nights.add), nights
