"""`membw report`: one HTML file that a computing centre opens in the morning, and pictures."""

import sys
import time

from membw.files import write_whole
from membw.plural import plural
from membw.printable import printable

EPILOG = """\
RESULTS are reports of ReFrame, its results.db, records (JSON, one object a line), folders of them,
or - for stdin; of a folder the newest report is shown. Default: the newest run of this checkout.

examples:
  membw report
  membw report results/records/cluster.jsonl --nodes 'n[0001-8000]' -o fleet.html
  membw report /scratch/membw/results --pictures pictures

exit status: 0 written, whatever it says (`membw summary`, `rank` and `history` judge);
2 usage error, or nothing was measured
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'report',
        help='write one HTML file, and pictures, of a run, a fleet and their history',
        description='Writes one HTML file that needs no network: verdicts first, then bandwidth, '
        'NUMA scan, node ranking, history, compilers, and the provenance of each figure.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help='default: the newest run of this checkout')
    add('-o', '--output', default='report.html', metavar='FILE', help='(report.html)')
    add('--pictures', metavar='DIR', help='write each picture as PNG and SVG too')
    add('--nodes', metavar='FILE|LIST', help='expected nodes: a file, or a list as n[001-128]')
    add('--cache', metavar='FILE', help='keep the nights read there: that of membw history')
    parser.set_defaults(func=run)


def run(args):
    """Exit status as in EPILOG."""
    # the plotting library takes a second to load: not for `membw --help`
    from membw.report import inputs, page, pictures
    from membw.report.sections import build

    begun = time.monotonic()
    results = inputs.gather(args.results, args.cache)
    for file in results.passed_over:
        print(f"membw: '{file}' measured nothing: an older run is shown", file=sys.stderr)
    for problem in results.problems:
        print(f'membw: {printable(problem)}', file=sys.stderr)
    report = build(results, args.nodes)
    text = page.render(report)
    write_whole(args.output, text, "'-o FILE' names it")
    size = len(text.encode()) / 1e6
    print(f'{args.output}: {report.headline} ({size:.1f} MB, {time.monotonic() - begun:.1f} s)')
    if args.pictures:
        count = pictures.write(report.pictures(), args.pictures)
        print(f'{args.pictures}: {plural(count, "picture")}, each as PNG and SVG')
    return 0
