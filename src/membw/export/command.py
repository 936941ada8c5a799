"""`membw export`: figures and verdicts for Prometheus, a spreadsheet, a script."""

import argparse
from operator import attrgetter
from pathlib import Path

from membw.arguments import FORMS, add_node, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole

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
    from membw.export import openmetrics, rows
    from membw.rank.ranking import rank_table, unmeasured
    from membw.results.table import read_table

    paths = args.results or [str(Path(root(), 'results'))]
    paths = [path for path in paths if args.results or Path(path).is_dir()]
    table = read_table(paths, wanted=wanted_of(args, args.since))
    ranking = rank_table(table)  # all were compared
    if args.node:
        table.choose(args.node)
    is_newest = args.format == 'openmetrics'  # that has what is so now
    missing = rows.of_records(unmeasured(table) if is_newest else table.lost)
    missing += rows.of_missing(ranking, table)
    if not args.node:  # a report has no node of what never ran
        folders = [path for path in paths if Path(path).is_dir()]
        reported = rows.of_reports(folders, table.problems)
        missing += rows.newest(reported, table.figures) if is_newest else reported
    table.say()
    if not table.figures and not missing:
        where = ' '.join(args.results) or 'results'
        raise MembwError(f"nothing was measured in '{where}'", "'membw run' measures this node")
    words = rows.words_of(ranking)
    shown = attrgetter('is_headline') if args.headline else bool
    if is_newest:
        text = openmetrics.as_text(table.figures, missing, words, shown)
    else:
        text = rows.as_csv([*filter(shown, table.figures)], missing, words)
    if args.output:
        write_whole(args.output, text)
    else:
        print(text, end='')
    return 1 if table.problems else 0
