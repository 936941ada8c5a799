"""How ReFrame, a shell and its user find membw: `membw checks`, `env` and `completion`."""

import argparse
import os
import shlex
from collections.abc import Callable

import argcomplete

from membw.checkout import root, systems

SHELLS = ('bash', 'zsh', 'fish')
DOES = {
    'checks': """\
Prints the folder of the checks: eval "$(membw env)", then from any folder
reframe -c "$(membw checks)" -r --system SYSTEM. Without membw env:
reframe -C "$(membw checks)/../configs/settings.py" -c ...""",
    'env': """\
Prints a line for eval, in a shell or .profile: it selects reframe, its
configuration and membw of this installation.""",
    'completion': 'Prints a line for eval, as in .bashrc: eval "$(membw completion bash)".',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    name = parser.prog.rpartition(' ')[2]
    parser.description = DOES[name]
    if name == 'completion':
        parser.add_argument('shell', choices=SHELLS)


def run(args: argparse.Namespace) -> int:
    if args.command == 'checks':
        print(os.path.join(root(), 'reframe-checks'))
    elif args.command == 'env':
        print(f'. {shlex.quote(os.path.join(root(), "setup-env.sh"))}')
    else:
        print(argcomplete.shellcode(['membw'], shell=args.shell))
    return 0


def answer(build_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """What that function asks for, in _ARGCOMPLETE; argcomplete then ends the process.

    Of the command on the line alone, once it has a space behind it: no other module is loaded.
    """
    words = os.environ.get('COMP_LINE', '').split(' ')
    parser = build_parser(*words[1:2])
    commands: dict = parser._subparsers._group_actions[0].choices  # type: ignore
    for each in (parser, *commands.values()):
        for action in each._actions:
            if action.dest == 'system':
                action.completer = lambda **_: systems()
    argcomplete.autocomplete(parser, always_complete_options='long')
