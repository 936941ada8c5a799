"""Whether a series of nights changed: its last nights compared with those before.

STEP: 6 of the last 7 measured nights lie beyond a limit of the median of the 28 nights before.
The limit is the largest of the margin, 2 robust deviations of these 28 nights, and 4 times the
robust deviation of medians of 7 nights in this fleet, which noise with a memory makes larger.
Where a new sample began within the 28 nights, they are those of one sample: of the new one as
soon as it has 7, before of the old one.
DRIFT: the median of the last 28 nights lies beyond the larger of 3 % and 2 robust deviations from
the median of the first 28 nights since the last step.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from membw.grouped import grouped
from membw.statistics import MAD_TO_SIGMA

NOW, MOST_OF_NOW, BEFORE = 7, 6, 28
LEAST_BEFORE = 7  # nights, at the beginning of a series
DRIFT_MARGIN = 0.03
TOGETHER = 64  # series: their windows fit a cache
STEP, DRIFT = 'STEP', 'DRIFT'


class Change(NamedTuple):
    """Places are indices of the series; `limit` and `deviation` fractions of `before`."""

    kind: str
    first: int  # the first night that differs
    found: int  # the night in which the rule found it
    nights_before: Sequence[int]  # places whose medians are compared
    nights_after: Sequence[int]
    before: float
    after: float
    limit: float
    deviation: float  # of the nights before

    @property
    def size(self) -> float:
        return self.after / self.before - 1


def changes(
    every: Sequence[NDArray], margin: float, of_medians: float, begins: Sequence[Sequence[int]]
) -> list[list[Change]]:
    """The steps and drifts of each series, in order of time; numpy takes alike ones together.

    Args:
        every: one value above 0 per measured night.
        margin: the smallest change that matters, as a fraction.
        of_medians: `medians_apart` of the fleet.
        begins: places where a new sample begins.
    """
    found: list[list[Change]] = [[] for _ in every]
    for places in _alike([(len(own), *at) for own, at in zip(every, begins, strict=True)]):
        rows = np.stack([every[place] for place in places])
        all_steps = _steps(rows, margin, of_medians, begins[places[0]])
        may_drift = _may_drift(rows, margin)
        for place, values, steps, may in zip(places, rows, all_steps, may_drift, strict=True):
            starts = [0, *(step.first for step in steps)]
            ends = [*starts[1:], len(values)]
            parts = zip(starts, ends, strict=True) if steps or may else ()
            drifts = [_drift(values, *part, margin) for part in parts]
            both = [*steps, *filter(None, drifts)]
            found[place] = sorted(both, key=lambda change: change.first)
    return found


def medians_apart(every: Sequence[NDArray]) -> float:
    """The robust deviation, as a fraction, of medians of 7 nights from those of the 28 before."""
    apart = []
    for places in _alike([(len(values),) for values in every]):
        rows = np.stack([every[place] for place in places])
        if rows.shape[1] >= NOW + LEAST_BEFORE:
            medians = np.sort(_now(rows))[..., NOW // 2]
            apart.append((medians / _medians(_before(rows)) - 1).ravel())
    if not apart:
        return 0.0
    every_one = np.concatenate(apart)
    np.abs(every_one, out=every_one)  # of a year of a large fleet no third copy
    return float(MAD_TO_SIGMA * np.median(every_one, overwrite_input=True))


def _alike(keys: Sequence[Hashable]) -> Iterator[list[int]]:
    """Places of equal keys, not too many at a time."""
    for group in grouped((key, place) for place, key in enumerate(keys)).values():
        yield from (group[i : i + TOGETHER] for i in range(0, len(group), TOGETHER))


def _now(rows: NDArray) -> NDArray:
    """The 7 nights that end with each night that has enough nights before them."""
    return sliding_window_view(rows, NOW, axis=-1)[:, LEAST_BEFORE:]


def _before(rows: NDArray, begins: Sequence[int] = ()) -> NDArray:
    """The 28 nights before each `_now`; NaN does not count."""
    padding = np.full((len(rows), BEFORE - LEAST_BEFORE), np.nan)
    padded = np.concatenate([padding, rows[:, :-NOW]], axis=1)
    windows = sliding_window_view(padded, BEFORE, axis=-1)
    if not len(begins):
        return windows
    number = np.searchsorted(begins, np.arange(rows.shape[1] - NOW), side='right')
    number = sliding_window_view(np.concatenate([padding[0], number]), BEFORE)
    is_new, is_known = number == number[:, -1:], ~np.isnan(windows)
    is_enough = is_new.sum(axis=-1, keepdims=True) >= LEAST_BEFORE
    chosen = np.where(is_enough, is_new, ~is_new) & is_known
    is_few = chosen.sum(axis=-1, keepdims=True) < LEAST_BEFORE
    return np.where(chosen | is_few, windows, np.nan)


def _medians(windows: NDArray) -> NDArray:
    """Of the last axis; NaN are sorted to the end, and do not count."""
    ordered, count = np.sort(windows, axis=-1), (~np.isnan(windows)).sum(axis=-1, keepdims=True)
    low, high = (np.take_along_axis(ordered, n, -1) for n in ((count - 1) // 2, count // 2))
    return (low + high)[..., 0] / 2


def _steps(
    rows: NDArray, margin: float, of_medians: float, begins: Sequence[int]
) -> list[list[Change]]:
    """Nights in a row in which the rule holds are one change; so are such with a gap of 7."""
    found: list[list[Change]] = [[] for _ in rows]
    if rows.shape[1] < NOW + LEAST_BEFORE:
        return found
    least = max(margin, 4 * of_medians)
    every_now, every_windows = _now(rows), _before(rows, begins)
    every_before = _medians(every_windows)
    far = every_now / every_before[..., None] - 1
    beyond = [(sign * far > least).sum(axis=-1) >= MOST_OF_NOW for sign in (1, -1)]
    for row in np.flatnonzero(np.any(beyond, axis=(0, 2))).tolist():
        now, windows, before = every_now[row], every_windows[row], every_before[row]
        deviation = MAD_TO_SIGMA * _medians(np.abs(windows / before[:, None] - 1))
        limit = np.maximum(least, 2 * deviation)
        for sign in (1, -1):
            found[row] += _of_sign(sign * far[row] > limit[:, None], now, windows, before,
                                   limit, deviation)  # fmt: skip
        found[row].sort(key=lambda change: change.first)
    return found


def _of_sign(
    beyond: NDArray, now: NDArray, windows: NDArray, before: NDArray, limit: NDArray,
    deviation: NDArray,
) -> Iterator[Change]:  # fmt: skip
    last = -NOW - 1
    for i in np.flatnonzero(beyond.sum(axis=1) >= MOST_OF_NOW).tolist():
        is_new, last = i - last > NOW, i
        if is_new:
            start = LEAST_BEFORE + i
            first, after = start + int(np.argmax(beyond[i])), float(np.median(now[i]))
            earlier = (np.flatnonzero(~np.isnan(windows[i])) + start - BEFORE).tolist()
            own = range(start, start + NOW)
            yield Change(STEP, first, own[-1], earlier, own, before[i], after, limit[i],
                         deviation[i])  # fmt: skip


def _may_drift(rows: NDArray, margin: float) -> NDArray:
    """Whether each row has as many values beyond the least limit as a median of 28 needs."""
    if rows.shape[1] < 2 * BEFORE:
        return np.zeros(len(rows), dtype=bool)
    before = np.median(rows[:, :BEFORE], axis=1, keepdims=True)
    far = np.abs(rows / before - 1) > max(DRIFT_MARGIN, margin)
    return far.sum(axis=1) >= BEFORE // 2


def _drift(values: NDArray, begin: int, end: int, margin: float) -> Change | None:
    """The first night of values[begin:end] in which its drift shows."""
    part = values[begin:end]
    if len(part) < 2 * BEFORE:
        return None
    before = float(np.median(part[:BEFORE]))
    deviation = MAD_TO_SIGMA * float(np.median(np.abs(part[:BEFORE] / before - 1)))
    limit = max(DRIFT_MARGIN, margin, 2 * deviation)
    after = np.median(sliding_window_view(part[BEFORE:], BEFORE), axis=1)
    beyond = np.flatnonzero(np.abs(after / before - 1) > limit)
    if not len(beyond):
        return None
    i = int(beyond[0])
    own = range(begin + BEFORE + i, begin + 2 * BEFORE + i)
    earlier = range(begin, begin + BEFORE)
    return Change(DRIFT, own[0], own[-1], earlier, own, before, float(after[i]), limit, deviation)
