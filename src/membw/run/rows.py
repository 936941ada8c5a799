"""Rows of the table of a run: one for each preset, pinning and parameters, of all its rounds.

A row shows the best of its rounds, as STREAM does of its repetitions, with an interval that holds
all of them. A round that is INVALID makes the row INVALID: what is wrong once is wrong.
"""

import collections
from typing import NamedTuple

from membw.results import regimes, verdict
from membw.results.table import HIGHER, Figure, read_table
from membw.run import outcome


class Attempt(NamedTuple):
    """One test case of ReFrame's report: a row in one round."""

    case: dict
    record: dict  # of its node; {} where it left none
    figures: dict[str, Figure]  # by metric; {} of several nodes, and where nothing was measured
    word: str
    reason: str
    round: int


class Row(NamedTuple):
    test: str
    where: str  # system:partition
    preset: str
    parameters: dict[str, str]  # pinning among them
    word: str  # of results/verdict.py
    reason: str
    figures: dict[str, Figure]  # the best of the rounds, by metric
    numbers: dict[str, tuple[float, str]]  # what the report alone has: name -> (value, unit)
    attempts: list[Attempt]

    @property
    def pinning(self) -> str:
        return self.parameters.get('pinning', '')

    @property
    def record(self) -> dict:
        """Of the attempt that the row shows, else of any."""
        return next((a.record for a in reversed(self.attempts) if a.record), {})


def rows_of(report: dict, path: str) -> list[Row]:
    """In the order of the report, which lies at `path`."""
    cases = outcome.cases_of(report)
    builds = outcome.failed_builds(cases)
    attempts = collections.defaultdict(list)
    for case in filter(outcome.is_row, cases):
        attempts[_key(case)].append(attempt(case, path, builds))
    states = of_host([a for of_row in attempts.values() for a in of_row])
    return [combined(of_row, states) for of_row in attempts.values()]


def _key(case: dict) -> tuple:
    return (
        outcome.test_of(case),
        outcome.where(case),
        case['environ'],
        tuple(outcome.parameters(case).items()),
    )


def attempt(case: dict, path: str, builds: dict[str, str]) -> Attempt:
    word, reason = outcome.outcome(case, builds)
    figures, record = {}, {}
    file = outcome.record_file(case, path)
    if file and not case.get('node_check'):  # figures of a whole cluster: of the report
        table = read_table([str(file)])
        figures = {figure.metric: figure for figure in table.figures}
        record = table.record(table.figures[0]) if table.figures else {}
    if figures and word in (verdict.PASS, verdict.FAIL):
        judged = verdict.of_case(figures.values())
        if judged == verdict.INVALID or word == verdict.PASS:
            word = judged
    if word == verdict.PASS and not (figures or case.get('perfvalues')):
        word, reason = verdict.NOT_MEASURED, 'no figure in its record'
    return Attempt(case, record, figures, word, reason, int(case.get('round') or 1))


# --- the states of a virtual machine whose host moves its cores --------------------------------


def of_host(attempts: list[Attempt]) -> list[tuple[float, float]]:
    """[(least, most)] latency of the nearest cores in ns, of each state of the machine; [] where
    it stayed in one."""
    pairs = [regimes.latencies(a.record) for a in attempts if a.record]
    groups = regimes.groups(map(regimes.latency, pairs))
    return groups if len(groups) > 1 else []


def state_of(attempt: Attempt, states: list[tuple[float, float]]) -> int:
    """Its number in `states`; -1: not known, or several during the measurement."""
    return regimes.number(regimes.latency(regimes.latencies(attempt.record)), states)


def usual_state(attempts: list[Attempt], states: list[tuple[float, float]]) -> list[Attempt]:
    """The attempts in the state that most of them saw; all, where there is one state."""
    numbers = [state_of(a, states) for a in attempts]
    known = [number for number in numbers if number >= 0]
    if not known:
        return attempts
    usual = collections.Counter(known).most_common(1)[0][0]
    return [a for a, number in zip(attempts, numbers, strict=True) if number == usual]


# --- the rounds of a row -----------------------------------------------------------------------


def combined(attempts: list[Attempt], states: list[tuple[float, float]]) -> Row:
    measured = [a for a in attempts if a.figures]
    wrong = next(filter(is_wrong, attempts), None)
    chosen = wrong or (measured or attempts)[-1]
    figures = {} if wrong else best_figures(usual_state(measured, states))
    word, reason = chosen.word, chosen.reason
    if wrong and chosen.figures:
        reason = next(iter(chosen.figures.values())).reasons or reason
    if figures:
        word = verdict.of_case(figures.values())
        reason = why(word, figures) or (reason if word == chosen.word else '')
    case = chosen.case
    numbers = {} if wrong else numbers_of(case, figures)
    return Row(
        outcome.test_of(case),
        outcome.where(case),
        case['environ'],
        outcome.parameters(case),
        word,
        reason,
        figures,
        numbers,
        attempts,
    )


def is_wrong(attempt: Attempt) -> bool:
    """INVALID, or what the check refused for another reason than a reference."""
    case = attempt.case
    is_refused = case['result'] == 'fail' and case.get('fail_phase') == 'sanity'
    return attempt.word == verdict.INVALID or (is_refused and attempt.word == verdict.FAIL)


def best_figures(attempts: list[Attempt]) -> dict[str, Figure]:
    names = dict.fromkeys(name for a in attempts for name in a.figures)
    return {name: best([a.figures[name] for a in attempts if name in a.figures]) for name in names}


def best(figures: list[Figure]) -> Figure:
    """Of several rounds: the best estimate, with the interval of all; a lower bound where no
    round has an estimate, or where it lies above all their intervals."""
    choose = max if figures[0].better == HIGHER else min
    bounds = [f for f in figures if f.is_bound]
    estimates = [f for f in figures if not f.is_bound]
    if not estimates:
        return choose(bounds, key=lambda f: f.value)
    chosen = choose(estimates, key=lambda f: f.value)
    low, high = interval(estimates)
    chosen = chosen._replace(low=low, high=high)
    above = [f for f in bounds if f.value > (chosen.value if high is None else high)]
    return choose(above, key=lambda f: f.value) if above else chosen


def interval(figures: list[Figure]) -> tuple[float | None, float | None]:
    """(low, high) of the best of several estimates; (None, None): one without an interval.

    The best of a further run of all rounds is below a low only if each of its rounds is, so that
    the better end of the lows counts, and of the highs; no figure lies outside.
    """
    values = [f.value for f in figures]
    if len(figures) == 1:
        return figures[0].low, figures[0].high
    lows = [f.value if f.low is None else f.low for f in figures]
    highs = [f.value if f.high is None else f.high for f in figures]
    if figures[0].better == HIGHER:
        return min(max(lows), min(values)), max(highs)
    return min(lows), max(min(highs), max(values))


def why(word: str, figures: dict[str, Figure]) -> str:
    """The figures that make a row FAIL or UNDECIDED."""
    if word not in (verdict.FAIL, verdict.UNDECIDED):
        return ''
    bad = [figure for figure in figures.values() if verdict.of_figure(figure) == word]
    return '; '.join(map(verdict.missed, bad))


def numbers_of(case: dict, figures: dict[str, Figure]) -> dict[str, tuple[float, str]]:
    """{name: (value, unit)} of ReFrame's performance variables that are no metric of a record:
    of the median node, points of a curve."""
    numbers = {}
    for key, row in (case.get('perfvalues') or {}).items():
        name = key.rsplit(':', 1)[-1]
        if name not in figures and row[0] is not None:
            numbers[name] = row[0], row[4]
    return numbers
