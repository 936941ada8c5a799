"""`membw diff`: what differs between two results."""

import json

from membw import tables
from membw.arguments import fraction
from membw.statistics.margin import MARGIN

EPILOG = """\
A and B are each one of
  SESSION:RUN:CASE   a test case; the beginning of the session will do.
                     reframe --list-stored-testcases=now-1d:now/mean:+uuid/
                     lists those of the last day
  RECORD             a file of results/records, or its name alone
  FILE#CASE          a report of ReFrame and words of a case ('stream likwid gcc-o2'), or records
                     and a host

examples:
  membw diff 4d9a937f:0:3 6b1f02aa:0:3
  membw diff yesterday.json 'results/reports/run-20261121.json#likwid gcc-o2' --margin 1

exit status: 0 the same build and validity, and no figure apart by more than the margin; 1 they
differ; 2 usage error
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'diff',
        help='name what differs between two results',
        description='Names what differs between two results: figures, validity, build, run, facts '
        'of the node.',
        epilog=EPILOG,
    )
    parser.add_argument('a', metavar='A', help='one result, named as below')
    parser.add_argument('b', metavar='B', help='the other')
    add_options(parser)
    parser.set_defaults(func=run)


def add_options(parser):
    """Of whatever compares two results."""
    parser.add_argument('--margin', type=fraction, default=MARGIN, metavar='PERCENT',
        help='figures further apart differ (2)')  # fmt: skip
    parser.add_argument('--results', metavar='DIR', help='where stored results lie (results)')
    tables.add_argument(parser)


def run(args):
    from membw.diff.compare import compare
    from membw.diff.text import as_blocks, as_json
    from membw.results.find_one import find

    a, b = find(args.a, args.results), find(args.b, args.results)
    difference = compare(a, b, args.margin)
    if args.format == 'json':
        print(json.dumps(as_json(a, b, difference), indent=1))
    else:
        print(tables.as_text(as_blocks(a, b, difference), args.format))
    return 0 if difference.equal else 1
