"""One row per figure, as CSV; and per case that has none: what is missing in records,
and in ReFrame's reports the cases without a record, as after a failed build. The verdict is that
of the page: of the figure, or of its node beside its peers, whichever is worse.
"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from membw.errors import MembwError
from membw.moments import utc
from membw.rank.judge import NodeVerdict
from membw.rank.ranking import Ranking
from membw.results import reframe
from membw.results.case import Case
from membw.results.figure import Figure, Lost
from membw.results.findings import text_of
from membw.results.table import Table
from membw.results.verdict import judged
from membw.words import INVALID, MISSING, NO_FIGURE, worst

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
    if beside and worst([beside.verdict, verdict]) != verdict:
        verdict, findings = beside.verdict, beside.findings
    row = {name: getattr(f, name) for name in OF_FIGURE} | {
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
    return {name: row[name] for name in COLUMNS}


class Csv:
    """A line of titles, and a line per figure and per case without one, as they come: no memory
    has a year of a large fleet."""

    def __init__(self, stream: TextIO) -> None:
        self.writer = csv.DictWriter(stream, COLUMNS, lineterminator='\n')
        self.writer.writeheader()

    def write(self, rows: Iterable[Mapping[str, object]]) -> None:
        for row in rows:
            texts = ((k, v) for k, v in row.items() if isinstance(v, str))
            quoted = {k: f"'{v}" for k, v in texts if v.startswith(FORMULA)}
            self.writer.writerow({**row, **quoted})


def of_records(lost: Iterable[Lost]) -> list[dict[str, str]]:
    """A row per launch that is missing: NAMES, time, verdict and reason."""
    return [
        columns_of(one.of.row) | {'time': utc(one.time), 'verdict': one.word, 'reason': one.text}
        for one in lost
    ]


def of_missing(ranking: Ranking, table: Table) -> list[dict[str, str]]:
    """A row per node of the table of which no record counts now."""
    known = table.seen.keys() - {one.node for one in table.lost}
    gone = (n for n in ranking.nodes if n.verdict == MISSING and n.name in known)
    return [{'node': n.name, 'verdict': MISSING, 'reason': n.reason} for n in gone]


def of_reports(folders: Sequence[str], problems: list[str]) -> list[dict[str, str]]:
    """A row per case of each report in FOLDER/reports that left no record. What cannot be read
    goes to `problems`."""
    rows: dict[tuple, dict[str, str]] = {}
    for file in sorted(f for folder in folders for f in Path(folder).glob('reports/run-*.json')):
        try:
            report = reframe.load(str(file))
        except MembwError as err:
            problems.append(str(err))
            continue
        cases = reframe.cases_of(report)
        builds = reframe.failed_builds(cases)
        began = utc(report['session_info'].get('time_start_unix') or 0)
        for case in filter(reframe.is_row, cases):
            word, reason = reframe.outcome(case, builds)
            if word in NO_FIGURE and not case.get('record'):
                row = reframe.case_of(case)
                own = {'time': began, 'verdict': word, 'reason': reason}
                rows[file, row] = columns_of(row) | own
    return list(rows.values())


def newest(rows: Sequence[dict[str, str]], figures: Sequence[Figure]) -> list[dict[str, str]]:
    """The last row of each case and node, where no run has measured it since; of a report's case
    the node is not known."""
    last = {tuple(row.get(name, '') for name in NAMES): row for row in rows}
    for f in figures:
        for node in (f.node, ''):
            key = tuple(columns_of(f.of.row.at(node)).values())
            # a report has the begin of its run, a record the end: of that it is not since
            if key in last and (utc(f.time), not node) > (last[key]['time'], False):
                del last[key]
    return list(last.values())
