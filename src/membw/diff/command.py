"""`membw diff`: what differs between two results."""

import argparse

from membw import tables
from membw.arguments import fraction
from membw.history.changes import MARGIN

EPILOG = """\
A and B are records: a file of results/records, its name alone, or FILE#HOST.

examples:
  membw diff yesterday.json today.json
  membw diff results/records/cluster.jsonl#n1 results/records/cluster.jsonl#n2 --margin 1

exit status: 0 the same build and verdict, and no figure apart by more than the margin; 1 they
differ; 2 usage error
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'diff',
        help='name what differs between two results',
        description='Names what differs between two results: figures, build, run, node.',
        epilog=EPILOG,
    )
    parser.add_argument('a', metavar='A', help='one record')
    parser.add_argument('b', metavar='B', help='the other')
    add_options(parser)
    parser.set_defaults(func=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that compares two results."""
    add = parser.add_argument_group('comparison').add_argument
    add(
        '--margin',
        type=fraction,
        default=MARGIN,
        metavar='PERCENT',
        help='figures further apart differ (2)',
    )
    add('--results', metavar='DIR', help='where stored results are (results)')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    from membw.diff.compare import compare
    from membw.diff.text import as_blocks
    from membw.results.find_one import find

    a, b = find(args.a, args.results), find(args.b, args.results)
    difference = compare(a, b, args.margin)
    print(tables.as_text(as_blocks(a, b, difference, args.margin), args.json))
    return 0 if difference.is_equal else 1
