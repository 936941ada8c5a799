"""`membw export`: figures and verdicts for Prometheus, a spreadsheet, a script."""

import argparse
import contextlib
import io
import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TextIO

from membw.arguments import FORMS, add_node, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.files import writing
from membw.results.case import Case
from membw.results.figure import Figure, Lost
from membw.results.ranks import Run

EPILOG = """\
csv has every figure; openmetrics has the newest of each series.
An INVALID figure has its verdict and reason, and no number. A lower bound has its own name.
What was to be measured and is missing has a verdict and a reason: DIED (by a signal, with its
node, at its limit) or MISSING, as after a failed build (FOLDER/reports).

examples:
  membw export --output /var/lib/node_exporter/membw.prom
  membw export --format csv results/records >figures.csv
  zcat records.jsonl.gz | membw export --format csv -

exit status: 0 exported, whatever the verdicts; 1 exported, but some lines could not be read;
2 usage error, or nothing to export
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (results of this checkout)')
    add_node(add, 'figures')
    add = parser.add_argument_group('output').add_argument
    forms = ('openmetrics', 'csv')
    add('--format', choices=forms, default=forms[0], help='(openmetrics)')
    add('--headline', action='store_true', help='the figure that stands for each record alone')
    add('--output', metavar='FILE', help='write this file in place of stdout, atomically')
    add_site_tests(parser)


def run(args: argparse.Namespace) -> int:
    from membw.export import rows
    from membw.rank.ranking import rank_table, unmeasured
    from membw.results.newest import OLD_S
    from membw.results.table import read_table

    paths = args.results or [str(Path(root(), 'results'))]
    paths = [path for path in paths if args.results or Path(path).is_dir()]
    is_newest = args.format == 'openmetrics'  # that has what is so now
    older, wanted = Newest(), wanted_of(args, args.since)
    # of a year of a fleet the newest runs are held; for csv the files are read again, if they can
    is_once = is_newest or any(map(_is_pipe, paths))
    newest_s = OLD_S if is_newest or not is_once else math.inf
    table = read_table(paths, newest_s, older.add if is_newest else None, wanted)
    ranking = rank_table(table)  # all were compared
    if args.node:
        table.choose(args.node)
    lost = unmeasured(table) if is_newest else table.lost if is_once else []
    missing = rows.of_records(lost) + rows.of_missing(ranking, table)
    if not args.node:  # a report has no node of what never ran
        folders = [path for path in paths if Path(path).is_dir()]
        reported = rows.of_reports(folders, table.problems)
        every = [*older.figures(), *table.figures]
        missing += rows.newest(reported, every) if is_newest else reported
    table.say()
    if not table.seen and not missing:
        where = ' '.join(args.results) or 'results'
        raise MembwError(f"nothing was measured in '{where}'", "'membw run' measures this node")
    words = rows.words_of(ranking, table)
    shown = attrgetter('is_headline') if args.headline else bool
    with _output(args.output) as stream:
        if is_newest:
            from membw.export import openmetrics

            figures = [f for f in older.figures() if f.node in table.seen]
            stream.write(openmetrics.as_text([*figures, *table.figures], missing, words, shown))
            return 1 if table.problems else 0
        csv = rows.Csv(stream)

        def write(figures: Iterable[Figure], lost: Sequence[Lost]) -> None:
            chosen = (f for f in figures if f.node in table.seen and shown(f))
            csv.write(rows.row_of(figure, words) for figure in chosen)
            csv.write(rows.of_records(one for one in lost if one.node in table.seen))

        if is_once:
            write(table.figures, [])
        else:
            again = read_table(paths, 0.0, lambda run: write(run.figures, run.lost), wanted)
            write([], again.lost)  # what is damaged
        csv.write(missing)
    return 1 if table.problems else 0


class Newest:
    """The newest figure of each row and metric, whatever its age."""

    def __init__(self) -> None:
        self.last: dict[tuple[Case, str], Figure] = {}

    def add(self, run: Run) -> None:
        for figure in run.figures:
            key = figure.of.row, figure.metric
            if key not in self.last or self.last[key].time <= figure.time:
                self.last[key] = figure

    def figures(self) -> list[Figure]:
        return sorted(self.last.values(), key=attrgetter('time'))


def _is_pipe(path: str) -> bool:
    return not os.path.isfile(path) and not os.path.isdir(path)


@contextlib.contextmanager
def _output(name: str | None) -> Iterator[TextIO]:
    if not name:
        yield sys.stdout
        return
    with writing(name) as file:
        stream = io.TextIOWrapper(file, 'utf-8', newline='')
        yield stream
        stream.detach()
