"""How far figures would read, measured again: of ranks, of nodes, and what that supports.

A record of before there were intervals has none: its figures are taken as they stand.
"""

import math

import numpy as np

from membw.results import metrics

UNKNOWN = 0.0  # half width of what has no interval
NOTHING = 10.0  # ... and of what may be anything: weights stay above 0
# an interval this much wider than its figure says that the machine was not steady (stream warns)
WIDE = 0.05
# No interval is narrower than the programs' own (src/stream/measure.c): weights stay finite.
LEAST = 0.02


def of_rates(data, measured):
    """{metric: (low, high)} of a record's JSON object, as rates: larger is better. A time that
    may be 0 or less is a rate without an upper end: nothing is known of it."""
    intervals, ends = metrics.intervals(data), {}
    for metric in measured:
        low, high = intervals.get(metric.name, (None, None))
        if high is None:
            continue
        if metric.better == metrics.HIGHER:
            ends[metric.name] = low, high
        elif high > 0:
            ends[metric.name] = metric.rate(high), metric.rate(low) if low > 0 else math.inf
    return ends


def known(rates, spans):
    """{metric: rate}; NaN of what may be anything."""
    return {
        name: rate if spans.get(name, (0, 0))[1] < math.inf else math.nan
        for name, rate in rates.items()
    }


def of_node(run):
    """{metric: (low, high)} of the rates of a whole node, from the records of its ranks; of
    metrics alone of which every rank has an interval."""
    if len(run) == 1:
        return run[0].spans
    names = [m for m in run[0].metrics if all(m.name in r.spans for r in run)]
    if not names:
        return {}
    table = np.array([[r.spans[m.name] for m in names] for r in run])  # ranks x metrics x 2
    ends = metrics.node_rates(np.moveaxis(table, 2, 0), names)
    return {m.name: tuple(ends[:, i].tolist()) for i, m in enumerate(names)}


def half_width(rates, spans):
    """The widest of the intervals that end, as a part of its rate; UNKNOWN where there is none,
    NOTHING where none ends."""
    parts = [
        max(high - rates[name], rates[name] - low) / rates[name]
        for name, (low, high) in spans.items()
        if rates.get(name)
    ]
    return max(filter(math.isfinite, parts), default=NOTHING if parts else UNKNOWN)


def weight(half):
    """By the inverse square, as of any measurement; numbers or arrays. Without an interval a
    figure weighs what the best do."""
    return (LEAST / np.maximum(half, LEAST)) ** 2


def weighted_medians(values, weights, group):
    """(groups, the median of each): half of its weight lies below it; of equal weights the usual
    median."""
    order = np.lexsort((values, group))
    values, weights = np.asarray(values, dtype=float)[order], np.asarray(weights)[order]
    places, start, count = np.unique(group[order], return_index=True, return_counts=True)
    reached = np.cumsum(weights)
    before = np.repeat(reached[start] - weights[start], count)
    share = (reached - before) / np.repeat(np.add.reduceat(weights, start), count)
    row = np.arange(len(values))
    low, high = (
        np.minimum.reduceat(np.where(share > half, row, len(values)), start)
        for half in (0.5 - 1e-5, 0.5 + 1e-5)  # weights are kept in single precision
    )
    return places, (values[low] + values[high]) / 2


def shown(value):
    """One digit after the point, more of what is small."""
    return f'{value:.1f}' if value >= 10 else f'{value:.3g}'


def with_interval(value, interval):
    """'33.1 ±0.4': how far the same measurement, started again, would read; rounded up."""
    if not interval:
        return shown(value)
    half = max(interval[1] - value, value - interval[0])
    digits = 1 if value >= 10 else max(0, 2 - math.floor(math.log10(value)))
    return f'{value:.{digits}f} ±{math.ceil(half * 10**digits - 1e-9) / 10**digits:.{digits}f}'
