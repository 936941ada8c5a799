"""`membw presets`: lists the presets: what each needs of the machine, and its compile line."""

import argparse

from membw.errors import MembwError
from membw.presets.build import ask
from membw.presets.table import PresetError, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)
    commands.add_parser('list', help='every preset, what it needs, its line')
    one = commands.add_parser('flags', help='the options of one preset, quoted for a shell')
    one.add_argument('preset', help='row of presets.yaml, e.g. gcc-o2')
    one.add_argument('-D', dest='define', metavar='NAME=VALUE', action='append', default=[],
                     help='a macro of the program, e.g. STREAM_ARRAY_SIZE=800000000')  # fmt: skip
    one.add_argument('--libhugetlbfs', default='', help='its folder, for presets that link it')
    one.add_argument('--no-openmp', action='append_const', dest='more', const='--no-openmp')
    one.add_argument('--extra', default='', help='more options, after those of the preset')


def run(args: argparse.Namespace) -> int:
    try:
        if args.what == 'flags':
            words = [f'--define={macro}' for macro in args.define] + (args.more or [])
            words += [f'--libhugetlbfs={args.libhugetlbfs}', f'--extra={args.extra}']
            print(ask('flags', args.preset, *words), end='')
            return 0
        table = load()
    except PresetError as err:
        raise MembwError(err.fact, err.hint) from err
    for name, preset in table['presets'].items():
        print(f'{name:18} {" ".join(preset["requires"]) or "any":12} {preset["line"].strip()}')
    return 0
