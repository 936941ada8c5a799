"""`membw calibrate`: references of a system from its own runs, into its reference file."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from membw import tables
from membw.arguments import FORMS, add_node, add_site_tests, begin, count, wanted_of
from membw.calibrate.reference_file import ReferenceFile
from membw.calibrate.rule import (
    ENOUGH_NIGHTS,
    ENOUGH_NODES,
    Reference,
    Refusal,
    counts,
    is_few,
    reference,
)  # fmt: skip
from membw.calibrate.samples import Samples, select
from membw.checkout import root
from membw.errors import MembwError
from membw.files import one_at_a_time
from membw.printable import plural, printable
from membw.results.findings import text_of
from membw.results.table import Table, read_table
from membw.tables import Block, Cell, Column

EPILOG = """\
The reference is the median of the nodes' medians. The tolerance is the larger of 2 % and 4 robust
standard deviations (1.4826 MAD) of all runs; twice that with fewer than 3 nights or 20 nodes. On
the better side the limit is twice as far. A tolerance of the memory's bandwidth that is wider than
half a channel is refused: the loss of one would pass. Left out: runs that are INVALID, or a lower
bound only; of another program, compiler or CPU than most nodes now; of before a change of
firmware, microcode, kernel, modules, board or code; nodes that `membw rank` does not pass. Two
groups of nodes give no reference. A figure that exists stays in force until --replace.

exit status: 0 all references proposed; 1 some were refused, or a line could not be read; 2 usage
error
"""
FIELDS = 'system', 'test', 'partition', 'preset', 'pinning'  # options that choose rows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add('results', nargs='*', metavar='RESULTS', help=f'{FORMS} (results)')
    add = parser.add_argument_group('which runs').add_argument
    add('--system', help='the name of a file of systems/, without .yaml')
    add('-n', '--test', default='stream', help='the check (stream)')
    add('--partition', help='this partition only')
    add('--preset', help='this preset only')
    add('--pinning', help='this pinning only')
    add_node(add, 'runs')
    add('--since', type=begin, metavar='DAY', default=0.0, help='from then on: 2026-11-21, 14d')
    add = parser.add_argument_group('which references').add_argument
    add('--expires', type=count, default=180, metavar='DAYS', help='until a run warns (180)')
    add('--replace', action='store_true', help='replace existing figures')
    add('--dry-run', action='store_true', help='write nothing')
    add_site_tests(parser, '-n', '--since', '--system')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    table, every = gather(args)
    blocks: list[Block] = []
    if args.test in table.site_tests:  # whose references stand in its check
        made = [propose(args, None, samples, blocks) for samples in every]
    else:
        with one_at_a_time(Path(root(), 'systems')):  # of two at once the second adds to the first
            file = ReferenceFile(args.system, args.test)
            made = [propose(args, file, samples, blocks) for samples in every]
            if not args.dry_run:
                blocks += [f'written: {path}' for path in file.write()]
    print(tables.as_text(blocks, args.json))
    return 0 if all(made) and not table.problems else 1


def gather(args: argparse.Namespace) -> tuple[Table, list[Samples]]:
    """The table, and the requested Samples. Raises MembwError where there are none."""
    paths = args.results or [str(Path(root(), 'results'))]
    table = read_table(paths, wanted=wanted_of(args, args.since))
    systems = sorted({f.setting.system for f in table.figures})
    if len(systems) == 1 and args.test in table.site_tests:
        args.system = systems[0]  # which has no file of systems/
    if not args.system:
        known = ' or '.join(f'--system {system}' for system in systems)
        known = known or '--system SYSTEM names a file of systems/, -n a test of yours'
        raise MembwError('no system is given', known)
    table.say()
    if args.node:
        table.choose(args.node)
    wanted = {name: value for name in FIELDS if (value := getattr(args, name))}
    if every := select(table, wanted):
        return table, every
    fact = f"no run of '{' '.join(wanted.values())}' in '{' '.join(paths)}'"
    how = f"'membw run --system {args.system} -n {args.test} --repeat=5' makes five"
    raise MembwError(fact, how)


def propose(
    args: argparse.Namespace, file: ReferenceFile | None, samples: Samples, blocks: list[Block]
) -> bool:
    """Enter the references of one key that do not exist; False where any is refused."""
    found: dict[str, Reference] = {}
    refused: dict[str, list[str]] = {} if samples.runs else {'no valid run': []}
    for metric, runs in samples.runs.items():
        try:
            if samples.split:
                raise Refusal(text_of(samples.split))
            found[metric] = reference(runs, samples.channels)
        except Refusal as err:
            refused.setdefault(str(err), []).append(metric)
    existing: dict[str, Any] = {}
    if file:
        file.require_index(name for name, _ in samples.case.parameters)
        existing = file.existing(samples.key)
        new = {m: row for m, row in found.items() if args.replace or m not in existing}
        file.put(samples.key, new, counts(samples.most) | samples.facts, args.expires)
    blocks += proposal_blocks(samples, found, existing, args.replace)
    if found and not file:
        rows = {m: (row.value, row.low, row.high, row.unit) for m, row in found.items()}
        blocks.append(f'  reference = {{{samples.case.where!r}: {rows}}}')
    for why, metrics in refused.items():
        blocks.append('  ' + ': '.join(filter(None, ('refused', ', '.join(metrics), why))))
    for why, number in samples.left_out.most_common():
        blocks.append(f'  left out: {plural(number, "run")}: {printable(why)}')
    return not refused


COLUMNS = (
    Column('metric', 'metric'), Column('reference', 'reference', True), Column('unit', 'unit'),
    Column('spread', 'spread of runs', True), Column('lower', 'tolerance', True),
    Column('upper', '', True), Column('existing', 'existing'),
)  # fmt: skip


def proposal_blocks(
    samples: Samples, found: dict[str, Reference], existing: dict[str, Any], replace: bool
) -> Iterator[Block]:
    """The table of a proposal, and what is to be known of it."""
    fate = 'replaced' if replace else 'stays without --replace'
    rows = []
    for metric, row in found.items():
        value, spread = Cell(row.value, f'{row.value:.6g}'), Cell(row.spread, f'{row.spread:.2%}')
        ends = (Cell(end, f'{end:+.1%}') for end in (row.low, row.high))
        old = ' '.join('open' if x is None else str(x) for x in existing.get(metric, ())[:3])
        rows.append([metric, value, row.unit, spread, *ends, f'{old}, {fate}' if old else 'none'])
    every = ', '.join(plural(n, what[:-1]) for what, n in counts(samples.most).items())
    title = f'{samples.case.name}: {every}'
    yield tables.Table(title, COLUMNS, rows) if found else title
    if found and is_few(samples.most):
        few = f'fewer than {ENOUGH_NIGHTS} nights or {ENOUGH_NODES} nodes'
        yield f'  {few}: the tolerances are doubled, to half a channel at most'
