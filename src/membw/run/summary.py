"""`membw summary`: the tables and the verdict of a run, from ReFrame's report and the records."""

import argparse
import collections
import os
from collections.abc import Iterator

from membw import tables
from membw.checkout import root
from membw.errors import MembwError
from membw.plural import plural
from membw.results import verdict
from membw.run import full_table, headline, outcome, ratios
from membw.run.newest import newest
from membw.run.rows import Row, rows_of
from membw.run.skips import skip_lines
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
    parser.set_defaults(func=lambda args: show(args.report or newest(), is_json=args.json))


def show(
    path: str,
    seconds: float | None = None,
    left_out: dict[str, list[str]] | None = None,
    is_json: bool = False,
    is_quick: bool = False,
) -> int:
    """Prints the tables of a report; the exit status that it deserves.

    Args:
        seconds: how long the run took.
        left_out: {reason: [presets]} that this system cannot build.
        is_json: the tables as JSON.
        is_quick: the one screen of a quick run.
    """
    report = outcome.load(str(path))
    cases = outcome.cases_of(report)
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run --full' runs them all")
    rows = rows_of(report, str(path))
    text, status = verdict_of(rows, cases)
    blocks: list[Table | str]
    if is_quick and not is_json:
        blocks = list(headline.lines_of(rows, seconds)) if rows else list(skip_lines(path))
        blocks += [f'  {text}', '  More: membw run --full | membw report']
    else:
        took = f' ({seconds:.0f} s)' if seconds is not None else ''
        blocks = [*blocks_of(rows, cases, path, left_out or {}), f'Verdict: {text}{took}']
    print(tables.as_text(blocks, is_json))
    return status


def blocks_of(
    rows: list[Row], cases: list[dict], path: str, left_out: dict[str, list[str]]
) -> Iterator[Table | str]:
    """Tables, and the lines between them."""
    yield from full_table.blocks_of(rows)
    yield from ratios.blocks_of(rows)
    yield from build_lines(cases)
    yield from skip_lines(path)
    if left_out:
        yield from ('', 'presets left out')
        yield from (f'  {why}: {", ".join(names)}' for why, names in sorted(left_out.items()))
    yield from headline.state_lines(rows)
    yield from noise_lines(rows)
    yield from ('', f'report {relative(path)}, log {relative(path, ".log")}')


def build_lines(cases: list[dict]) -> Iterator[str]:
    for key, why in outcome.failed_builds(cases).items():
        yield f'  build failed: {outcome.named_build(key)}: {full_table.cut(why)}'


def noise_lines(rows: list[Row]) -> Iterator[str]:
    """What helps where other processes left a row with a bound; not what was done already."""
    bounds = [row for row in rows if any(f.is_bound for f in row.figures.values())]
    if bounds:
        yield (
            f'{len(bounds)} of {plural(len(rows), "row")} with a lower bound (≥): other '
            'processes used the CPUs.'
        )
        if any(row.record.get('scheduling') != 'fifo' for row in bounds):
            yield f"Measure again on a quiet node, or by 'membw run --realtime' ({realtime.HINT})."
        else:
            yield 'Measure again on a quiet node.'


def relative(path: str, suffix: str = '.json') -> str:
    """To the folder that the reader stands in, where it is the checkout."""
    file = os.path.abspath(os.path.splitext(path)[0]) + suffix
    try:
        here = os.path.samefile(os.curdir, root()) and file.startswith(os.path.join(root(), ''))
    except (MembwError, OSError):  # a report is read where there is no checkout, too
        return file
    return os.path.relpath(file) if here else file


def verdict_of(rows: list[Row], cases: list[dict]) -> tuple[str, int]:
    """(the last line, the exit status): results/verdict.py has both rules."""
    dry = [row for row in rows if all(outcome.is_dry(a.case) for a in row.attempts)]
    if dry and len(dry) == len(rows):
        return f'{verdict.NOT_MEASURED}: a dry run of {plural(len(rows), "row")}', 0
    words = [row.word for row in rows]
    builds = len(outcome.failed_builds(cases))
    words += [verdict.NOT_MEASURED] * bool(builds)
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
    text = ', '.join(named) or 'no case was over'
    return f'{verdict.worst(words)}: {text}', verdict.exit_status(words)
