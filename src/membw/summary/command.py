"""`membw summary`: the tables and the verdict of a run, from ReFrame's report and the records."""

import argparse
import os
from collections.abc import Iterator
from typing import NamedTuple

from membw import tables
from membw.arguments import add_node
from membw.errors import MembwError
from membw.grouped import grouped
from membw.printable import plural
from membw.rank.ranking import rank_table, with_verdicts
from membw.results import reframe, verdict
from membw.results.hostlist import chosen_nodes
from membw.results.rows import Row, rows_of
from membw.results.table import Table as Records
from membw.results.table import read_table
from membw.summary import full_table, headline
from membw.tables import Table
from membw.words import MISSING, exit_status, worst

EPILOG = "exit status: as of 'membw run'; 2 not a report"


class Run(NamedTuple):
    """A run, as the terminal, the report and the JUnit file show it."""

    path: str  # of ReFrame's report
    cases: list[reframe.OwnCase]
    rows: list[Row]
    table: Records  # that the cases name
    verdict: str  # 'PASS: 3 PASS', the last line
    status: int  # the exit status; membw/words.py has both rules
    seconds: float | None = None  # that the command took
    is_quick: bool = False  # `membw run` without arguments: one screen


def notes(begun: float, is_quick: bool) -> list[str]:
    """Options of ReFrame: its report then says what `read` tells of the command."""
    kind = 'quick' if is_quick else 'full'
    return [f'--session-extras=membw_begun={begun:.1f},membw_run={kind}']


def read(path: str, nodes: str = '') -> Run:
    """MembwError: no report, or one without a test case; `nodes`: their rows only."""
    session, cases = reframe.load(path)
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run --full' runs them all")
    files = {reframe.record_file(case, path) for case in cases if case.is_row}
    table = read_table(sorted(str(file) for file in files if file))
    rows = rows_of(cases, path, table)
    if len({row.node for row in rows if row.figures} - {''}) > 1:  # peers of one another
        rows = with_verdicts(rows, rank_table(table))
    if nodes:
        names = chosen_nodes(nodes, {row.node for row in rows if row.node})
        rows = [row for row in rows if row.node in names]
    builds = len(reframe.failed_builds(cases))
    words = [row.word for row in rows] + [MISSING] * bool(builds)
    skips = sum(case.is_skipped for case in cases)
    named = verdict.counted(row.word for row in rows) + [f'{skips} skipped'] * bool(skips)
    named += [f'{plural(builds, "build")} failed'] * bool(builds)
    if not rows and skips:
        named = [f'all {skips} cases were skipped, for the reasons above']
    text = f'{worst(words)}: {", ".join(named) or "no case was complete"}'
    seconds = None  # to the end of the session; plain ReFrame does not say
    if session.time_end_unix and session.membw_begun:
        seconds = session.time_end_unix - session.membw_begun
    is_quick = session.membw_run == 'quick'
    return Run(path, cases, rows, table, text, exit_status(words), seconds, is_quick)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('report', nargs='?', help='a file (the newest of results/reports)')
    add_node(parser.add_argument, 'rows')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    return show(read(args.report or reframe.newest(), args.node), args.json)


def show(run: Run, is_json: bool = False) -> int:
    """Prints the tables of a run, or the one screen of a quick one; the exit status that it
    deserves."""
    run.table.say()
    # from the folder in which the command was typed
    path = os.path.abspath(run.path).removeprefix(os.path.join(os.getcwd(), ''))
    rows = [row for row in run.rows if not all(a.case.not_begun for a in row.attempts)]
    stopped = [f'stopped: {len(run.rows) - len(rows)} of {plural(len(run.rows), "row")} not begun']
    stopped = stopped if len(rows) < len(run.rows) else []
    if run.is_quick and not is_json:
        lines = headline.lines_of(rows, run.seconds) if rows else skip_lines(run.cases)
        blocks: list[Table | str] = [*lines, *(f'  {line}' for line in stopped)]
        blocks += [] if rows else [f'  {run.verdict}']
    else:
        blocks = list(full_table.blocks_of(rows))
        for build, why in reframe.failed_builds(run.cases).items():
            blocks.append(f'  build failed: {reframe.named_build(build)}: {tables.cut(why)}')
        blocks += [*skip_lines(run.cases), *noise_lines(rows), *stopped]
        took = f' ({run.seconds:.0f} s)' if run.seconds is not None else ''
        blocks += ['', 'report {0}.json, log {0}.log'.format(os.path.splitext(path)[0])]
        blocks.append(f'Verdict: {run.verdict}{took}')
    print(tables.as_text(blocks, is_json))
    return run.status


def skip_lines(cases: list[reframe.OwnCase]) -> Iterator[str]:
    """'  compiler 'icc' of icc-o2 not found: stream (icc-o2)' for each reason."""
    groups = grouped((reason, of) for *of, reason in reframe.skipped(cases))
    if groups:
        yield from ('', 'skipped')
    for reason, pairs in sorted(groups.items()):
        tests, presets = (', '.join(dict.fromkeys(part)) for part in zip(*pairs, strict=True))
        yield f'  {reason}: {tests} ({presets})'


def noise_lines(rows: list[Row]) -> Iterator[str]:
    """A hint for rows with a lower bound."""
    bounds = [row for row in rows if any(f.bound == 'lower' for f in row.figures.values())]
    if bounds:
        yield f'{len(bounds)} of {plural(len(rows), "row")} with a lower bound (≥).'
        yield from headline.disturbed_lines(rows)
        # of root, and of users with an rtprio in limits.conf: other processes wait
        yield "Measure again on a quiet node, or as 'chrt --fifo 1 membw run'."
