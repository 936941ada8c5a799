"""`membw checks`: where ReFrame finds the checks."""

import argparse
import os

from membw.checkout import root


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'checks',
        help='where the checks are, for reframe -c',
        description='Prints the folder of the checks: eval "$(membw env)", then from any folder '
        'reframe -c "$(membw checks)" -r --system SYSTEM. Without the first: reframe -C '
        '"$(membw checks)/../configs/settings.py" -c ...',
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    print(os.path.join(root(), 'reframe-checks'))
    return 0
