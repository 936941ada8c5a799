"""A run: its cases, rows and verdict, for the terminal, the report and the JUnit file."""

import collections
from typing import NamedTuple

from membw.errors import MembwError
from membw.printable import plural
from membw.results import reframe, verdict
from membw.results.hostlist import chosen_nodes
from membw.results.rows import Row, records_of, rows_of
from membw.results.table import Table


class Run(NamedTuple):
    """A run, as the terminal, the report and the JUnit file show it."""

    path: str  # of ReFrame's report
    cases: list[dict]
    rows: list[Row]
    table: Table  # of the records that the cases name
    is_dry: bool
    verdict: str  # 'PASS: 3 PASS', the last line
    status: int  # the exit status; results/verdict.py has both rules
    seconds: float | None = None  # that the command took
    is_quick: bool = False  # `membw run` without arguments: one screen


def notes(begun: float, is_quick: bool) -> list[str]:
    """Options of ReFrame: its report then says what `read` tells of the command."""
    kind = 'quick' if is_quick else 'full'
    return [f'--session-extras=membw_begun={begun:.1f},membw_run={kind}']


def read(path: str, nodes: str = '') -> Run:
    """MembwError: no report, or one without a test case; `nodes`: their rows only."""
    report = reframe.load(path)
    cases, session = reframe.cases_of(report), report['session_info']
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run --full' runs them all")
    table = records_of(cases, path)
    rows = rows_of(cases, path, table)
    if nodes:
        names = chosen_nodes(nodes, {row.record['host'] for row in rows if row.record})
        rows = [row for row in rows if row.record.get('host') in names]
    if rows and all(reframe.is_dry(a.case) for row in rows for a in row.attempts):
        text = f'{verdict.NOT_MEASURED}: a dry run of {plural(len(rows), "row")}'
        return Run(path, cases, rows, table, True, text, 0)
    builds = len(reframe.failed_builds(cases))
    words = [row.word for row in rows] + [verdict.NOT_MEASURED] * bool(builds)
    counts = collections.Counter(row.word for row in rows)
    named = [f'{counts[word]} {word}' for word in reversed(verdict.WORST_FIRST) if counts[word]]
    skips = sum(
        case['result'] == 'skip' and not case.get('fixture') and int(case.get('round') or 1) == 1
        for case in cases
    )
    named += [f'{skips} skipped'] if skips else []
    named += [f'{plural(builds, "build")} failed'] if builds else []
    if not rows and skips:
        named = [f'all {skips} cases were skipped, for the reasons above']
    text = f'{verdict.worst(words)}: {", ".join(named) or "no case was complete"}'
    is_quick = session.get('membw_run') == 'quick'
    status, seconds = verdict.exit_status(words), took(session)
    return Run(path, cases, rows, table, False, text, status, seconds, is_quick)


def took(session: dict) -> float | None:
    """Seconds from the command's begin to the session's end; None: plain ReFrame's."""
    try:
        return session['time_end_unix'] - float(session['membw_begun'])
    except (KeyError, TypeError, ValueError):
        return None
