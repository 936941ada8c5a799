"""`membw run`: measures this node, or another system."""

import argparse

from membw import tables
from membw.arguments import count
from membw.run.measure import measure

ROUNDS = 2


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'run',
        allow_abbrev=False,
        help='measure this node, or another system',
        usage='membw run [--full] [--system SYSTEM] [--rounds K] [--realtime] [--json] '
        '[REFRAME OPTION ...]',
        description="Without arguments: this machine's memory bandwidth in some 20 s, by up to "
        'three presets. With --full, --system, or any option of ReFrame (-n TEST, -p PRESET, '
        '-S VARIABLE=VALUE, -v for its whole output, ...): reframe -c reframe-checks -r with '
        'these options, then tables and verdict. Exit status: 0 all have figures and passed, or '
        'failed as expected; 1 some failed, are invalid, undecided or not measured; 2 nothing '
        'could be run.',
    )
    what = parser.add_argument_group('what is measured')
    what.add_argument('--full', action='store_true', help='all checks, presets and pinnings')
    what.add_argument('--system', help='a file of systems/ (found by host name)')
    how = parser.add_argument_group('how')
    how.add_argument(
        '--rounds',
        type=count,
        default=ROUNDS,
        metavar='K',
        help='with --full on this machine: measure what compares (stream) K times, '
        f'in turn ({ROUNDS})',
    )
    how.add_argument(
        '--realtime',
        action='store_true',
        help='at real-time priority: other processes wait meanwhile',
    )
    tables.add_argument(parser)
    parser.set_defaults(func=main, takes_rest=True)


def main(args: argparse.Namespace) -> int:
    is_full = args.full or bool(args.system or args.rest)
    return measure(args.system, args.rest, args.rounds, args.json, args.realtime, is_full)
