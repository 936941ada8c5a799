"""`membw codegen`: what the compiler made of the kernels of a program."""

import argparse

from membw import tables
from membw.codegen.kernels import read_kernels
from membw.tables import Cell, Column, Table

COLUMNS = tuple(Column(name, name) for name in ('kernel', 'stores', 'width', 'at'))
WIDTHS = {None: '?', 0: 'SVE'}
EPILOG = """\
Of x86-64 and aarch64, from the disassembly: kind and width of the stores.
Width is that of the stores in bits (64: one double at a time; SVE: the CPU's registers decide). On
x86-64 an ordinary store also reads the line that it writes, a non-temporal one does not. zeroed:
lines are set to zero first (dc zva), which reads nothing. On Arm non-temporal is a hint, and
many cores stop reading after a few full lines. memcpy chooses its stores at run time. at: where
the loop begins in its line of 64 bytes of code: another place can move a figure by 5 %.

exit status: 0 read, 2 it cannot be read
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('binary', help='a built program: build/gcc-o2/stream')
    tables.add_argument(parser)
    parser.add_argument('--kernel', metavar='NAME', action='append', help='this kernel alone')


def run(args: argparse.Namespace) -> int:
    rows = []
    for name, facts in read_kernels(args.binary, args.kernel or ()).items():
        bits, at = facts['width_bits'], facts['loop_offset']
        stores = ' '.join(facts['calls']) or facts['stores']
        width = Cell(bits, WIDTHS.get(bits))
        rows.append((name, stores, width, Cell(at, '?' if at is None else None)))
    print(tables.as_text([Table(args.binary, COLUMNS, rows)], args.json))
    return 0
