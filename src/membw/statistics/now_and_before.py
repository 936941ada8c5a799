"""Whether a series of nights changed: its newest nights compared with those before.

A level is the nights since the last STEP; `before` are its newest 28 nights, at least 7, before
those that are judged.
STEP: 6 of 7 nights in a row lie beyond a limit of the median before, on one side. A new level
begins with the first of them. The limit is the largest of the margin, 2 robust deviations of the
nights before, and 4 D: D is the robust deviation of medians of 7 nights from the median before, of
all windows within a level that ended before the 7 nights, and half the margin until there are such
of 7 nights. So what comes later changes no STEP.
TONIGHT: the newest night is worse than the median before by more than the margin, and than the
Student's t (a third of the nights) of one night in 1,000 of all nodes together, in robust
deviations of at least 0.5 %.
DRIFT: of a level the median of the newest 28 nights lies beyond the larger of 3 % and 2 robust
deviations of the median of its first 28: what falls so slowly that the nights before fall, too.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from membw.grouped import grouped
from membw.statistics import LEAST_BEFORE, MAD_TO_SIGMA, MARGIN
from membw.statistics.peers import LEAST_DEVIATION, quantile

NOW, MOST_OF_NOW, BEFORE = 7, 6, 28
LEAST = LEAST_BEFORE + NOW  # nights of a series before anything is judged
BACK = 2  # what lies within half of the limit is back: within it, noise would turn red to green
FALSE_ALARMS = 0.001  # of TONIGHT, of a night of a clean fleet
STEP, DRIFT, TONIGHT = 'STEP', 'DRIFT', 'TONIGHT'
TOGETHER = 64  # series: their windows fit a cache


class Step(NamedTuple):
    """Places are indices of the series; `limit` and `deviation` fractions of `before`."""

    first: int  # the first night that differs
    found: int  # the night in which the rule found it
    nights_before: range  # whose medians are compared
    nights_after: range
    before: float
    after: float
    limit: float
    deviation: float  # of the nights before
    of_medians: float = 0.0  # D
    kind: str = STEP
    back: int | None = None  # the first night of a level that is like the one before

    @property
    def size(self) -> float:
        return self.after / self.before - 1


class Noise:
    """How far medians of 7 nights lie from the median before, within levels: by the windows of all
    nodes, so that a young series has some, too. Half the margin at least, until there are those of
    7 nights."""

    def __init__(self, margin: float) -> None:
        self.least = margin / 2
        self.parts: list[tuple[NDArray, NDArray]] = []
        self.known: dict[int, float] = {}

    def add(self, ends: NDArray, apart: NDArray) -> None:
        self.parts.append((ends.astype(np.int32), np.abs(apart).astype(np.float32)))
        self.known.clear()

    def before(self, night: int) -> float:
        """D of the windows that end before that night."""
        if night not in self.known:
            own = [apart[ends < night] for ends, apart in self.parts]
            is_young = night - min((ends[0] for ends, _ in self.parts), default=night) < NOW
            every = np.concatenate(own or [np.empty(0)])
            of_medians = MAD_TO_SIGMA * float(np.median(every)) if len(every) else 0.0
            self.known[night] = max(of_medians, self.least) if is_young else of_medians
        return self.known[night]


class Row:
    """A series: `values` above 0, of `nights` (numbers that rise), without gaps; `worse`: the sign
    of a change for the worse."""

    def __init__(self, values: NDArray, nights: NDArray, worse: int = -1) -> None:
        self.values, self.nights, self.worse = values, nights, worse
        self.levels = [0]  # where they begin
        self.steps: list[Step] = []

    @property
    def begin(self) -> int:
        return self.levels[-1]

    def take(self, step: Step) -> None:
        """A step that leads back to the median before an earlier one undoes that one, and is none
        itself, unless what was gained for 28 nights is lost."""
        undone = [
            place
            for place, old in enumerate(self.steps)
            if old.back is None and abs(step.after / old.before - 1) <= old.limit / BACK
        ]
        for place in undone:
            self.steps[place] = self.steps[place]._replace(back=step.first)
        is_loss = step.size * self.worse > 0 and step.first - self.begin >= BEFORE
        self.steps += [step] if is_loss or not undone else []
        self.levels.append(step.first)


def find_steps(rows: Sequence[Row], margin: float) -> Noise:
    """Puts its steps into each row: the first one, then that of what comes behind it, ..."""
    noise, todo = Noise(margin), [*rows]
    while todo:
        maybe: list[tuple[Row, list[int]]] = []
        for some, now, before in _windows(todo):
            medians = _medians(before)
            apart = np.median(now, axis=-1) / medians - 1
            far = now / medians[..., None] - 1
            is_far = [(sign * far > margin).sum(axis=-1) >= MOST_OF_NOW for sign in (1, -1)]
            for place, row in enumerate(some):
                places = np.flatnonzero(is_far[0][place] | is_far[1][place]).tolist()
                maybe += [(row, places)] if places else []
            ends = np.stack([row.nights[row.begin + LEAST - 1 :] for row in some])
            noise.add(ends.ravel(), apart.ravel())
        todo = [row for row, places in maybe if _first_step(row, places, margin, noise)]
    return noise


def _first_step(row: Row, places: Sequence[int], margin: float, noise: Noise) -> bool:
    """The first of the windows in which the rule holds with all of the limit."""
    for place in places:
        start = row.begin + place + LEAST_BEFORE
        before = range(max(row.begin, start - BEFORE), start)
        middle, deviation = _scatter(row.values[before.start : start])
        of_medians = noise.before(int(row.nights[start]))
        limit = max(margin, 2 * deviation, 4 * of_medians)
        now = row.values[start : start + NOW] / middle - 1
        beyond = max((now > limit, now < -limit), key=np.sum)
        if beyond.sum() >= MOST_OF_NOW:
            after, own = float(np.median(now) + 1) * middle, range(start, start + NOW)
            first = start + int(np.argmax(beyond))
            row.take(
                Step(first, own[-1], before, own, middle, after, limit, deviation, of_medians)
            )
            return True
    return False


def tonight(row: Row, margin: float, nodes: int) -> Step | None:
    """That of the newest night."""
    last = len(row.values) - 1
    before = range(max(row.begin, last - BEFORE), last)
    if last + 1 < LEAST or len(before) < LEAST_BEFORE:
        return None
    middle, deviation = _scatter(row.values[before.start : last])
    deviation = max(deviation, LEAST_DEVIATION)
    limit = max(margin, chance(nodes, len(before)) * deviation)
    value = float(row.values[-1])
    if row.worse * (value / middle - 1) <= limit:
        return None
    is_near = row.worse * (row.values[before.start :] / middle - 1) <= limit
    first = before.start + int(np.flatnonzero(is_near)[-1]) + 1  # of the bad nights in a row
    own = range(last, last + 1)
    return Step(first, last, before, own, middle, value, limit, deviation, kind=TONIGHT)


def chance(nodes: int, nights: int) -> float:
    """The robust deviations of so many nights beyond which chance puts any of the nodes once in
    1,000 nights; one is known as well as a standard deviation of a third of the nights."""
    return quantile(FALSE_ALARMS / nodes, max((nights - 1) / 3, 1))


def noticed(rows: Sequence[Row], margin: float, noise: Noise) -> list[float]:
    """Of each row that is judged the loss of all later nights that 6 of 7 would show, but for one
    in a hundred: the limit of a STEP and 2 deviations."""
    judged = [row for row in rows if len(row.values) >= LEAST]
    newest = np.full((len(judged), BEFORE), np.nan)
    for place, row in enumerate(judged):
        own = row.values[max(row.begin, len(row.values) - BEFORE) :]
        newest[place, : len(own)] = own
    middle = _medians(newest)
    deviation = MAD_TO_SIGMA * _medians(np.abs(newest / middle[:, None] - 1))
    end = max((int(row.nights[-1]) for row in judged), default=0) + 1
    least = max(margin, 4 * noise.before(end)) if judged else margin
    return (np.maximum(least, 2 * deviation) + 2 * deviation).tolist()


def drift(values: NDArray, begin: int, margin: float) -> Step | None:
    """That of a level, values[begin:]: what it has lost by now."""
    part = values[begin:]
    if len(part) < 2 * BEFORE:
        return None
    before, deviation = _scatter(part[:BEFORE])
    limit = max(MARGIN, margin, 2 * deviation)
    now = float(np.median(part[-BEFORE:]))
    if abs(now / before - 1) <= limit / BACK:
        return None
    after = np.median(sliding_window_view(part[BEFORE:], BEFORE), axis=1)
    is_far = np.abs(after / before - 1) > limit
    if not is_far.any():
        return None
    first = begin + BEFORE + int(np.argmax(is_far))
    end = len(values)
    return Step(first, first + BEFORE - 1, range(begin, begin + BEFORE), range(end - BEFORE, end),
                before, now, limit, deviation, kind=DRIFT)  # fmt: skip


def _scatter(values: NDArray) -> tuple[float, float]:
    """(median, robust deviation as a fraction of it)."""
    middle = float(np.median(values))
    return middle, MAD_TO_SIGMA * float(np.median(np.abs(values / middle - 1)))


def _windows(rows: Sequence[Row]) -> Iterator[tuple[list[Row], NDArray, NDArray]]:
    """(rows whose levels are of one length, not too many; of each night that has enough before it
    the 7 that end with it, and the 28 before these, NaN where the level has fewer)."""
    for count, group in grouped((len(row.values) - row.begin, row) for row in rows).items():
        for i in range(0, len(group) if count >= LEAST else 0, TOGETHER):
            some = group[i : i + TOGETHER]
            values = np.stack([row.values[row.begin :] for row in some])
            padding = np.full((len(some), BEFORE - LEAST_BEFORE), np.nan)
            padded = np.concatenate([padding, values[:, :-NOW]], axis=1)
            now = sliding_window_view(values[:, LEAST_BEFORE:], NOW, axis=-1)
            yield some, now, sliding_window_view(padded, BEFORE, axis=-1)


def _medians(windows: NDArray) -> NDArray:
    """Of the last axis; NaN are sorted to the end, and do not count."""
    ordered, count = np.sort(windows, axis=-1), (~np.isnan(windows)).sum(axis=-1, keepdims=True)
    low, high = (np.take_along_axis(ordered, n, -1) for n in ((count - 1) // 2, count // 2))
    return (low + high)[..., 0] / 2
