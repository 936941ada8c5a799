"""How ReFrame and a shell find membw: `membw checks` and `env`."""

import argparse
import os
import shlex

from membw.checkout import root

DOES = {
    'checks': """\
Prints the folder of the checks: eval "$(membw env)", then from any folder
reframe -c "$(membw checks)" -r --system SYSTEM. Without membw env:
reframe -C "$(membw checks)/../configs/settings.py" -c ...""",
    'env': """\
Prints a line for eval, in a shell or .profile: it selects reframe, its
configuration and membw of this installation.""",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DOES[parser.prog.rpartition(' ')[2]]


def run(args: argparse.Namespace) -> int:
    if args.command == 'checks':
        print(os.path.join(root(), 'reframe-checks'))
    else:
        print(f'. {shlex.quote(os.path.join(root(), "setup-env.sh"))}')
    return 0
