"""Student's t: its tail, and the quantile of a tail, without a library that has thousands more."""

import math
from functools import lru_cache

STEPS = 300  # of the continued fraction: it converges after some sqrt(df) of them
TINY = 1e-300


def tail(t: float, df: float) -> float:
    """The probability of more than t >= 0: half of the incomplete beta function.

    W. Press et al., Numerical Recipes, 3rd ed., 6.4: continued fraction by Lentz's method.
    """
    x, y, a, b = df / (df + t * t), t * t / (df + t * t), df / 2, 0.5
    if y < TINY:
        return 0.5
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log + a * math.log(x) + b * math.log(y))
    if x < (a + 1) / (a + b + 2):
        return 0.5 * front * _fraction(a, b, x) / a
    return 0.5 * (1 - front * _fraction(b, a, y) / b)


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _far(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, STEPS):
        for up in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _far(1 + up * d), _far(1 + up / c)
            result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return result


def _far(value: float) -> float:
    return value if abs(value) > TINY else TINY


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
