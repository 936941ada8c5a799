"""Paired ratios: each program against another of the same round, whose weather it shared."""

import statistics
from dataclasses import dataclass

from membw.statistics.robust import median_mad

# fewer clean rounds than this, and the disturbed ones are better than nothing
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Ratio:
    """Median of the paired ratios, median absolute deviation, number of rounds."""

    median: float
    mad: float
    rounds: int


def rates(rounds, program, kernel, kind='best_mbs'):
    """One figure a round, None where it was not measured."""
    return [r['programs'].get(program, {}).get(kernel, {}).get(kind) for r in rounds]


def kind_of(rounds, program, kernel):
    """Best against best; a program that tells only its mean is held to the other's mean."""
    best = rates(rounds, program, kernel)
    return 'best_mbs' if any(best) else 'mean_mbs'


def ratio(rounds, program, other, kernel, kind=None):
    """Ratio of two programs' rates of a kernel, or None where no round has both."""
    kind = kind or kind_of(rounds, program, kernel)
    pairs = zip(rates(rounds, program, kernel, kind), rates(rounds, other, kernel, kind))
    values = [mine / theirs for mine, theirs in pairs if mine and theirs]
    return summary(values) if values else None


def summary(values):
    """Ratio(...) of a list of at least one figure."""
    return Ratio(*map(float, median_mad(values)), len(values))


def usable(rounds):
    """The rounds that nothing disturbed; all of them where those are too few. With a remark."""
    clean = [r for r in rounds if not r['disturbed']]
    spoilt = len(rounds) - len(clean)
    if len(clean) >= min(LEAST_ROUNDS, len(rounds)):
        return clean, f'{spoilt} disturbed rounds left out' if spoilt else ''
    return rounds, f'{spoilt} of {len(rounds)} rounds were disturbed and are used all the same'


def best_of(rounds, programs, kernel):
    """Of several variants that with the highest median of a kernel's mean, or None."""
    medians = {}
    for program in programs:
        means = [value for value in rates(rounds, program, kernel, 'mean_mbs') if value]
        if means:
            medians[program] = statistics.median(means)
    return max(medians, key=medians.get, default=None)
