"""Whether a series of nights changed: its last nights compared with those before.

STEP: 6 of the last 7 measured nights lie beyond a limit of the median of the 28 nights before.
The limit is the largest of the margin, 2 robust deviations of these 28 nights, and 4 times the
robust deviation of medians of 7 nights in this fleet, which noise with a memory makes larger.
Where a new sample began within the 28 nights, they are those of one sample: of the new one as
soon as it has 7, before of the old one.
DRIFT: since the last step or sample the median of 28 nights came to lie beyond the larger of 3 %
and 2 robust deviations of the median of the first 28, and the newest 28 do: what falls so slowly
that the nights before fall, too.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from membw.grouped import grouped
from membw.statistics import MAD_TO_SIGMA

NOW, MOST_OF_NOW, BEFORE = 7, 6, 28
LEAST_BEFORE = 7  # nights, at the beginning of a series
DRIFT_MARGIN = 0.03
STEP, DRIFT = 'STEP', 'DRIFT'
TOGETHER = 64  # series: their windows fit a cache


class Step(NamedTuple):
    """Places are indices of the series; `limit` and `deviation` fractions of `before`."""

    first: int  # the first night that differs
    found: int  # the night in which the rule found it
    nights_before: Sequence[int]  # places whose medians are compared
    nights_after: Sequence[int]
    before: float
    after: float
    limit: float
    deviation: float  # of the nights before
    kind: str = STEP

    @property
    def size(self) -> float:
        return self.after / self.before - 1


def medians_apart(every: Sequence[NDArray]) -> float:
    """The robust deviation, as a fraction, of medians of 7 nights from those of the 28 before."""
    alike = _alike(every, [()] * len(every))
    apart = [(_medians(now) / _medians(before) - 1).ravel() for _, now, before in alike]
    if not apart:
        return 0.0
    every_one = np.concatenate(apart)
    np.abs(every_one, out=every_one)  # of a year of a large fleet no third copy
    return float(MAD_TO_SIGMA * np.median(every_one, overwrite_input=True))


def steps(
    every: Sequence[NDArray], margin: float, of_medians: float, begins: Sequence[Sequence[int]]
) -> list[list[Step]]:
    """Those of each series, in order of time.

    Args:
        every: one value above 0 per measured night.
        margin: the smallest change that matters, as a fraction.
        of_medians: `medians_apart` of the fleet.
        begins: places where a new sample begins.
    """
    found: list[list[Step]] = [[] for _ in every]
    least = max(margin, 4 * of_medians)
    for places, now, windows in _alike(every, begins):
        before = _medians(windows)
        far = now / before[..., None] - 1
        beyond = [(sign * far > least).sum(axis=-1) >= MOST_OF_NOW for sign in (1, -1)]
        for row in np.flatnonzero(np.any(beyond, axis=(0, 2))).tolist():
            both = _of_row(now[row], windows[row], before[row], least)
            found[places[row]] = sorted(both, key=lambda step: step.first)
    return found


def drift(values: NDArray, begin: int, margin: float) -> Step | None:
    """That of values[begin:], as of the first night in which it shows."""
    part = values[begin:]
    if len(part) < 2 * BEFORE:
        return None
    before = float(np.median(part[:BEFORE]))
    deviation = MAD_TO_SIGMA * float(np.median(np.abs(part[:BEFORE] / before - 1)))
    limit = max(DRIFT_MARGIN, margin, 2 * deviation)
    if abs(np.median(part[-BEFORE:]) / before - 1) <= limit:
        return None
    after = np.median(sliding_window_view(part[BEFORE:], BEFORE), axis=1)
    first = BEFORE + int(np.argmax(np.abs(after / before - 1) > limit))
    earlier, own = (range(at, at + BEFORE) for at in (begin, begin + first))
    return Step(own[0], own[-1], earlier, own, before, float(after[first - BEFORE]), limit,
                deviation, DRIFT)  # fmt: skip


def _of_row(now: NDArray, windows: NDArray, before: NDArray, least: float) -> Iterator[Step]:
    """Nights in a row in which the rule holds are one step; so are such with a gap of 7."""
    deviation = MAD_TO_SIGMA * _medians(np.abs(windows / before[:, None] - 1))
    limit = np.maximum(least, 2 * deviation)
    for sign in (1, -1):
        beyond, last = sign * (now / before[:, None] - 1) > limit[:, None], -NOW - 1
        for i in np.flatnonzero(beyond.sum(axis=1) >= MOST_OF_NOW).tolist():
            is_new, last = i - last > NOW, i
            if is_new:
                start, after = LEAST_BEFORE + i, float(np.median(now[i]))
                own, first = range(start, start + NOW), start + int(np.argmax(beyond[i]))
                earlier = (np.flatnonzero(~np.isnan(windows[i])) + start - BEFORE).tolist()
                yield Step(first, own[-1], earlier, own, before[i], after, limit[i], deviation[i])


def _alike(
    every: Sequence[NDArray], begins: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], NDArray, NDArray]]:
    """(places of series of one length and equal begins, not too many, of each night that has
    enough before it the 7 that end with it, and the 28 before these; NaN does not count)."""
    keys = ((len(own), *at) for own, at in zip(every, begins, strict=True))
    for group in grouped((key, place) for place, key in enumerate(keys)).values():
        for i in range(0, len(group), TOGETHER):
            rows = np.stack([every[place] for place in group[i : i + TOGETHER]])
            if rows.shape[1] >= NOW + LEAST_BEFORE:
                now = sliding_window_view(rows, NOW, axis=-1)[:, LEAST_BEFORE:]
                yield group[i : i + TOGETHER], now, _before(rows, begins[group[0]])


def _before(rows: NDArray, begins: Sequence[int]) -> NDArray:
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
