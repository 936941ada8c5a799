"""`membw codegen`: what the compiler made of the kernels, read off the program's own code."""

import json

from membw import tables
from membw.codegen.read_program import read
from membw.tables import Cell, Column, Table

NAMES = ('kernel', 'stores', 'width', 'unroll', 'fma', 'prefetch', 'counted', 'moved', 'factor')
COLUMNS = tuple(Column(name, name) for name in NAMES)
HOW = """
Width is that of the stores in bits (64: one double at a time), unroll how many of them an
iteration makes. Counted bytes per element are STREAM's; an ordinary store reads the line that it
writes (write-allocate), so that more bytes move: factor is moved / counted. What memcpy does is
settled when it runs, so its factor is not known. More: docs/compilers.md
"""


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'codegen',
        help='what the compiler made of the kernels of a program',
        description='Reads off the disassembly of each kernel of a program for x86-64 or aarch64 '
        'what its stores are,\nhow wide, whether it calls memcpy or prefetches, and so how many '
        'bytes move.\nExit status: 0 read, 2 it cannot be read.',
        epilog=HOW,
    )
    add_options(parser)
    parser.set_defaults(func=main)


def add_options(parser):
    parser.add_argument('binary', help='a program that was built: build/gcc-o2/stream')
    tables.add_argument(parser)
    parser.add_argument('--listing', action='store_true', help='print the loops, too')
    parser.add_argument(
        '--kernel',
        metavar='NAME',
        action='append',
        help='only this one (may be repeated): copy, triad, ... or any function of the program',
    )


def main(args):
    facts = read(args.binary, args.kernel)
    if args.format == 'json':
        print(json.dumps(facts, indent=1))
    else:
        print(tables.as_text(blocks(facts, args.listing), args.format))
    return 0


# --- the table -------------------------------------------------------------------------------


def blocks(facts, listing=False):
    """The table, and what is said below it."""
    rows = [cells(name, kernel) for name, kernel in facts['kernels'].items()]
    yield Table(f'{facts["binary"]}, {facts["machine"]}', COLUMNS, rows)
    for name, kernel in facts['kernels'].items():
        yield from [f'{name}: {kernel["note"]}'] if kernel['note'] else []
    for name, kernel in facts['kernels'].items():
        yield from ['', f'{name} ({kernel["symbol"]}):', *kernel['loop']] if listing else []


def cells(name, kernel):
    width = str(kernel['width_bits'] or '-') + ('+' if kernel['scalable'] else '')
    return (
        name,
        ' '.join(kernel['calls']) or kernel['stores'],
        width,
        Cell(kernel['unroll'], plain(kernel['unroll'])),
        {True: 'yes', False: 'no', None: '-'}[kernel['fma']],
        ', '.join(map(prefetch, kernel['prefetches'])) or '-',
        Cell(kernel['counted_bytes'], plain(kernel['counted_bytes'])),
        Cell(kernel['moved_bytes'], plain(kernel['moved_bytes'], '?')),
        Cell(kernel['write_allocate_factor'], plain(kernel['write_allocate_factor'], '?')),
    )


def plain(value, unknown='-'):
    return unknown if value is None else f'{value:g}'


def prefetch(instruction):
    ahead = instruction['bytes_ahead']
    return instruction['kind'] + (f' {ahead:+d} B' if ahead is not None else '')
