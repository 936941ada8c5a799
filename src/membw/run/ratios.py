"""Presets and pinnings against each other, by pairs that were measured in the same round.

A bad minute that hits both of a pair cancels in its ratio; plain figures of different minutes do
not compare.  Nor do those of two states of a virtual machine, within a round or not.
"""

import collections
import math
import statistics
from typing import NamedTuple

from membw.results import case as of_case
from membw.results import regimes
from membw.run import rows
from membw.run.judge import judge

CONFIDENCE = 0.95
LEAST = 2  # one pair is no comparison
STUDENT = (12.706, 4.303, 3.182, 2.776)  # two-sided 95 %, of 2 to 5 values


class Ratio(NamedTuple):
    """The median of the pairs and its interval."""

    median: float
    low: float
    high: float


class Group(NamedTuple):
    test: str
    where: str
    metrics: tuple
    lines: list  # (name, what it is held to, {metric: Ratio}, pairs)
    moved: list  # (name, what it is held to): too few pairs were of one state of the machine


def groups(report):
    """A Group of each test and partition with something to compare, that fits a line."""
    of_tests = [compared(cases) for cases in by_test(report).values()]
    return [
        group
        for group in of_tests
        if (group.lines or group.moved) and len(group.metrics) <= rows.WIDE
    ]


def by_test(report):
    """{(test, partition): [(round, case)]} of what is believed; of a row that is wrong nothing, of
    one whose rounds lie too far apart what each round has."""
    tests = collections.defaultdict(list)
    wrong = {
        rows.key(case)
        for case in rows.of_report(report)
        if judge(case)[0] == 'INVALID' and not rows.transient(case)
    }
    for number, run in enumerate(report['runs']):
        for case in run.get('testcases', []):
            believed = not case.get('fixture') and judge(case)[0] in rows.BELIEVED
            if believed and rows.key(case) not in wrong:
                tests[of_case.test(case), of_case.where(case)].append((number, case))
    return tests


def compared(cases):
    metrics = list(
        dict.fromkeys(m for _, c in cases for m in of_case.metrics(c, of_case.record(c)))
    )
    rates = {
        place_of(number, case): {
            m.name: m.rate(f.value) for m in metrics
            if (f := of_case.figures(case).get(m.name)) and f.value
        }
        for number, case in cases
    }  # fmt: skip
    nearest = {
        place_of(number, case): regimes.latencies(of_case.record(case)) for number, case in cases
    }
    lines, moved = [], []
    for axis in (1, 2):
        names = list(dict.fromkeys(place[axis] for place in rates))
        for name in names[1:]:
            pairs = pairs_of(rates, axis, name, names[0])
            alike = [
                pair
                for pair in pairs
                if not regimes.crossed([*nearest[pair[0]], *nearest[pair[1]]])
            ]
            line = against(rates, alike, metrics, name, names[0])
            if line:
                lines.append(line)
            elif len(pairs) >= LEAST:
                moved.append((name, names[0]))
    test, where = of_case.test(cases[0][1]), of_case.where(cases[0][1])
    return Group(test, where, tuple(metrics), lines, moved)


def place_of(number, case):
    """Round, preset, pinning and the test's other parameters: a pair differs in one alone."""
    return number, case['environ'], case.get('pinning') or '-', of_case.parameters(case)


def pairs_of(rates, axis, name, base):
    """[(place of this name, place of that)]: the same round, the same on every other axis."""
    mine = [place for place in rates if place[axis] == name]
    pairs = [
        (place, tuple(base if i == axis else part for i, part in enumerate(place)))
        for place in mine
    ]
    return [pair for pair in pairs if rates.get(pair[1])]


def against(rates, pairs, metrics, name, base):
    """One line: this name to that; None where too few pairs have a figure in common."""
    values = collections.defaultdict(list)
    for mine, other in ((rates[one], rates[at]) for one, at in pairs):
        for metric in metrics:
            if metric.name in mine and metric.name in other:
                ratio = mine[metric.name] / other[metric.name]
                values[metric.name].append(metric.figure(ratio))
    count = max(map(len, values.values()), default=0)
    if count < LEAST:
        return None
    return name, base, {key: median_of(series) for key, series in values.items()}, count


def median_of(values):
    """Its 95 % interval by order statistics, exact for any distribution; fewer than six values
    have none (two hold their median in half of the cases): by Student's t."""
    ordered, count = sorted(values), len(values)
    if count < 2 + len(STUDENT):
        half = STUDENT[count - 2] * statistics.stdev(values) / math.sqrt(count)
        middle = statistics.median(ordered)
        return Ratio(middle, max(middle - half, 0), middle + half)
    rank, below = 0, 0.0  # `rank` values may be left out at either end
    while rank < count // 2:
        below += math.comb(count, rank) / 2**count
        if 2 * below > 1 - CONFIDENCE:
            break
        rank += 1
    rank = max(rank - 1, 0)
    return Ratio(statistics.median(ordered), ordered[rank], ordered[count - 1 - rank])


def text(ratio):
    """'1.02 ±0.01'; rounded up, so that it holds."""
    if not ratio:
        return '-'
    half = max(ratio.high - ratio.median, ratio.median - ratio.low)
    return f'{ratio.median:.2f} ±{math.ceil(half * 100 - 1e-9) / 100:.2f}'


def left_out(compared):
    """One line on what has no ratio, because its host moved the cores; or none."""
    names = [f'{name} to {base} ({group.test})' for group in compared
             for name, base in group.moved]  # fmt: skip
    if names:
        yield ('No ratio, the two of most pairs were measured in two states of this machine, '
               f'whose host moves its cores: {", ".join(names)}.')  # fmt: skip


def sentences(compared):
    """'gcc-o3 is 1.02 ±0.01 of gcc-o2 ...' for each line of the groups; the last metric."""
    return [
        f'{group.test} on {group.where}, {group.metrics[-1].name}: {name} is '
        f'{text(medians[group.metrics[-1].name])} of {base}, the median of {pairs} pairs, each '
        'within one round.'
        for group in compared
        for name, base, medians, pairs in group.lines
        if group.metrics[-1].name in medians
    ]
