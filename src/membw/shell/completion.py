"""`membw completion`: commands, options and systems by the tab key."""

import argparse
import os
from collections.abc import Callable

import argcomplete

from membw.checkout import systems

SHELLS = ('bash', 'zsh', 'fish')


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'completion',
        help='what makes the tab key complete membw in a shell',
        description='Prints a line for eval, in .bashrc say: eval "$(membw completion bash)".',
    )
    parser.add_argument('shell', choices=SHELLS)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    print(argcomplete.shellcode(['membw'], shell=args.shell))
    return 0


def answer(build_parser: Callable[[str | None], argparse.ArgumentParser]) -> None:
    """What that function asks for, in _ARGCOMPLETE; argcomplete then ends the process.

    Of the command on the line alone, once it has a space behind it: no other module is loaded.
    """
    words = os.environ.get('COMP_LINE', '').split(' ')
    parser = build_parser(words[1] if len(words) > 2 else None)
    commands: dict = parser._subparsers._group_actions[0].choices  # type: ignore
    for each in (parser, *commands.values()):
        for action in each._actions:
            if action.dest == 'system':
                action.completer = lambda **_: systems()
    argcomplete.autocomplete(parser, always_complete_options='long')
