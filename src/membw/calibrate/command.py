"""`membw calibrate`: references of a system from its own runs, into its reference file."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from membw import tables
from membw.arguments import begin, days
from membw.calibrate import floors
from membw.calibrate.reference_file import ReferenceFile
from membw.calibrate.rule import Reference, Refusal, reference, too_few
from membw.calibrate.samples import Samples, select
from membw.checkout import refuse_unknown_system, root
from membw.errors import MembwError
from membw.files import one_at_a_time, write_whole
from membw.plural import plural
from membw.results.table import Table, read_table
from membw.tables import Cell, Column

EPILOG = """\
For each partition, preset, pinning and metric the reference is the median of the nodes' medians.
The tolerance is the larger of 2 % and 4 robust standard deviations (1.4826 MAD) of all runs. With
fewer than 3 nights or 20 nodes it is twice that, and the output says so. On the better side the
limit is twice as far: a figure far too good is another measurement.

INVALID runs and lower bounds are left out. So are runs of another program, compiler or CPU than
the newest run. At least 5 runs are needed.

A figure that exists, published or calibrated, stays in force until --replace.

examples:
  membw calibrate --system thin --dry-run               # from results/records
  membw calibrate --system local --preset gcc-o2 --pinning likwid
  membw calibrate --system thin --preset gcc-o2 --pinning omp --floors /etc/membw/floors

exit status: 0 all references proposed; 1 some were refused, or a line could not be read; 2 usage
error
"""
Block = tables.Table | str


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        'calibrate',
        help="take references from a system's own runs",
        description='Proposes references from results and writes systems/references/SYSTEM.yaml.',
        epilog=EPILOG,
    )
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help='records: files, folders, - (results)')
    add('--system', required=True, help='the name of a file of systems/, without .yaml')
    add('--test', default='stream', help='the check (stream)')
    add('--partition', help='this partition only')
    add('--preset', help='this preset only')
    add('--pinning', help='this pinning only')
    add(
        '--since',
        type=begin,
        metavar='DAY',
        default=0.0,
        help='take runs from this day on: 2026-11-21, or 14d: the last 14',
    )
    add(
        '--expires',
        type=days,
        default=180,
        metavar='DAYS',
        help='after so many days each run warns that the reference is old (180)',
    )
    add('--replace', action='store_true', help='replace existing figures')
    add(
        '--floors',
        metavar='FILE',
        help="also write a file of floors for 'stream --at-least': 10 %% below the medians",
    )
    add('--dry-run', action='store_true', help='show what would be written, as a diff')
    tables.add_argument(parser)
    parser.set_defaults(func=run)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    table, every = gather(args)
    with one_at_a_time(Path(root(), 'systems')):  # of two at once the second adds to the first
        file = ReferenceFile(args.system, args.test)
        blocks: list[Block] = []
        made = {s.key: found for s in every if (found := propose(args, file, s, blocks))}
        try:
            blocks += finish(args, file, floors.of_one(made) if args.floors else '')
        finally:
            print(tables.as_text(blocks, args.format))
    return 1 if len(made) < len(every) or table.problems else 0


def gather(args: argparse.Namespace) -> tuple[Table, list[Samples]]:
    """The table, and the requested Samples. Raises MembwError where there are none."""
    refuse_unknown_system(args.system)
    paths = args.results or [str(Path(root(), 'results'))]
    table = read_table(paths)
    for problem in table.problems:
        print(f'membw: {problem}', file=sys.stderr)
    wanted = args.partition, args.preset, args.pinning
    every = select(table, args.system, args.test, wanted, args.since)
    if not every:
        requested = ' '.join(filter(None, (args.system, *wanted)))
        raise MembwError(
            f"no run of '{args.test}' on '{requested}' in '{' '.join(paths)}'",
            f"'membw run --system {args.system} -n {args.test} --repeat=5' makes five",
        )
    return table, every


def propose(
    args: argparse.Namespace, file: ReferenceFile, samples: Samples, blocks: list[Block]
) -> dict[str, Reference]:
    """{metric: Reference} of one key, and those that are not kept entered in the file; {} where
    they are refused."""
    file.require_index(samples.parameters)
    found = {}
    try:
        for metric, runs in samples.runs.items():
            found[metric] = reference(runs, *samples.units[metric])
        if not found:
            raise Refusal('no valid run')
    except Refusal as err:
        name = next((m for m in samples.runs if m not in found), '')
        blocks.append(f'{" ".join([*samples.key, name]).strip()}: refused: {err}')
        found = {}
    else:
        existing = file.existing(samples.key)
        new = {m: row for m, row in found.items() if args.replace or m not in existing}
        if new:
            file.put(samples.key, new, about(samples), args.expires)
        blocks += proposal_blocks(samples, found, existing, args.replace)
    for why, count in samples.left_out.most_common():
        blocks.append(f'  left out: {plural(count, "run")}: {why}')
    return found


def about(samples: Samples) -> dict[str, Any]:
    """What the file notes of the runs."""
    runs = samples.most
    nodes, nights = {run.node for run in runs}, {run.night for run in runs}
    return {'runs': len(runs), 'nodes': len(nodes), 'nights': len(nights), **samples.facts}


COLUMNS = (
    Column('metric', 'metric'),
    Column('reference', 'reference', True),
    Column('unit', 'unit'),
    Column('spread', 'spread of runs', True),
    Column('lower', 'tolerance', True),
    Column('upper', '', True),
    Column('existing', 'existing'),
)


def proposal_blocks(
    samples: Samples, found: dict[str, Reference], existing: dict[str, Any], replace: bool
) -> Iterator[Block]:
    """The table of a proposal, and the notes about it."""
    noted = about(samples)
    counts = ', '.join(plural(noted[f'{what}s'], what) for what in ('run', 'node', 'night'))
    rows = [
        [
            metric,
            Cell(row.value, f'{row.value:.6g}'),
            row.unit,
            Cell(row.spread, f'{row.spread:.2%}'),
            Cell(row.low, f'{row.low:+.1%}'),
            Cell(row.high, f'{row.high:+.1%}'),
            existing_text(existing.get(metric), replace),
        ]
        for metric, row in found.items()
    ]
    yield tables.Table(f'{" ".join(samples.key)}: {counts}', COLUMNS, rows)
    if too_few(samples.most):
        yield f'  the runs are of {too_few(samples.most)}: the tolerances are doubled'
    if existing and not replace:
        yield '  existing figures stay in force: --replace takes the measured ones'


def existing_text(figure: Any, replace: bool) -> str:
    if figure is None:
        return 'none'
    text = ' '.join('open' if part is None else str(part) for part in figure[:3])
    return f'{text}, {"replaced" if replace else "stays"}'


def finish(args: argparse.Namespace, file: ReferenceFile, text: str) -> list[str]:
    """Write the references, then the floors; the paths, or the diff of a dry run."""
    if args.dry_run:
        return [*(list(file.diff()) or ['nothing to write']), *text.splitlines()]
    written = file.write()
    if text:
        write_whole(args.floors, text, 'the references are written; does its folder exist?')
        written.append(args.floors)
    return [f'written: {name}' for name in written]
