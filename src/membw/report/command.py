"""`membw report`: one HTML file of the newest run, and a picture of it."""

import argparse
import sys
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.printable import printable

EPILOG = """\
RESULTS are record files, folders of them, or - for stdin; default: results of this checkout.
The page shows the newest run in them, and the history of all.

examples:
  membw report
  membw report results/records/cluster.jsonl --nodes 'n[0001-0128]' -o fleet.html
  membw report --svg triad.svg

exit status: 0 written, whatever the verdicts; 2 usage error, or nothing was measured
"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'report',
        help='write one HTML file of a run, a fleet and their history',
        description='Writes one HTML file that needs no network: the headline and the verdict, '
        'a section per benchmark, the ranking of nodes, their history, and provenance.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help='records (results of this checkout)')
    add('-o', '--output', default='report.html', metavar='FILE', help='(report.html)')
    add('--svg', metavar='FILE', help='write the picture of the headline, too')
    add('--nodes', metavar='FILE|LIST', help='expected nodes: a file, or a list as n[001-128]')
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    from membw.report.model import WIDE
    from membw.report.page import page_of
    from membw.report.template import render
    from membw.results.table import read_table

    paths = args.results or [str(Path(root(), 'results'))]
    table = read_table([path for path in paths if args.results or Path(path).is_dir()])
    for problem in table.problems:
        print(f'membw: {printable(problem)}', file=sys.stderr)
    if not table.figures:
        where = ' '.join(args.results) or 'results'
        raise MembwError(f"nothing was measured in '{where}'", "'membw run' measures this node")
    page = page_of(table, args.nodes)
    text = render('membw.report', 'report.html', page=page)
    write_whole(args.output, text, "'-o FILE' names another file")
    print(f'{args.output}: {page.verdict}: {page.headline}; {page.counts}')
    if args.svg and page.picture:
        write_whole(args.svg, page.picture.draw(WIDE).as_text(standalone=True))
        print(f'{args.svg}: {page.picture.title}')
    return 0
