"""A year of a fleet in numbers: what the history needs of each valid estimate, in arrays.

A record is 28 bytes and 8 of each metric here, and some 2,000 as Figures.
"""

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from membw.results.regimes import states
from membw.results.table import Figure, Table, conditions, read_table


class Series(NamedTuple):
    """Of one metric in one setting and one state of the host; `values` and `builds` are nodes x
    nights: the median of a night, NaN where there is none, and a number of `Nights.builds`."""

    figure: Figure  # any one
    nodes: list[str]
    nights: list[str]
    values: NDArray
    builds: NDArray


class Nights:
    """The valid estimates of records, by setting; lower bounds are left out.

    `nodes`, `nights`: of all figures, `builds`: keys of their provenances; each with its number.
    `most`: the measured nights of the node that has most, in one of the series that were given.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.nights: dict[str, int] = {}
        self.builds: dict[str, int] = {}
        self.provenances: dict[str, dict[str, str]] = {}
        self.settings: dict[str, _Setting] = {}
        self.most = 0

    def add(self, figures: Sequence[Figure]) -> None:
        """Those of one record."""
        one = figures[0]
        names = (self.nodes, one.node), (self.nights, one.night), (self.builds, one.provenance)
        place = [numbers.setdefault(name, len(numbers)) for numbers, name in names]
        if valid := [f for f in figures if f.verdict == 'VALID' and not f.is_bound]:
            name = conditions(valid[0])
            self.settings.setdefault(name, _Setting()).add(valid, *place)

    def series(self) -> Iterator[Series]:
        """One at a time: a year of a fleet is large."""
        for setting in self.settings.values():
            of = setting.states()
            for metric in setting.values:
                known = ~np.isnan(setting.column(metric))
                for state in np.unique(of[known]):
                    one = self._series(setting, metric, known & (of == state))
                    self.most = max(self.most, int((~np.isnan(one.values)).sum(axis=1).max()))
                    yield one

    def of_figure(self, figure: Figure) -> Series | None:
        """Of its metric and setting, in all states of the host."""
        setting = self.settings.get(conditions(figure))
        if not setting or figure.metric not in setting.values:
            return None
        return self._series(setting, figure.metric, ~np.isnan(setting.column(figure.metric)))

    def provenance(self, number: int) -> dict[str, str]:
        return self.provenances[list(self.builds)[number]]

    def _series(self, setting: '_Setting', metric: str, is_of: NDArray) -> Series:
        node, nodes = _ordered(np.asarray(setting.node)[is_of], self.nodes)
        night, nights = _ordered(np.asarray(setting.night)[is_of], self.nights)
        cell, count = node * np.int32(len(nights)) + night, len(nodes) * len(nights)
        builds, medians = np.full(count, -1, dtype=np.int32), np.full(count, np.nan)
        by_time = np.argsort(np.asarray(setting.time)[is_of], kind='stable')
        builds[cell[by_time]] = np.asarray(setting.build)[is_of][by_time]
        del node, night, by_time
        values = setting.column(metric)[is_of]
        order = np.lexsort((values, cell))
        cell, values = cell[order], values[order]
        begins = np.flatnonzero(np.diff(cell, prepend=-1))
        counts = np.diff(begins, append=len(cell))
        low, high = (values[begins + place] for place in ((counts - 1) // 2, counts // 2))
        medians[cell[begins]] = (low + high) / 2
        shape = len(nodes), len(nights)
        figure = setting.first[metric]
        return Series(figure, nodes, nights, medians.reshape(shape), builds.reshape(shape))


class _Setting:
    """Rows are records."""

    def __init__(self) -> None:
        self.node, self.night, self.build = array('I'), array('I'), array('I')
        self.time, self.pair_ns = array('d'), array('d')
        self.values: dict[str, array] = {}  # by metric; NaN at the end may be lacking
        self.first: dict[str, Figure] = {}

    def add(self, figures: Sequence[Figure], node: int, night: int, build: int) -> None:
        for f in figures:
            values = self.values.setdefault(f.metric, array('d'))
            values.extend([np.nan] * (len(self.node) - len(values)))
            values.append(f.value)
            self.first.setdefault(f.metric, f)
        self.node.append(node)
        self.night.append(night)
        self.build.append(build)
        self.time.append(figures[0].time)
        self.pair_ns.append(figures[0].pair_ns)

    def column(self, metric: str) -> NDArray:
        values = np.asarray(self.values[metric])
        lacking = len(self.node) - len(values)
        return np.concatenate([values, np.full(lacking, np.nan)]) if lacking else values

    def states(self) -> NDArray:
        """Of each row: a number; 0 where the state of the host is not known, or there is one."""
        latencies = np.asarray(self.pair_ns)
        lows = [low for low, _ in states(np.unique(latencies).tolist())]
        return np.searchsorted(lows, latencies, side='right')


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
    table = read_table(paths, newest_s, nights.add)
    nights.provenances = table.provenances
    return table, nights
