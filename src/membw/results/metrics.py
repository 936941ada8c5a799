"""What a figure is: its name, its unit, and whether more or less of it is better.

Whoever judges sees rates only: the figure itself where more is better, 1 / figure where less is.
The larger a rate, the better, whatever was measured; so no rule asks for a direction.  Figures
become rates where a record is read, and figures again where something is shown or written.
"""

import math
from functools import lru_cache
from typing import NamedTuple

from membw.printable import printable

HIGHER, LOWER = 'higher', 'lower'
# In what the record of a kernel may be, and what is shown everywhere: 10^9 B/s.
SHOWN_AS = {'MB/s': ('GB/s', 1000), 'B/s': ('GB/s', 1e9)}


class Metric(NamedTuple):
    """One measured quantity; a bandwidth where nothing else is said."""

    name: str
    unit: str = 'GB/s'
    better: str = HIGHER

    def rate(self, figure):
        return figure if self.better == HIGHER else 1 / figure

    def figure(self, rate):
        """Of a rate, or of a ratio of two rates; numbers or arrays."""
        return rate if self.better == HIGHER else 1 / rate

    def percent(self, ratio):
        """'+5.0%' of the figure, from a ratio of two rates."""
        return f'{self.figure(ratio) - 1:+.1%}'

    @property
    def is_bandwidth(self):
        return self.unit == 'GB/s'

    @property
    def is_rate(self):
        """So much per second: never near zero, so that a part of it says something."""
        return self.better == HIGHER and self.unit.endswith('/s')

    @property
    def adds(self):
        """Rates add up over the ranks of a node; of anything else the mean counts."""
        return self.is_rate

    @property
    def title(self):
        return f'{self.name.capitalize()}, {self.unit}'


def default(names):
    """Metrics of bandwidths that nothing but their names is known of."""
    return tuple(Metric(name) for name in names)


def common_unit(metrics):
    """The unit that all have; '' where they differ."""
    units = {metric.unit for metric in metrics}
    return units.pop() if len(units) == 1 else ''


def heads(metrics):
    """Titles of columns; with the unit where the units differ."""
    common = common_unit(metrics)
    return [m.name.capitalize() if common else m.title for m in metrics]


def of_record(data):
    """({name: figure}, metrics) of a record's JSON object, in its order.

    A record of before there were metrics has `kernels`, each with the `best_mbs` of its bandwidth.
    """
    rows = data['metrics'] if 'metrics' in data else _of_kernels(data['kernels'])
    figures, metrics = {}, []
    for name, row in rows.items():
        metric, divisor = _metric(name, row['unit'], row['better'])
        figures[name] = float(row['value']) / divisor
        metrics.append(metric)
    return figures, tuple(metrics)


@lru_cache
def _metric(name, unit, better):
    """(as it is shown, what its figure is divided by then)."""
    unit, divisor = SHOWN_AS.get(unit, (unit, 1))
    if printable(unit) != unit:
        raise ValueError(f"metric '{name}' has the unit {ascii(unit)[:40]}")
    if better not in (HIGHER, LOWER):
        raise ValueError(f"metric '{name}' is better '{better}'")
    return Metric(name, unit, better), divisor


def intervals(data):
    """{name: (low, high)}: how far the same measurement, started again, would read, as the
    program says; of the metrics alone that have one, in the unit that is shown."""
    ends = {}
    for name, row in (data.get('metrics') or {}).items():
        if row.get('low') is not None and row.get('high') is not None:
            divisor = SHOWN_AS.get(row['unit'], (row['unit'], 1))[1]
            ends[name] = row['low'] / divisor, row['high'] / divisor
            if not all(map(math.isfinite, ends[name])):
                raise ValueError(f"metric '{name}' has an interval without an end")
    return ends


def _of_kernels(kernels):
    return {
        name: {'value': row['best_mbs'], 'unit': 'MB/s', 'better': HIGHER}
        for name, row in kernels.items()
    }


def node_rates(rates, metrics):
    """Of whole nodes, from those of their ranks: the last two axes are ranks x metrics."""
    totals = rates.sum(axis=-2)
    for i, metric in enumerate(metrics):
        if not metric.adds:
            totals[..., i] /= rates.shape[-2]
    return totals
