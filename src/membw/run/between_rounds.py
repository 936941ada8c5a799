"""How far a figure moves from round to round, by all rows of a test together.

What the host of a machine gives changes within minutes; the second that a round lasts does not see
that, and one row has too few rounds to tell. All rows of a test in one state of the machine are a
one-way layout, rows x rounds: the variance within rows is pooled over them, of logarithms, since
what a host takes is a part of each (Searle, Casella, McCulloch, Variance Components, 1992, ch. 3).
docs/repeatability.md says how it was chosen.
"""

import collections
import math
import statistics

from membw.results import case as of_case
from membw.run.states import MOVED

CONFIDENCE = 0.95
LEAST = 5  # degrees of freedom; with fewer, Student's t alone doubles the interval
# A row is the best of two rounds, and so is the next one: of normal rounds the best of two has a
# variance of 1 - 1 / pi, and the difference of two such figures twice that.
BEST_TO_BEST = math.sqrt(2 * (1 - 1 / math.pi))
ALL = ''


def half_widths(parts):
    """{(test, partition, state): half width of the logarithm of a rate}, ALL states among them.

    Args:
        parts: (state, attempts that may be believed) of each row in each state of the machine.
    """
    spreads = collections.defaultdict(list)
    for state, cases in parts:
        spread = spread_of(cases) if state != MOVED and len(cases) > 1 else None
        for name in {state, ALL} if spread else ():
            spreads[(*_test(cases[0]), name)].append(spread)
    widths = {key: half_width(rows) for key, rows in spreads.items()}
    return {key: width for key, width in widths.items() if width}


def of_part(widths, state, cases):
    """Of a row in a state; of its test in all states where that state has too few rounds; 0."""
    test = _test(cases[0])
    return widths.get((*test, state)) or widths.get((*test, ALL), 0.0)


def _test(case):
    return of_case.test(case), of_case.where(case)


def spread_of(cases):
    """(sum of squares about the mean of the rounds, degrees of freedom), of the logarithms of a
    row's rates, of which the mean counts: they are read at once. None where there are no two."""
    squares, rounds = [], 0
    for rates in _rates(cases).values():
        if len(rates) > 1:
            logs = [math.log(rate) for rate in rates]
            squares.append(statistics.variance(logs) * (len(logs) - 1))
            rounds = max(rounds, len(logs))
    return (statistics.fmean(squares), rounds - 1) if squares else None


def _rates(cases):
    rates = collections.defaultdict(list)
    for case in cases:
        measured = of_case.figures(case)
        for metric in of_case.metrics(case, of_case.record(case)):
            value = measured[metric.name].value
            if metric.is_rate and value > 0:
                rates[metric].append(value)
    return rates


def half_width(spreads):
    """Of what the next figure is off by, from the pooled deviation; 0: too few rounds."""
    squares, freedom = map(sum, zip(*spreads, strict=True))
    if freedom < LEAST:
        return 0.0
    from scipy.special import stdtrit  # takes a while to load: not for `membw --help`

    t = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    return t * BEST_TO_BEST * math.sqrt(squares / freedom)


def widened(value, low, high, half):
    """(low, high) of a rate by both: the distance to either end and `half` add as squares do."""
    below, above = (math.hypot(math.log(ratio), half) for ratio in (value / low, high / value))
    return value * math.exp(-below), value * math.exp(above)
