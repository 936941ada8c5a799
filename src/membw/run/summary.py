"""`membw summary`: the tables and the verdict of a run, from ReFrame's report and the records."""

import argparse
import collections
import os
from collections.abc import Iterator
from typing import NamedTuple

from membw import tables
from membw.errors import MembwError
from membw.plural import plural
from membw.results import verdict
from membw.run import full_table, headline, outcome, ratios
from membw.run.rows import Row, rows_of
from membw.site import realtime
from membw.tables import Table


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'summary',
        help='print the tables of a run again',
        description='Prints the figures of a run with references and verdicts. Exit status: as '
        "of 'membw run'; 2 not a report.",
    )
    parser.add_argument('report', nargs='?', help='a file (the newest of results/reports)')
    tables.add_argument(parser)
    parser.set_defaults(
        func=lambda args: show(read(args.report or outcome.newest()), is_json=args.json)
    )


class Run(NamedTuple):
    """A run, as the terminal, the report and the JUnit file show it."""

    path: str  # of ReFrame's report
    cases: list[dict]
    rows: list[Row]
    is_dry: bool
    verdict: str  # 'PASS: 3 PASS', the last line
    status: int  # the exit status; results/verdict.py has both rules


def read(path: str) -> Run:
    """MembwError: no report, or one without a test case."""
    report = outcome.load(path)
    cases = outcome.cases_of(report)
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run --full' runs them all")
    rows = rows_of(report, path)
    if rows and all(outcome.is_dry(a.case) for row in rows for a in row.attempts):
        text = f'{verdict.NOT_MEASURED}: a dry run of {plural(len(rows), "row")}'
        return Run(path, cases, rows, True, text, 0)
    builds = len(outcome.failed_builds(cases))
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
    text = f'{verdict.worst(words)}: {", ".join(named) or "no case was over"}'
    return Run(path, cases, rows, False, text, verdict.exit_status(words))


def show(
    run: Run,
    seconds: float | None = None,
    left_out: dict[str, list[str]] | None = None,
    is_json: bool = False,
    is_quick: bool = False,
) -> int:
    """Prints the tables of a run; the exit status that it deserves.

    Args:
        seconds: how long the run took.
        left_out: {reason: [presets]} that this system cannot build.
        is_json: the tables as JSON.
        is_quick: the one screen of a quick run.
    """
    blocks: list[Table | str]
    if is_quick and not is_json:
        blocks = list(headline.lines_of(run.rows, seconds) if run.rows else skip_lines(run.path))
        blocks += [f'  {run.verdict}', '  More: membw run --full | membw report']
    else:
        took = f' ({seconds:.0f} s)' if seconds is not None else ''
        blocks = [*blocks_of(run, left_out or {}), f'Verdict: {run.verdict}{took}']
    print(tables.as_text(blocks, is_json))
    return run.status


def blocks_of(run: Run, left_out: dict[str, list[str]]) -> Iterator[Table | str]:
    """Tables, and the lines between them."""
    yield from full_table.blocks_of(run.rows)
    yield from ratios.blocks_of(run.rows)
    for build, why in outcome.failed_builds(run.cases).items():
        yield f'  build failed: {outcome.named_build(build)}: {full_table.cut(why)}'
    yield from skip_lines(run.path)
    if left_out:
        yield from ('', 'presets left out')
        yield from (f'  {why}: {", ".join(names)}' for why, names in sorted(left_out.items()))
    yield from headline.state_lines(run.rows)
    yield from noise_lines(run.rows)
    here, base = os.path.join(os.getcwd(), ''), os.path.splitext(os.path.abspath(run.path))[0]
    yield from ('', 'report {0}.json, log {0}.log'.format(base.removeprefix(here)))


def skip_lines(report: str) -> Iterator[str]:
    """'  compiler 'icc' of icc-o2 not found: stream (icc-o2)' for each reason."""
    groups = collections.defaultdict(list)
    for test, preset, reason in outcome.skipped(report):
        groups[reason].append((test, preset))
    if groups:
        yield from ('', 'skipped')
    for reason, cases in sorted(groups.items()):
        tests, presets = (', '.join(dict.fromkeys(part)) for part in zip(*cases, strict=True))
        yield f'  {reason}: {tests} ({presets})'


def noise_lines(rows: list[Row]) -> Iterator[str]:
    """What helps where other processes left a row with a bound; not what was done already."""
    bounds = [row for row in rows if any(f.is_bound for f in row.figures.values())]
    if bounds:
        yield (
            f'{len(bounds)} of {plural(len(rows), "row")} with a lower bound (≥): other '
            'processes used the CPUs.'
        )
        is_realtime = all(row.record.get('scheduling') == 'fifo' for row in bounds)
        how = '' if is_realtime else f", or by 'membw run --realtime' ({realtime.HINT})"
        yield f'Measure again on a quiet node{how}.'
