"""One row per figure, as CSV; and per case that has none: what is missing in records,
and in ReFrame's reports the cases without a record, as after a failed build. The verdict is that
of the page: of the figure, or of its node beside its peers, whichever is worse.
"""

import csv
from codecs import StreamWriter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from membw.errors import MembwError
from membw.moments import utc
from membw.rank.judge import NodeVerdict
from membw.rank.ranking import Ranking, unmeasured
from membw.results import reframe
from membw.results.case import Case
from membw.results.figure import Figure, Lost
from membw.results.findings import text_of
from membw.results.ranks import Run
from membw.results.rows import rows_of
from membw.results.table import Table
from membw.results.verdict import judged
from membw.words import INVALID, MISSING, NO_FIGURE, is_worse

COLUMNS = (
    'time test parameters system partition preset pinning node verdict metric value lower_bound '
    'unit better low high reference ratio reason'
).split()
NAMES = ('test', 'parameters', 'system', 'partition', 'preset', 'pinning', 'node')  # of a row
OF_FIGURE = 'metric', 'unit', 'better', 'reference'
# what begins so is a formula to a spreadsheet
FORMULA = ('=', '+', '-', '@')
Words = Callable[[Figure], NodeVerdict | None]  # of its node beside its peers
Unmeasured = Sequence[Mapping[str, str]]  # rows of what has no figure


def columns_of(row: Case) -> dict[str, str]:
    return {name: row.more if name == 'parameters' else getattr(row, name) for name in NAMES}


def words_of(ranking: Ranking, table: Table) -> Words:
    """Of the figures of the newest measurement, read again or not."""
    beside = ranking.beside()
    newest = {(f.file, f.line) for f in table.figures if id(f.of) in ranking.newest}
    return lambda f: beside.get((f.node, f.setting)) if (f.file, f.line) in newest else None


def row_of(figure: Figure, words: Words) -> dict[str, object]:
    """The columns of a figure; None is what is not known, or the number of an INVALID figure.

    `value`, `lower_bound` (of a figure that is a bound), `low`, `high` and `reference` are in
    `unit`; `ratio` is the value divided by the reference.
    """
    f, (verdict, findings) = figure, judged(figure)
    is_known = verdict != INVALID
    beside = words(f)
    if beside and is_worse(beside.verdict, verdict):
        verdict, findings = beside.verdict, beside.findings
    return {name: getattr(f, name) for name in OF_FIGURE} | {
        **columns_of(f.of.row),
        'time': utc(f.time),
        'verdict': verdict,
        'value': f.value if is_known and not f.is_bound else None,
        'lower_bound': f.value if is_known and f.sign == '≥ ' else None,
        'low': f.low if is_known else None,
        'high': f.high if is_known else None,
        'ratio': f.value / f.reference if is_known and f.reference and not f.is_bound else None,
        'reason': text_of(findings),
    }


def csv_writer(stream: StreamWriter) -> Callable[[Iterable[Mapping[str, object]]], None]:
    """A function that writes rows, below the line of titles."""
    writer = csv.DictWriter(stream, COLUMNS, lineterminator='\n')
    writer.writeheader()

    def write(rows: Iterable[Mapping[str, object]]) -> None:
        for row in rows:
            texts = ((k, v) for k, v in row.items() if isinstance(v, str))
            writer.writerow({**row, **{k: f"'{v}" for k, v in texts if v.startswith(FORMULA)}})

    return write


def no_figure(row: Case, time: float, word: str, reason: str) -> dict[str, str]:
    return columns_of(row) | {'time': utc(time), 'verdict': word, 'reason': reason}


def of_records(lost: Iterable[Lost]) -> list[dict[str, str]]:
    """A row per launch that is missing."""
    return [no_figure(one.of.row, one.time, one.word, one.text) for one in lost]


def of_missing(ranking: Ranking, table: Table) -> list[dict[str, str]]:
    """A row per node of the table of which no record counts now."""
    known = table.seen.keys() - {one.node for one in table.lost}
    gone = (n for n in ranking.nodes if n.verdict == MISSING and n.name in known)
    return [{'node': n.name, 'verdict': MISSING, 'reason': n.reason} for n in gone]


def of_reports(folders: Sequence[str], problems: list[str]) -> dict[Case, dict[str, str]]:
    """The last row of each case of the reports in FOLDER/reports that left no record. What cannot
    be read goes to `problems`."""
    made: dict[Case, dict[str, str]] = {}
    for file in sorted(f for folder in folders for f in Path(folder).glob('reports/run-*.json')):
        try:
            session, every = reframe.load(str(file))
        except MembwError as err:
            problems.append(str(err))
            continue
        began = session.time_start_unix or 0
        cases = [case for case in every if not case.record and not case.is_dry]
        lost = (row for row in rows_of(cases, str(file), Table()) if row.word in NO_FIGURE)
        made |= {row.case: no_figure(row.case, began, row.word, row.reason) for row in lost}
    return made


class Newest(dict[Case, Run]):
    """The newest run of each row that measured something, whatever its age."""

    def add(self, run: Run) -> None:
        row = run.of.row
        is_newer = row not in self or self[row].of.time <= run.of.time
        if is_newer and any(metric.value is not None for metric in run.metrics.values()):
            self[row] = run

    def figures(self, nodes: Container[str]) -> Iterator[Figure]:
        return (figure for row, run in self.items() if row.node in nodes for figure in run.figures)


def missing(
    ranking: Ranking, table: Table, folders: Sequence[str], newest: Newest | None
) -> list[dict[str, str]]:
    """Rows of what has no figure; of `newest` what it has measured since is not among them."""
    made, reported = of_missing(ranking, table), of_reports(folders, table.problems)
    if newest is None:
        return [*made, *reported.values()]
    for row, run in newest.items():
        for at in {row, row.at('')} & reported.keys():  # of a report's case the node is not known
            # a report has the begin of its run, a record the end: of that it is not since
            if (utc(run.of.time), not at.node) > (reported[at]['time'], False):
                del reported[at]
    return [*made, *of_records(unmeasured(table)), *reported.values()]
