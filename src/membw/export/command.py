"""`membw export`: figures and verdicts for Prometheus, a spreadsheet, a script."""

import argparse
import codecs
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from operator import attrgetter
from pathlib import Path

from membw.arguments import FORMS, MEASURE, add_node, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.files import writing
from membw.results.figure import Lost
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
    from membw.rank.ranking import rank_table
    from membw.results.newest import OLD_S
    from membw.results.table import read_table

    paths = args.results or [str(Path(root(), 'results'))]
    paths = [path for path in paths if args.results or Path(path).is_dir()]
    is_newest, newest = args.format == 'openmetrics', rows.Newest()  # that has what is so now
    wanted = wanted_of(args, args.since)
    table = read_table(paths, OLD_S, newest.add if is_newest else None, wanted)
    ranking = rank_table(table)  # all were compared
    if args.node:
        table.choose(args.node)
    # a report has no node of what never ran
    folders = [path for path in paths if Path(path).is_dir() and not args.node]
    missing = rows.missing(ranking, table, folders, newest if is_newest else None)
    table.say()
    if not (table.seen or table.lost or missing):
        where = ' '.join(args.results) or 'results'
        raise MembwError(f"nothing was measured in '{where}'", MEASURE)
    words = rows.words_of(ranking, table)
    shown = attrgetter('is_headline') if args.headline else bool
    with writing(args.output) if args.output else nullcontext(sys.stdout.buffer) as file:
        stream = codecs.getwriter('utf-8')(file)
        if is_newest:
            from membw.export import openmetrics

            openmetrics.write(stream, newest.figures(table.seen), missing, words, shown)
        else:
            write = rows.csv_writer(stream)
            done: set[tuple] = set()

            def add_lost(every: Iterable[Lost]) -> None:
                own = {(one.node, one.file, one.line, one.text): one for one in every}
                write(rows.of_records(one for key, one in own.items() if key not in done))
                done.update(own)

            def add(run: Run) -> None:
                if run.of.node in table.seen:
                    write(rows.row_of(f, words) for f in run.figures if shown(f))
                    add_lost(run.lost)

            # of a year of a fleet the newest runs are held: it is read again
            read_table(paths, 0.0, add, wanted, kept=table.kept_bytes)
            add_lost(table.lost)  # what no run says itself, too
            write(missing)
    return 1 if table.problems else 0
