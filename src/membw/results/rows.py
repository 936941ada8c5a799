"""Rows: one for each test, preset, pinning and parameters, of all its rounds; one place makes them
for the terminal, the page, JUnit, the export and the night.

A row shows the best of its rounds, as STREAM does of its repetitions, with an interval that holds
all of them. A round that is INVALID makes the row INVALID: what is wrong once is wrong. A round
that died, or was not measured, is named, and the row is never PASS. Where a virtual machine was in
several states, all rows show the one that most rows saw: rows compare presets, not states. A row
that never saw it says so.
"""

import collections
import json
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from membw.results import reframe, regimes, verdict
from membw.results.table import HIGHER, Figure, Lost, Table, headline, read_table

# of a virtual machine that was in several, see regimes.py; () is unknown
State = tuple[float, ...]
MET = "meets its reference: remove the '$xfail' from the references file"
# words of an attempt that did not bring all that was expected
LOST = (verdict.DIED, verdict.NOT_MEASURED)


class Attempt(NamedTuple):
    """One test case of ReFrame's report: a row in one round."""

    case: dict
    record: dict  # of its node; {} where it left none
    figures: dict[str, Figure]  # by metric; {} where nothing was measured
    word: str
    reason: str
    round: int
    state: State = ()


class Row(NamedTuple):
    test: str
    where: str  # system:partition
    preset: str
    parameters: dict[str, str]  # pinning among them
    word: str  # of results/verdict.py
    reason: str
    figures: dict[str, Figure]  # the best of the rounds, by metric
    attempts: list[Attempt]
    node: str = ''  # of the rows of a page

    @property
    def headline(self) -> Figure:
        """The figure that stands for the row, which has one."""
        return headline(self.figures)

    @property
    def more(self) -> str:
        """The parameters but for the pinning."""
        return ' '.join(f'{k}={v}' for k, v in self.parameters.items() if k != 'pinning')

    @property
    def name(self) -> str:
        """Preset, pinning and parameters."""
        return ' '.join(filter(None, (self.preset, self.pinning, self.more))) or self.test

    @property
    def is_valid(self) -> bool:
        """Whether its figures may be shown."""
        return bool(self.figures) and self.word != verdict.INVALID

    @property
    def pinning(self) -> str:
        return self.parameters.get('pinning', '')

    @property
    def stores(self) -> str:
        """What the compiler made of the kernels: 'memmove/64', '256nt'; '' where it is unknown."""
        return (self.attempts[-1].case.get('stores') or '') if self.attempts else ''

    @property
    def record(self) -> dict:
        """Of the attempt that the row shows, else of any."""
        return next((a.record for a in reversed(self.attempts) if a.record), {})


def records_of(cases: list[dict], path: str) -> Table:
    """The records that the cases of a report at `path` name."""
    files = {reframe.record_file(case, path) for case in filter(reframe.is_row, cases)}
    return read_table(sorted(str(file) for file in files if file))


def rows_of(cases: list[dict], path: str, table: Table) -> list[Row]:
    """In the order of the report at `path`; `table`: of its records."""
    builds = reframe.failed_builds(cases)
    by_file: dict[str, list[Figure]] = collections.defaultdict(list)
    for figure in table.figures:
        by_file[figure.file].append(figure)
    every = []
    for case in filter(reframe.is_row, cases):
        own = by_file[str(reframe.record_file(case, path))]
        if case.get('node_check'):  # of a whole cluster the report has the figures, the medians
            names = {f.metric for f in own if f.is_headline}
            every.append(attempt(case, {}, [], builds, names))
        else:
            record = table.record(own[0]) if own else {}
            every.append(attempt(case, record, own, builds))
    latencies = [regimes.latency(a.record) for a in every]
    states = regimes.states(latencies)
    groups: dict[tuple, list[Attempt]] = collections.defaultdict(list)
    for one, latency in zip(every, latencies, strict=True):
        parameters = tuple(reframe.parameters(one.case).items())
        key = reframe.test_of(one.case), reframe.where(one.case), one.case['environ'], parameters
        groups[key].append(one._replace(state=regimes.state(latency, states)))
    usual = usual_state(groups.values())
    return [
        Row(test, where, preset, dict(parameters), *judged(attempts, usual), attempts)
        for (test, where, preset, parameters), attempts in groups.items()
    ]


def attempt(
    case: dict,
    record: dict,
    recorded: Sequence[Figure],
    builds: dict[reframe.Build, str],
    headlines: Container[str] = (),
) -> Attempt:
    """`record`, `recorded`: the record of the case and its figures, where it left one;
    `headlines`: of figures that are in no record."""
    word, reason = reframe.outcome(case, builds)
    own = {figure.metric: figure for figure in recorded}
    figures = own | figures_of(case, headlines) | own
    if word in (verdict.PASS, verdict.FAIL) and any(
        f.verdict == verdict.INVALID for f in figures.values()
    ):
        word = verdict.INVALID
    if word == verdict.PASS and not figures:
        word, reason = verdict.NOT_MEASURED, 'no figure in its record'
    return Attempt(case, record, figures, word, reason, int(case.get('round') or 1))


def figures_of(case: dict, headlines: Container[str] = ()) -> dict[str, Figure]:
    """ReFrame's performance variables: of the median node, of a program without a record."""
    issues, figures = json.loads(case.get('known_issues') or '{}'), {}
    for name, row in json.loads(case.get('metrics') or '{}').items():
        if 'value' in row:  # a median of nodes
            figures[name] = Figure(metric=name, is_headline=name in headlines, **row)
    for key, (value, reference, low, high, unit, *_) in (case.get('perfvalues') or {}).items():
        name, has_limits = key.rsplit(':', 1)[-1], (low, high) != (None, None)
        if value is not None:
            figures[name] = Figure(
                metric=name,
                is_headline=name in headlines,
                value=value,
                unit=unit,
                reference=reference if has_limits else None,
                reference_low=low,
                reference_high=high,
                known_issue=issues.get(name, ''),
            )
    return figures


def usual_state(rows: Iterable[Sequence[Attempt]]) -> State:
    """The state that most rows saw, of several such the one of most rounds; () of one state."""
    seen = [[a.state for a in attempts if a.state and a.figures] for attempts in rows]
    rounds = collections.Counter(state for states in seen for state in states)
    count = collections.Counter(state for states in seen for state in {*states})
    return max(count, key=lambda state: (count[state], rounds[state]), default=())


# --- the rounds of a row -----------------------------------------------------------------------


def judged(attempts: list[Attempt], usual: State) -> tuple[str, str, dict[str, Figure]]:
    """(word, reason, figures) of a row: of its rounds in the usual state, if any was."""
    lost = [a for a in attempts if a.word in LOST]
    lost_word = verdict.worst(a.word for a in lost) if lost else verdict.PASS
    wrong = next((a for a in attempts if a.word == verdict.INVALID), None)
    if wrong:
        word = verdict.worst([wrong.word, lost_word])
        return word, '; '.join([*whats_lost(lost, attempts), reason_of(wrong)]), {}
    measured = [a for a in attempts if a.figures]
    if not measured:
        others = [a for a in attempts if a not in lost]
        reasons = [*whats_lost(lost, attempts), *(a.reason for a in others if a.reason)]
        return verdict.worst(a.word for a in attempts), '; '.join(reasons), {}
    shown = [a for a in measured if a.state == usual] or measured
    figures = best_figures(shown)
    word = verdict.of_case(figures.values())
    reason = why(word, figures)
    if word in verdict.GOOD and not lost and not any(a.word in verdict.GOOD for a in measured):
        word, reason = measured[-1].word, measured[-1].reason  # ReFrame, or the check, knows more
    if word == measured[-1].word:
        reason = reason or measured[-1].reason
    reasons = [*whats_lost(lost, attempts), reason]
    if shown[0].state not in (usual, ()):
        apart, usually = regimes.text(shown[0].state), regimes.text(usual)
        reasons.append(f'nearest cores {apart} apart, of other rows {usually}')
    words = [word, lost_word] if lost else [word]
    return verdict.worst(words), '; '.join(filter(None, reasons)), figures


def reason_of(attempt: Attempt) -> str:
    return next((f.reasons for f in attempt.figures.values() if f.reasons), attempt.reason)


def whats_lost(lost: list[Attempt], attempts: list[Attempt]) -> list[str]:
    """'1 of 2 rounds: ended by SIGBUS (signal 7) on n2'; each reason once."""
    count = collections.Counter(a.reason for a in lost)
    if len(attempts) == 1:
        return list(count)
    return [f'{n} of {len(attempts)} rounds: {reason}' for reason, n in count.items()]


def best_figures(attempts: list[Attempt]) -> dict[str, Figure]:
    names = dict.fromkeys(name for a in attempts for name in a.figures)
    return {name: best([a.figures[name] for a in attempts if name in a.figures]) for name in names}


def best(figures: list[Figure]) -> Figure:
    """Of several rounds: the best estimate, with the interval of all; a bound where no round has
    an estimate, or where it is better than all their intervals. What may be worse than it reads
    counts where there is nothing else."""
    is_more = figures[0].better == HIGHER
    choose = max if is_more else min
    sure = [f for f in figures if not f.may_be_worse] or figures
    estimates = [f for f in sure if not f.is_bound]
    if not estimates:
        return choose(sure, key=lambda f: f.value)
    chosen = choose(estimates, key=lambda f: f.value)
    low, high = interval(estimates)
    chosen = chosen._replace(low=low, high=high)
    end = high if is_more else low
    end = chosen.value if end is None else end
    better = [f for f in sure if f.is_bound and choose(f.value, end) != end]
    return choose(better, key=lambda f: f.value) if better else chosen


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
    """The figures that make a row FAIL or UNDECIDED, and those of a known issue."""
    bad = [figure for figure in figures.values() if verdict.of_figure(figure) == word]
    if word in (verdict.KNOWN, verdict.XPASS):
        said = ', '.join(f'{figure.metric}: {figure.known_issue}' for figure in bad)
        return f'{said} ({MET})' if word == verdict.XPASS else said
    return '; '.join(filter(None, map(verdict.missed, bad)))


# --- of records alone ----------------------------------------------------------------------------


def rows_of_records(figures: Iterable[Figure], lost: Iterable[Lost] = ()) -> list[Row]:
    """One Row per test, preset, pinning, parameters and node, best first."""
    rounds: dict[tuple, list[Figure]] = collections.defaultdict(list)
    missing: dict[tuple, list[Lost]] = collections.defaultdict(list)
    for f in figures:
        rounds[key_of(f)].append(f)
    for one in lost:
        missing[key_of(one)].append(one)
    keys = dict.fromkeys([*rounds, *missing])
    return sorted((of_rounds(rounds[key], missing[key]) for key in keys), key=best_first)


def key_of(f: Figure | Lost) -> tuple[str, ...]:
    return f.system, f.partition, f.benchmark, f.preset, f.pinning, f.parameters, f.node


def of_rounds(figures: Sequence[Figure], lost: Sequence[Lost]) -> Row:
    """A round that is INVALID makes the row INVALID; one that died is named."""
    wrong = [f for f in figures if f.verdict == verdict.INVALID]
    by_metric: dict[str, list[Figure]] = collections.defaultdict(list)
    for figure in wrong or figures:
        by_metric[figure.metric].append(figure)
    found = {name: best(same) for name, same in by_metric.items()}
    why_not = [wrong[0].reasons] if wrong else [verdict.missed(f) for f in found.values()]
    words = [*map(verdict.of_figure, found.values()), *(one.word for one in lost)]
    if own := [f for f in figures if f.word in verdict.OF_NODE]:
        words.append(verdict.OF_NODE[own[-1].word])
        why_not.append(own[-1].why)
    reasons = filter(None, [*dict.fromkeys(one.text for one in lost), *why_not])
    f: Figure | Lost = figures[0] if figures else lost[0]
    parameters = {'pinning': f.pinning, **reframe.parameters_of(f.parameters)}
    where = f'{f.system}:{f.partition}'
    word, reason = verdict.worst(words), '; '.join(reasons)
    return Row(f.benchmark, where, f.preset, parameters, word, reason, found, [], f.node)


def best_first(row: Row) -> tuple[bool, bool, float]:
    """A key to sort by: INVALID and unmeasured rows last."""
    if not row.figures:
        return True, True, 0.0
    value = row.headline.value
    return not row.is_valid, False, -value if row.headline.better == HIGHER else value
