"""`membw rank`: which nodes of a fleet are slower than comparable ones."""

import argparse
import json
import sys

from membw import tables
from membw.arguments import FORMS, MEASURE, add_node, add_site_tests, wanted_of, whole
from membw.errors import MembwError
from membw.printable import printable
from membw.site import slurm

EPILOG = """\
A low node is measured again, three times, with three healthy ones: beyond the limit each time it
is FAIL; PASS if neither the median nor the newest is. All runs of the newest measurement count,
and its last seven nights. docs/judging.md has the rules, docs/reading.md the words.

examples:
  membw rank results/
  membw rank results/ --expected 'n[001-128]' --node-check nodecheck.txt
  membw rank ~/.reframe/reports/results.db -n hpl --since 14d    # a site's own test
  membw rank run.jsonl again.jsonl --drain | less    # read them, then run what you agree with

exit status: 0 all PASS, VALID or KNOWN; 1 a node is anything else, or a record could not be read;
2 usage error or nothing to rank
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='+', metavar='RESULTS', help=FORMS)
    add = parser.add_argument_group('what is judged').add_argument
    add_node(add, 'verdicts')
    add('--expected', metavar='FILE|LIST', help='expected nodes: a file, or a list as n[001-128]')
    add = parser.add_argument_group('what is written').add_argument
    add(
        '--limit',
        type=whole,
        default=20,
        metavar='N',
        help='rows per group besides the nodes that are not PASS, 0: all (20)',
    )
    add(
        '--node-check',
        metavar='FILE',
        help='write "<node> PASS|VALID|FAIL|UNDECIDED|INVALID|MISSING|DIED reason"',
    )
    add_site_tests(parser)
    add = tables.add_argument(parser).add_argument
    add('--drain', action='store_true', help='print the Slurm commands that drain failed nodes')


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    from membw.rank import text
    from membw.rank.ranking import rank_files
    from membw.results.hostlist import (
        chosen_nodes,
        drain_commands,
        expected_nodes,
        write_node_check,
    )
    from membw.results.node_names import match_expected

    expected = expected_nodes(args.expected) if args.expected else []
    ranking = rank_files(args.results, expected, wanted_of(args, args.since))
    for problem in ranking.problems:
        print(f'membw: {printable(problem)}', file=sys.stderr)
    if not ranking.clusters:
        for note in ranking.notes:
            print(f'membw: note: {note}', file=sys.stderr)
        raise MembwError(f"no record to rank in '{' '.join(args.results)}'", MEASURE)
    measured = {verdict.node for verdict in ranking.verdicts}
    if args.expected and not measured & set(match_expected(measured, expected)):
        # a mistyped file name would be taken as the name of a MISSING node
        fact = f"no node of '{args.expected}' is among the {len(measured)} in the records"
        raise MembwError(fact, 'is it a file that does not exist, or another cluster?')
    if args.node:
        ranking.choose(chosen_nodes(args.node, {node.name for node in ranking.nodes}))
    if args.node_check:
        write_node_check(args.node_check, ranking.nodes)
    if args.json:
        print(json.dumps(text.as_json(ranking), indent=1))
    elif args.drain:
        lines = drain_commands(ranking.nodes, ranking.clusters, slurm.cluster_here())
        print('\n'.join(lines or ['# no node to drain']))
    else:
        print(tables.as_text(text.as_blocks(ranking, args.limit)))
    return 1 if ranking.problems else ranking.status
