"""Whether a series of nights changed: its last nights compared with those before.

STEP: 6 of the last 7 measured nights lie beyond a limit of the median of the 28 nights before.
The limit is the largest of the margin, 2 robust deviations of these 28 nights, and 4 times the
robust deviation of medians of 7 nights in this fleet, which noise with a memory makes larger.
Where a new sample began within the 28 nights, they are those of one sample: of the new one as
soon as it has 7, before of the old one.
DRIFT: the median of the last 28 nights lies beyond the larger of 3 % and 2 robust deviations from
the median of the first 28 nights since the last step.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from membw.statistics import MAD_TO_SIGMA

NOW, MOST_OF_NOW, BEFORE = 7, 6, 28
LEAST_BEFORE = 7  # nights, at the beginning of a series
DRIFT_MARGIN = 0.03
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
    values: NDArray, margin: float, of_medians: float, begins: Sequence[int] = ()
) -> list[Change]:
    """The steps and drifts of a series, in order of time.

    Args:
        values: one above 0 per measured night.
        margin: the smallest change that matters, as a fraction.
        of_medians: `medians_apart` of the fleet.
        begins: places where a new sample begins.
    """
    steps = _steps(values, margin, of_medians, begins)
    starts = [0, *(step.first for step in steps)]
    ends = [*starts[1:], len(values)]
    drifts = [_drift(values, *part, margin) for part in zip(starts, ends, strict=True)]
    return sorted([*steps, *filter(None, drifts)], key=lambda change: change.first)


def medians_apart(every: list[NDArray]) -> float:
    """The robust deviation, as a fraction, of medians of 7 nights from those of the 28 before."""
    apart = []
    for values in every:
        if len(values) >= NOW + LEAST_BEFORE:
            before = _medians(_before(values))
            apart.append(np.median(_now(values), axis=1) / before - 1)
    return float(MAD_TO_SIGMA * np.median(np.abs(np.concatenate(apart)))) if apart else 0.0


def _now(values: NDArray) -> NDArray:
    """The 7 nights that end with each night that has enough nights before them."""
    return sliding_window_view(values, NOW)[LEAST_BEFORE:]


def _before(values: NDArray, begins: Sequence[int] = ()) -> NDArray:
    """The 28 nights before each `_now`, a row each; NaN does not count."""
    padding = np.full(BEFORE - LEAST_BEFORE, np.nan)
    windows = sliding_window_view(np.concatenate([padding, values[:-NOW]]), BEFORE)
    if not len(begins):
        return windows
    number = np.searchsorted(begins, np.arange(len(values) - NOW), side='right')
    number = sliding_window_view(np.concatenate([padding, number]), BEFORE)
    is_new, is_known = number == number[:, -1:], ~np.isnan(windows)
    is_enough = is_new.sum(axis=1, keepdims=True) >= LEAST_BEFORE
    chosen = np.where(is_enough, is_new, ~is_new) & is_known
    is_few = chosen.sum(axis=1, keepdims=True) < LEAST_BEFORE
    return np.where(chosen | is_few, windows, np.nan)


def _medians(windows: NDArray) -> NDArray:
    """Of rows; NaN are sorted to the end, and do not count."""
    ordered, count = np.sort(windows, axis=1), (~np.isnan(windows)).sum(axis=1)
    rows = np.arange(len(windows))
    return (ordered[rows, (count - 1) // 2] + ordered[rows, count // 2]) / 2


def _steps(
    values: NDArray, margin: float, of_medians: float, begins: Sequence[int]
) -> list[Change]:
    """Nights in a row in which the rule holds are one change; so are such with a gap of 7."""
    if len(values) < NOW + LEAST_BEFORE:
        return []
    now, windows = _now(values), _before(values, begins)
    before = _medians(windows)
    deviation = MAD_TO_SIGMA * _medians(np.abs(windows / before[:, None] - 1))
    limit = np.maximum(margin, np.maximum(2 * deviation, 4 * of_medians))
    far = now / before[:, None] - 1
    found: list[Change] = []
    last = {1: -NOW - 1, -1: -NOW - 1}
    for sign in (1, -1):
        beyond = sign * far > limit[:, None]
        for i in np.flatnonzero(beyond.sum(axis=1) >= MOST_OF_NOW).tolist():
            is_new, last[sign] = i - last[sign] > NOW, i
            if is_new:
                start = LEAST_BEFORE + i
                first, after = start + int(np.argmax(beyond[i])), float(np.median(now[i]))
                earlier = (np.flatnonzero(~np.isnan(windows[i])) + start - BEFORE).tolist()
                own = range(start, start + NOW)
                found.append(Change(STEP, first, own[-1], earlier, own, before[i], after,
                                    limit[i], deviation[i]))  # fmt: skip
    return sorted(found, key=lambda change: change.first)


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
