"""`membw rank`: which nodes of a fleet are slower than comparable ones."""

import json
import sys

from membw import tables
from membw.arguments import percent, whole
from membw.errors import MembwError
from membw.statistics.margin import MARGIN

EPILOG = """\
A node FAILs when a rate is both lower than the median of its group by more than the margin and
surely lower (than the noise of its group gives, for so many nodes and kernels). It is INVALID when
its record may not be believed, MISSING when it was expected and did not report in full, SUSPECT
when the figures do not decide: it is low, but the noise of so few nodes, or the tail of healthy
ones, is not known well enough; it is in a slower part of its peers that no fact of kit or firmware
explains; it could not be compared; or it is too fast to be true.

examples:
  membw rank results/records.jsonl
  membw rank results/ --nodes 'n[001-128]' --node-check nodecheck.txt
  membw rank run.jsonl --order fastest --limit 0
  membw rank run.jsonl --drain | less          # read them, then run what you agree with
  membw rank run.jsonl --alpha 0.03            # FAIL what is most sure; the other low: SUSPECT

Records of `pingpong --nodes` hold links: a link FAILs by the same rule, apart from what its two
nodes do elsewhere.

exit status: 0 all PASS; 1 a node or link is anything else, or a line could not be read;
2 usage error or nothing to rank
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'rank',
        help='judge a fleet: which nodes are slow, how far, how sure',
        description='Names the nodes of a fleet that are slower than comparable ones.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('results', nargs='+', metavar='RESULTS', help='records, one JSON object per line, '
        'or reports or results.db of ReFrame; files, folders, - for stdin')  # fmt: skip
    add('--nodes', metavar='FILE|LIST', help='expected nodes: a file, or a list as n[001-128]')
    add('--margin', type=percent, default=100 * MARGIN, metavar='PERCENT', help='what is slow (2)')
    add('--alpha', type=percent, default=1.0, metavar='PERCENT',
        help='chance of a false FAIL in a clean fleet; up to 1 it is SUSPECT (1)')  # fmt: skip
    add('--populations', action='store_true',
        help='parts of the fleet that are slower than others are meant to be')  # fmt: skip
    add('--max-age', type=whole, default=14, metavar='DAYS',
        help='a node is MISSING when silent for so long beside others; 0: never (14)')  # fmt: skip
    add('--order', choices=('slowest', 'fastest'), default='slowest', help='which comes first')
    add('--by', metavar='KERNEL', help='kernel to sort by (the last of the records: triad)')
    add('--limit', type=whole, default=20, metavar='N',
        help='rows per group besides the slow nodes, 0: all (20)')  # fmt: skip
    add(
        '--node-check',
        metavar='FILE',
        help='write "<node> PASS|FAIL|SUSPECT|INVALID|MISSING reason"',
    )
    tables.add_argument(parser)
    add('--drain', action='store_true', help='print the Slurm commands that drain failed nodes')
    parser.set_defaults(func=run)


def run(args):
    """Exit status as in EPILOG."""
    # numpy and scipy take half a second to load: not for `membw --help`
    from membw.rank.fleet import Rule
    from membw.rank.rank_results import rank_results
    from membw.results.hostlist import expected_nodes, write_node_check

    rule = Rule(args.margin / 100, args.alpha / 100, args.populations, args.max_age)
    names = expected_nodes(args.nodes) if args.nodes else []
    fleet, problems = rank_results(args.results, names, rule, args.by)
    refuse_other_names(args.nodes, names, fleet)
    for problem in problems:
        print(f'membw: {problem}', file=sys.stderr)
    _print(args, fleet, problems)
    if args.node_check:
        write_node_check(args.node_check, fleet.nodes)
    judged = [*fleet.nodes, *fleet.links.links]
    return 1 if problems or any(each.verdict != 'PASS' for each in judged) else 0


def refuse_other_names(asked, names, fleet):
    """A file that is not there reads as the name of a node, which then is MISSING."""
    from membw.results.hostlist import match_expected

    measured = {node.name for node in fleet.nodes if node.rates is not None}
    if names and measured and not measured & set(match_expected(measured, names)):
        raise MembwError(
            f"no node of '{asked}' is among the {len(measured)} in the records",
            'is it a file that is not there, or another cluster?',
        )


def _print(args, fleet, problems):
    from membw.rank import text as rank_text
    from membw.results.hostlist import drain_commands

    if args.format == 'json':
        print(json.dumps(rank_text.as_json(fleet, problems), indent=1))
    elif args.drain:
        print('\n'.join(drain_commands(fleet.nodes) or ['# no node to drain']))
    else:
        blocks = rank_text.as_blocks(fleet, args.order, args.by, args.limit)
        print(tables.as_text(blocks, args.format))
