"""`membw presets`: lists the presets: what each needs of the machine, and its compile line."""

import argparse

from membw.presets.table import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)
    commands.add_parser('list', help='every preset, what it needs, its line')


def run(args: argparse.Namespace) -> int:
    table = load()
    for name, preset in table['presets'].items():
        print(f'{name:18} {" ".join(preset["requires"]) or "any":12} {preset["line"].strip()}')
    return 0
