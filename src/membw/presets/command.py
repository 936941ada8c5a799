"""`membw presets`: lists the presets; make plans and records a build by it."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from typing import NoReturn

from membw.presets.lines import (
    banner,
    blas_words,
    check_compiler,
    compiler_of,
    flags,
    mpi_added,
    sources_of,
)
from membw.presets.provenance import write_if_changed, write_record
from membw.presets.table import Facts, PresetError, Table, load, row

# a macro of a line: STREAM_ARRAY_SIZE=800000000, STREAM_TYPE=float
DEFINE = re.compile(r'[A-Za-z_]\w*=([1-9]\d*|[A-Za-z_]\w*)')


def options_of(args: argparse.Namespace) -> Facts:
    keep = ('openmp', 'libhugetlbfs', 'extra')
    return {name: getattr(args, name) for name in keep}


def do_list(args: argparse.Namespace, table: Table) -> None:
    for name, preset in table['presets'].items():
        print(f'{name:18} {" ".join(preset["requires"]) or "any":12} {preset["line"].strip()}')


def do_flags(args: argparse.Namespace, table: Table) -> None:
    options = options_of(args)
    print(shlex.join(flags(args.preset, defines=args.define, table=table, **options)))


def do_plan(args: argparse.Namespace, table: Table) -> None:
    """The variables that make reads first; the stamp changes exactly when a rebuild is needed."""
    options = options_of(args)
    cc = args.cc or compiler_of(row(args.preset, table)['family'], table)
    check_compiler(args.preset, cc, table)
    line = flags(args.preset, defines=args.define, table=table, **options)
    before, after = mpi_added(args.mpicc) if args.mpicc else ([], [])
    if args.blas:
        compiled, linked = blas_words(args.blas)
        before, after = [*compiled, *before], [*linked, *after]
    plan = {
        'PLAN_CC': cc,
        'PLAN_FLAGS': shlex.join([*line, *before]),
        'PLAN_SOURCES': shlex.join(sources_of(args.preset, args.program, table)),
        'PLAN_LIBS': shlex.join([*after, *args.libs]),
    }
    text = ''.join(
        f'{k} := {v.replace("$", "$$").replace("#", chr(92) + "#")}\n' for k, v in plan.items()
    )
    write_if_changed(args.stamp, f'# {banner(cc)}\n{text}')


def do_record(args: argparse.Namespace, table: Table) -> None:
    write_record(args.binary, args.preset, args.line, args.sources, args.mpicc, args.blas)


def define(text: str) -> str:
    if not DEFINE.fullmatch(text):
        name, _, value = text.partition('=')
        raise argparse.ArgumentTypeError(
            f"invalid value of {name}: '{value}', neither a whole number above 0 nor a name"
        )
    return text


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"membw: {message}\nhint: '{self.prog} --help' lists the options\n")


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument('preset', help='row of presets.yaml, e.g. gcc-o2')
    command.add_argument(
        '-D',
        dest='define',
        metavar='NAME=VALUE',
        type=define,
        action='append',
        default=[],
        help='a macro of the program, e.g. STREAM_ARRAY_SIZE=800000000; the order is kept',
    )
    command.add_argument(
        '--libhugetlbfs', help='the folder of this library, for presets that link it'
    )
    command.add_argument('--no-openmp', dest='openmp', action='store_false')
    command.add_argument(
        '--extra', type=shlex.split, default=[], help='more options, after those of the preset'
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The commands of a parser: `membw presets ...`, or this file's own."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)
    commands.add_parser('list', help='every preset, the CPU features it needs, its line')
    one = commands.add_parser('flags', help='the options of one preset, quoted for a shell')
    add_options(one)
    plan = commands.add_parser('plan', help='write what make includes (only if it changed)')
    add_options(plan)
    plan.add_argument('program', help='a folder of src')
    plan.add_argument('--cc', default='')
    plan.add_argument('--mpicc', help='with MPI: the compiler wrapper')
    plan.add_argument('--blas', help='row of blas.yaml: the library to link')
    plan.add_argument('--libs', type=shlex.split, default=[], help='words behind all others')
    plan.add_argument('--stamp', required=True)
    record = commands.add_parser('record', help='write BINARY.json next to a binary')
    record.add_argument('preset')
    record.add_argument('binary')
    record.add_argument('--sources', required=True, help="the program's folder")
    record.add_argument('--mpicc', help='with MPI: the compiler wrapper')
    record.add_argument('--blas', help='the row of blas.yaml that is in the line')
    record.add_argument('line', nargs='+', help='after --: the compile line')


DO = {'list': do_list, 'flags': do_flags, 'plan': do_plan, 'record': do_record}


def run(args: argparse.Namespace) -> int:
    try:
        DO[args.what](args, load())
    except PresetError as err:
        print(err, file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # a reader that has seen enough is no file that may not be written
    except OSError as err:
        where = f"'{err.filename}': " if err.filename else ''
        print(f'membw: {where}{err.strerror}\nhint: is it writable?', file=sys.stderr)
        return 2
    return 0


def main(argv: list[str] | None = None) -> int:
    prog = 'python3 -m membw.presets.command'
    parser = Parser(prog=prog, description=__doc__)
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except BrokenPipeError:
        sys.stderr.close()
        return 141


if __name__ == '__main__':
    sys.exit(main())
