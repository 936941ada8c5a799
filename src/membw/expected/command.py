"""`membw expect`: what the memory of a CPU or a GPU should reach, and what would prove it."""

import argparse
import tempfile
from pathlib import Path

from membw import tables
from membw.call import call
from membw.errors import MembwError
from membw.expected import cards, expectation
from membw.presets.table import Facts
from membw.site import cpu_peak as peak
from membw.site.card_peak import of_name

EPILOG = """\
CPU: as it is sold, or as it calls itself; without one: this machine, with its modules where root
asks. It measures nothing.

examples:
  membw expect 9654 --sockets 2 --dimms 24x64G-4800
  membw expect Xeon 6960P
  membw expect H200
  membw expect

exit status: 0; 2 usage error, or a CPU that is not known here
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('cpu', nargs='*', metavar='CPU', help='such as 9654, Xeon Gold 6230, Graviton4, H200')
    add('--sockets', type=int, default=1, metavar='N', help='of the node (1)')
    add('--dimms', default='', metavar='NxSIZE-MT/s', help='the modules of the node, 24x64G-4800')
    about = 'of this machine: built programs, where there is no compiler'
    add('--programs', metavar='DIR', help=about)
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.sockets < 1:
        raise MembwError(f"invalid value for '--sockets': '{args.sockets}'", 'must be at least 1')
    cpu = ' '.join(args.cpu)
    if found := of_name(cpu):
        print(tables.as_text([*cards.blocks(found)], args.json))
        return 0
    if cpu:
        facts, row = expectation.facts_of(cpu, args.sockets, args.dimms)
        top = peak.of_row(row, facts)
    elif args.dimms or args.sockets > 1:
        raise MembwError('no CPU given', 'membw expect 9654 --sockets 2 --dimms 24x64G-4800')
    else:
        facts = here(args.programs)
        top = peak.of_node({'facts': facts})
    print(tables.as_text(expectation.blocks(top, facts), args.json))
    return 0


def here(programs: str | None = None) -> Facts:
    """The facts of this machine, as each record has them: of a run of a few elements."""
    from membw.results.record import evidence
    from membw.site.programs import built, program_in

    program = program_in(built(['stream'], None, programs), 'stream')
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, 'record.json')
        line = [str(program), '-n', '1000', '-t', '2', '--json', str(file)]
        done = call(line)
        if not file.is_file():
            raise MembwError(f"'{' '.join(line)}' left no record: {done.stderr[-200:]}")
        return evidence(file.read_bytes())['facts']
