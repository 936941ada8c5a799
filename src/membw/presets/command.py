"""`membw presets`: lists the presets: what each needs of the machine, and its compile line."""

import argparse

from membw.presets.table import load
from membw.tables import as_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = 'every preset, what it needs, its line (what there is)'
    parser.add_argument('what', nargs='?', choices=['list'], metavar='list', help=about)


def run(args: argparse.Namespace) -> int:
    table = load()
    lines = [
        f'{name:18} {" ".join(preset["requires"]) or "any":12} {preset["line"].strip()}'
        for name, preset in table['presets'].items()
    ]
    print(as_text(lines))
    return 0
