"""The distance of a figure from its peers, and the distance that chance alone explains."""

import bisect
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import median

from membw.statistics import MAD_TO_SIGMA

# rounded or copied figures have no spread: 0.5 % is as steady as a node gets from run to run
LEAST_DEVIATION = 0.005
OF_MEDIAN = 1.57  # variance of a median of n (times 1/n), in that of one figure
FALSE_ALARMS = 0.01  # of a clean fleet, any node
UNSEEN = 0.1  # how often a node that is low by so much is not seen
STEP = 0.2  # of the trapezoidal rule: it is right to ten digits
POINTS = [(n * STEP, math.exp(n * STEP)) for n in range(-200, 201)]  # (s, exp(s))


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
    if count < 1:
        return [every if value != value else math.nan for value in values]
    low, high = (count - 1) // 2, count // 2  # of the peers, in order
    # without a value of the lower half, the middle, the upper half
    without = {
        place: (ordered[low + (place <= low)] + ordered[high + (place <= high)]) / 2
        for place in (low, high, high + 1)
    }
    places = (bisect.bisect_left(ordered, value) for value in values)
    return [
        every if value != value else without[min(max(place, low), high + 1)]
        for value, place in zip(values, places, strict=True)
    ]


def screening_limit(nodes: int) -> float:
    """Robust deviations beyond which chance puts one of so many nodes: Student's t."""
    return quantile(1 / nodes, nodes - 1) if nodes > 2 else 0.0


def sure_limit(nodes: int) -> float:
    """Robust deviations beyond which chance puts any node of a clean fleet, with a probability of
    FALSE_ALARMS."""
    return quantile(FALSE_ALARMS / nodes, nodes - 1) if nodes > 1 else math.inf


def noticed(peers: int, deviation: float) -> float:
    """The smallest loss that so many peers of this deviation tell from chance: of few the
    deviation is itself hardly known."""
    if peers < 2:
        return math.inf
    return deviation * quantile(UNSEEN, peers - 1) * math.sqrt(1 + OF_MEDIAN / peers)


# --- Student's t, without a library that has thousands more


def tail(t: float, df: float) -> float:
    """The probability of more than t >= 0: the density at t + exp(s), integrated over s.

    L. Trefethen, J. Weideman, The exponentially convergent trapezoidal rule, SIAM Review 56, 2014.
    """
    density = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    logs = (density + s - (df + 1) / 2 * math.log1p((t + u) ** 2 / df) for s, u in POINTS)
    return STEP * math.fsum(map(math.exp, logs))


@lru_cache
def quantile(probability: float, df: float) -> float:
    """The t that is exceeded with this probability, at most 0.5; by bisection."""
    low, high = 0.0, 1.0
    while tail(high, df) > probability:
        low, high = high, 2 * high
    while high - low > 1e-12 * (1 + high):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, df) > probability else (low, middle)
    return high
