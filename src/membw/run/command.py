"""`membw run`: measures this node, or another system."""

from membw import tables
from membw.arguments import count
from membw.run.reframe_run import measure

ROUNDS = 2


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'run',
        allow_abbrev=False,
        help='measure this node, or another system',
        usage='membw run [--system SYSTEM] [--rounds K] [--realtime] [--format FORMAT] '
        '[REFRAME OPTION ...]',
        description='Runs reframe -c reframe-checks -r with the further options given '
        '(-n TEST, -p ENVIRONMENT, -S VARIABLE=VALUE, -v for its whole output, ...), prints '
        'the table and the verdict. Exit status: 0 all passed or failed as expected (rows of '
        'this machine that only other processes left without a figure, and that no reference '
        'waits for, are named), 1 some failed or are invalid, or there is no figure at all, 2 '
        'nothing could be run as asked.',
    )
    parser.add_argument('--system', help='a file of systems/, default: found by host name')
    parser.add_argument('--rounds', type=count, default=ROUNDS, metavar='K',
                        help='on this machine: measure what compares (stream) K times, in turn, '
                        'and once more what was disturbed; 1: each once; default: '
                        f'{ROUNDS}')  # fmt: skip
    parser.add_argument('--realtime', action='store_true',
                        help='by real-time priority, so that other processes wait while a case '
                        'is measured, where that is permitted')  # fmt: skip
    tables.add_argument(parser)
    parser.set_defaults(func=main, takes_rest=True)


def main(args):
    return measure(args.system, args.rest, args.rounds, args.format, args.realtime)
