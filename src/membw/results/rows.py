"""Rows: one for each test, preset, pinning, parameters and node, of all its rounds; one place
makes them for the terminal, the page, JUnit, the export and the night.

A row shows the best of its rounds, as STREAM does of its repetitions, with an interval that holds
all of them. A round that is INVALID makes the
row INVALID: what is wrong once is wrong. A round that died, or is missing, is named, and the row
is never PASS.
"""

import collections
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from membw.grouped import grouped
from membw.printable import printable
from membw.results import reframe, verdict
from membw.results.case import Case
from membw.results.figure import Figure, Lost, Measurement, headline
from membw.results.findings import Finding, Findings, reported, text_of
from membw.results.record import HIGHER
from membw.results.reframe import OwnCase
from membw.results.run_ledger import Key
from membw.results.table import Table
from membw.words import GOOD, INVALID, MISSING, NO_FIGURE, PASS, VALID, is_worse, worst

NO_CASE = OwnCase('', '', '', '', '')


class Attempt(NamedTuple):
    """A row in one round."""

    word: str
    findings: Findings
    figures: dict[str, Figure]  # by metric; {} where nothing was measured
    case: OwnCase = NO_CASE  # of ReFrame's report
    record: dict = {}  # of its node; {} where it left none
    round: int = 1


class Row(NamedTuple):
    case: Case  # Case.row of it; its node is blank where none is known, or many measured together
    word: str  # of membw/words.py
    findings: Findings
    figures: dict[str, Figure]  # the best of the rounds, by metric; wrong ones of an INVALID row
    attempts: list[Attempt]

    @property
    def test(self) -> str:
        return self.case.test

    @property
    def preset(self) -> str:
        return self.case.preset

    @property
    def pinning(self) -> str:
        return self.case.pinning

    @property
    def node(self) -> str:
        return self.case.node

    @property
    def parameters(self) -> dict[str, str]:
        """The pinning among them."""
        first = {'pinning': self.pinning} if self.pinning else {}
        return first | dict(self.case.parameters)

    @property
    def reason(self) -> str:
        return text_of(self.findings)

    @property
    def headline(self) -> Figure:
        """The figure that stands for the row, which has one."""
        return headline(self.figures)

    @property
    def is_valid(self) -> bool:
        """Whether its figures may be shown."""
        return bool(self.figures) and self.word != INVALID

    @property
    def name(self) -> str:
        """Preset, pinning and parameters."""
        words = self.preset, self.pinning, self.case.more
        return ' '.join(filter(None, words)) or self.test

    @property
    def stores(self) -> str:
        """What the compiler made of the kernels: 'memmove/64', '256nt'; '' where it is unknown."""
        return (self.attempts[-1].case.stores or '') if self.attempts else ''

    @property
    def record(self) -> dict:
        """Of the attempt that the row shows, else of any."""
        return next((a.record for a in reversed(self.attempts) if a.record), {})


# --- of ReFrame's report -------------------------------------------------------------------------


def rows_of(cases: list[OwnCase], path: str, table: Table) -> list[Row]:
    """In the order of the report at `path`; `table`: of its records."""
    builds = reframe.failed_builds(cases)
    by_file, attempts = grouped((figure.file, figure) for figure in table.figures), []
    left_out = {one.file: one for one in table.lost}
    for case in (case for case in cases if case.is_row):
        file = str(reframe.record_file(case, path))
        own, why, row = by_file.get(file, []), left_out.get(file), case.row
        if case.node_check:  # of a whole cluster the report has the figures, the medians
            one, row = attempt(case, {}, medians_of(case, own), builds), row.at('')
        else:
            record = table.evidence(own[0]) if own else {}
            one = attempt(case, record, {f.metric: f for f in own}, builds)
            row = row.at(own[0].node) if own else row
            if why and (one.word == MISSING or is_worse(why.word, one.word)):
                one = one._replace(word=why.word, findings=reported(why.text, 'lost'))
        attempts.append((row, one))
    return [Row(row, *judged(of), of) for row, of in of_one_node(grouped(attempts)).items()]


def of_one_node(attempts: dict[Case, list[Attempt]]) -> dict[Case, list[Attempt]]:
    """An attempt of which no node is known is of the only node of its row, where there is one."""
    nodes = grouped((row.at(''), row) for row in attempts)
    found: dict[Case, list[Attempt]] = {}
    for row, of in attempts.items():
        known = [one for one in nodes[row.at('')] if one.node]
        alone = known[0] if len(known) == 1 else row
        found.setdefault(alone, []).extend(of)
    return {row: sorted(of, key=lambda one: one.round) for row, of in found.items()}


def attempt(
    case: OwnCase, record: dict, own: dict[str, Figure], builds: dict[Key, str]
) -> Attempt:
    """`record`, `own`: the record of the case and its figures, where it left one."""
    word, reason = reframe.outcome(case, builds)
    findings = reported(reason)
    figures = own | compared_by_reframe(case, own)
    wrong = next((f for f in figures.values() if f.verdict == INVALID), None)
    if wrong and word not in NO_FIGURE:
        word, findings = INVALID, findings or wrong.findings
    if word == PASS and not case.node_check:
        word = VALID  # its figures say what was compared
    if word in (PASS, VALID) and not figures:
        word, findings = MISSING, (Finding('no-figure'),)
    return Attempt(word, findings, figures, case, record, case.round or 1)


def medians_of(case: OwnCase, records: Sequence[Figure]) -> dict[str, Figure]:
    """The figures of a whole cluster, as its check noted them; `records`: of its nodes."""
    of = records[0].of.record if records else None
    stands, issues = (of.stands, of.case.known_issues or {}) if of else ('', {})
    return {
        name: Figure(
            name, m.value, m.unit, m.better, bound=m.bound, is_headline=name == stands,
            known_issue=printable(issues.get(name, '')),
        )
        for name, m in (case.medians or {}).items()
    }  # fmt: skip


def compared_by_reframe(case: OwnCase, own: dict[str, Figure]) -> dict[str, Figure]:
    """ReFrame's performance variables that no record has: medians of nodes, with their references;
    figures of a program without a record."""
    figures = {}
    for key, (value, reference, low, high, unit, *_) in (case.perfvalues or {}).items():
        name, has_limits = key.rsplit(':', 1)[-1], (low, high) != (None, None)
        known = own.get(name, Figure(name))
        if value is not None and not known.of.record:
            figures[name] = known.replace(
                value=value, unit=unit, reference=reference if has_limits else None,
                reference_low=low, reference_high=high,
            )  # fmt: skip
    return figures


# --- of records alone ----------------------------------------------------------------------------


def rows_of_records(figures: Iterable[Figure], lost: Iterable[Lost] = ()) -> list[Row]:
    """One Row per test, preset, pinning, parameters and node, best first."""
    every_run = grouped((id(f.of), f) for f in figures).values()
    rounds = grouped((of[0].of.row, of) for of in every_run)
    missing = grouped((one.of.row, one) for one in lost)
    keys = dict.fromkeys([*rounds, *missing])
    every = (_row(key, rounds.get(key, []), missing.get(key, [])) for key in keys)
    return sorted(every, key=best_first)


def _row(case: Case, rounds: list[list[Figure]], lost: list[Lost]) -> Row:
    own = {id(one.of) for one in lost}
    attempts = [Attempt(one.word, reported(one.text, 'lost'), {}) for one in lost]
    for figures in rounds:
        of, found = figures[0].of, {f.metric: f for f in figures}
        word, findings = of_measurement(of)
        attempts.append(Attempt(word, findings, found, round=0 if id(of) in own else 1))
    return Row(case, *judged(attempts), attempts)


def of_measurement(of: Measurement) -> tuple[str, Findings]:
    """(word, why) of what a record says itself: that it is wrong, or of its node."""
    if of.verdict == 'VALID':
        return (VALID if of.word in ('', *GOOD) else of.word), reported(of.why)
    return of.verdict, of.findings


def best_first(row: Row) -> tuple[bool, bool, float]:
    """A key to sort by: INVALID and unmeasured rows last."""
    if not row.figures:
        return True, True, 0.0
    value = row.headline.value
    return not row.is_valid, False, -value if row.headline.better == HIGHER else value


# --- the rounds of a row -------------------------------------------------------------------------


def judged(attempts: list[Attempt]) -> tuple[str, Findings, dict[str, Figure]]:
    """(word, why, figures) of a row."""
    lost = [a for a in attempts if a.word in NO_FIGURE]
    rest = [a for a in attempts if a.word not in NO_FIGURE]
    named = whats_lost(lost, attempts)
    wrong = [a for a in rest if a.word == INVALID]
    if wrong:
        word = worst([INVALID, *(a.word for a in lost)])
        return word, (*named, *findings_of(wrong[0])), best_figures(wrong)
    figures = best_figures([a for a in attempts if a.figures])
    words = [worst(map(verdict.of_figure, figures.values()))] if figures else []
    found = why(words[0], figures) if figures else ()
    is_good = not figures or words[0] in GOOD
    if rest and is_good and not any(a.word in GOOD for a in rest):
        words, found = [rest[-1].word], rest[-1].findings  # whoever judged it knows more
    elif rest and is_good:
        words = [worst([*words, *(a.word for a in rest if a.word in GOOD)])]
    elif rest and words[0] == rest[-1].word:
        found = found or rest[-1].findings
    word = worst([*words, *(a.word for a in lost)])
    return word, (*named, *found), figures


def findings_of(attempt: Attempt) -> Findings:
    own = (f.findings for f in attempt.figures.values() if f.findings)
    return next(own, attempt.findings)


def whats_lost(lost: list[Attempt], attempts: list[Attempt]) -> Findings:
    """'1 of 2 rounds: ended by SIGBUS (signal 7) on n2'; each reason once."""
    count = collections.Counter(text_of(a.findings) for a in lost)
    rounds = sum(a.round > 0 for a in attempts)
    few = '' if rounds <= 1 else 'rounds-'
    return tuple(
        Finding(f'{few}lost', {'text': text} | ({'lost': n, 'rounds': rounds} if few else {}))
        for text, n in count.items()
    )


def best_figures(attempts: list[Attempt]) -> dict[str, Figure]:
    names = dict.fromkeys(name for a in attempts for name in a.figures)
    return {name: best([a.figures[name] for a in attempts if name in a.figures]) for name in names}


def best(figures: list[Figure]) -> Figure:
    """Of several rounds: the best estimate, with the interval of all; a bound where no round has
    an estimate, or where it is better than the best of them. What may be worse than it reads
    counts where there is nothing else."""
    if len(figures) == 1:
        return figures[0]
    choose = max if figures[0].better == HIGHER else min
    sure = [f for f in figures if not f.may_be_worse] or figures
    estimates = [f for f in sure if not f.is_bound]
    chosen = choose(estimates or sure, key=lambda f: f.value)
    proven = choose(sure, key=lambda f: f.value)
    if proven.is_bound and proven.value != chosen.value or not estimates:
        return proven
    low, high = interval(estimates)
    return chosen.replace(low=low, high=high)


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


def why(word: str, figures: dict[str, Figure]) -> Findings:
    """Of the figures that give a row its word."""
    every = map(verdict.judged, figures.values())
    found = [one for own, findings in every if own == word for one in findings]
    return tuple({one.text: one for one in found}.values())
