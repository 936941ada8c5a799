"""`membw report`: one HTML file of a run, a fleet and their history."""

import argparse
from pathlib import Path

from membw.arguments import FORMS, MEASURE, add_node, add_site_tests, wanted_of
from membw.checkout import root
from membw.errors import MembwError
from membw.files import write_whole
from membw.results.reframe import OURS
from membw.results.run_ledger import path_of

EPILOG = """\
The file needs no network: headline and verdict, a section per benchmark, the ranking of nodes,
their history, and provenance.
RESULTS is one report of ReFrame, or record files, folders of them, - for stdin; default: the
newest report of this checkout. Of records the newest night is shown.

examples:
  membw report
  membw report results/records/cluster.jsonl --expected 'n[0001-0128]' -o fleet.html
  membw report --svg triad.svg

exit status: 0 written, whatever the verdicts; 2 usage error, or nothing was measured
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (the newest report)')
    add_node(add, 'rows')
    add('--expected', metavar='FILE|LIST', help='expected nodes: a file, or a list as n[001-128]')
    about = 'of an acceptance: where it stands comes first'
    add('--protocol', metavar='FILE', help=about)
    add = parser.add_argument_group('output').add_argument
    add('-o', '--output', default='report.html', metavar='FILE', help='the page (report.html)')
    add('--svg', metavar='FILE', help='also write the first picture')
    add('--sheet', metavar='FILE', help='also write the best row of STREAM, for a tender: A4')
    add_site_tests(parser)


def run(args: argparse.Namespace) -> int:
    from membw.history.nights import read_nights
    from membw.report.page import page_of, render
    from membw.report.run import run_of_records, run_of_report
    from membw.report.sheet import sheet
    from membw.results.hostlist import expected_nodes
    from membw.results.newest import OLD_S
    from membw.results.reframe import newest

    own, results = Path(root(), 'results'), args.results
    if not results and any((own / 'reports').glob('run-*')):
        results = [newest()]
    if len(results) == 1 and _is_ours(results[0]):
        made = run_of_report(results[0])
    else:
        paths = results or [str(own)] * own.is_dir()
        made = run_of_records(*read_nights(paths, OLD_S, wanted_of(args, args.since)))
    made = made.of_nodes(args.node)
    made.table.say()
    if not made.rows:
        where = ' '.join(args.results) or 'results'
        raise MembwError(f"nothing was measured in '{where}'", MEASURE)
    page = page_of(made, expected_nodes(args.expected) if args.expected else ())
    if args.protocol:
        page.standing[:0] = [f'The nodes compared with each other: {page.headline}.']
        page.headline, *why = _acceptance(args.protocol, args.results or [str(own)])
        page.standing[:0] = why
    write_whole(args.output, render(page), "'-o FILE' names another file")
    print(f'{args.output}: {page.headline}{f" {page.verdict}".rstrip()}; {page.counts}')
    if args.svg and page.picture:
        write_whole(args.svg, page.picture.as_text(standalone=True))
        print(f'{args.svg}: {page.picture.title}')
    if args.sheet:
        write_whole(args.sheet, sheet(made))
        print(f'{args.sheet}: the best row of stream')
    return 0


def _acceptance(path: str, results: list[str]) -> list[str]:
    """['The acceptance is INCOMPLETE', why, ...]."""
    from membw.accept.protocol import load
    from membw.accept.rule import Decision
    from membw.accept.runs import runs_of
    from membw.results.table import read_table

    protocol = load(path)
    found = Decision(protocol, runs_of(protocol, read_table(results)))
    return [f'The acceptance is {found.verdict}', *found.reasons]


def _is_ours(path: str) -> bool:
    """Whether a file is a report of our checks: that says more than its figures."""
    if not Path(path).is_file():  # a pipe is read once; a run that was killed has a ledger alone
        return path.endswith('.json') and Path(path_of(path)).is_file()
    with open(path, 'rb') as file:
        return b'"session_info"' in file.peek(300)[:300] and OURS.encode() in file.read()
