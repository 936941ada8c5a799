"""`membw env`: how a shell becomes one of membw."""

import argparse
import os
import shlex

from membw.checkout import root


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'env',
        help='what a shell needs for reframe: eval "$(membw env)"',
        description='Prints a line for eval, in a shell or in its .profile: reframe, its '
        'configuration and membw are then those of this installation.',
    )
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    print(f'. {shlex.quote(os.path.join(root(), "setup-env.sh"))}')
    return 0
