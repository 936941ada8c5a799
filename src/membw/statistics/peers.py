"""The distance of a figure from its peers, and the distance that chance alone explains."""

import bisect
import math
from collections.abc import Iterable, Sequence
from statistics import median

from membw.statistics import MAD_TO_SIGMA
from membw.statistics.student import quantile

# rounded or copied figures have no spread: 0.5 % is as steady as a node gets from run to run
LEAST_DEVIATION = 0.005
OF_MEDIAN = 1.57  # variance of a median of n (times 1/n), in that of one figure
FALSE_ALARMS = 0.01  # of a clean fleet, any node, any metric
UNSEEN = 0.01  # how often a node that is low by so much is not seen


def known(values: Iterable[float]) -> list[float]:
    """Without NaN, which is not known."""
    return [value for value in values if value == value]


def middle(values: Iterable[float]) -> float:
    """The median of what is known; NaN of nothing."""
    own = known(values)
    return median(own) if own else math.nan


def robust_deviation(values: Iterable[float]) -> float:
    """1.4826 MAD of fractions, at least LEAST_DEVIATION."""
    own = known(values)
    if not own:
        return math.nan
    centre = median(own)
    return max(MAD_TO_SIGMA * median(abs(value - centre) for value in own), LEAST_DEVIATION)


def peers_medians(values: Sequence[float]) -> list[float]:
    """For each value the median of the other ones; NaN stays where one is alone.

    NaN values have no rank: theirs is the median of all that are known.
    """
    ordered = sorted(known(values))
    every, count = middle(ordered), len(ordered) - 1  # peers of a known value
    low, high = (count - 1) // 2, count // 2  # of the peers, in order

    def other(place: int, k: int) -> float:
        return ordered[k if place > k else k + 1]

    found = []
    for value in values:
        if value != value:
            found.append(every)
        elif count < 1:
            found.append(math.nan)
        else:
            place = bisect.bisect_left(ordered, value)
            found.append((other(place, low) + other(place, high)) / 2)
    return found


def screening_limit(nodes: int) -> float:
    """Robust deviations beyond which chance puts one of so many nodes: Student's t."""
    return quantile(1 / nodes, nodes - 1) if nodes > 2 else 0.0


def sure_limit(nodes: int, metrics: int = 1) -> float:
    """Robust deviations beyond which chance puts any node in any metric of a clean fleet, with a
    probability of FALSE_ALARMS."""
    return quantile(FALSE_ALARMS / (nodes * metrics), nodes - 1) if nodes > 1 else math.inf


def noticed(peers: int, deviation: float) -> float:
    """The smallest loss that so many peers of this deviation tell from chance: of few the
    deviation is itself hardly known."""
    if peers < 2:
        return math.inf
    return deviation * quantile(UNSEEN, peers - 1) * math.sqrt(1 + OF_MEDIAN / peers)
