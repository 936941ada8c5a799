"""`membw diff`: what differs between two records: figures first, then build, run and facts."""

import argparse
import re
from collections.abc import Iterator
from typing import NamedTuple

from membw import tables
from membw.arguments import fraction
from membw.history.changes import MARGIN
from membw.results.find_one import Result, find
from membw.tables import Cell, Column, Table

EPILOG = """\
A and B are records: a file of results/records, its name alone, or FILE#HOST.

examples:
  membw diff yesterday.json today.json
  membw diff results/records/cluster.jsonl#n1 results/records/cluster.jsonl#n2 --margin 1

exit status: 0 the same build and verdict, and no figure apart by more than the margin; 1 they
differ; 2 usage error
"""
# of a record: what differs in any two runs, and what the figures are made of
LEFT_OUT = {'time', 'metrics', 'kernels', 'busy', 'pairs', 'messages', 'links', 'iterations'}
LEFT_OUT |= {'clock_tick_s', 'repetitions', 'placement_before', 'placement_after', 'schema'}
# of its case: where things are stored, and words that the figures repeat
LEFT_OUT |= {'case.references', 'case.session', 'case.record', 'case.reference_expired'}
LEFT_OUT |= {'case.known_issues', 'warnings', 'residency.triad_gbs', 'residency.seconds'}
LEFT_OUT |= {'residency.largest_triad_gbs'}
LEFT_OUT |= {
    f'{pair}.{end}' for pair in ('core_pair', 'core_pair_after') for end in ('low_ns', 'high_ns')
}
LONGEST = 60  # characters of a value in the table
# two builds are different by these, unless their code is the same
BUILD = ('case.source_sha256', 'case.code_sha256', 'case.compile_line', 'case.compiler')
FIGURES = (
    Column('metric', 'metric'),
    Column('unit', 'unit'),
    Column('a', 'A', True),
    Column('b', 'B', True),
    Column('ratio', 'B to A', True),
    Column('apart', ''),
)
FIELDS = (Column('field', 'differs'), Column('a', 'A'), Column('b', 'B'))


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        'diff',
        help='name what differs between two results',
        description='Names what differs between two results: figures, build, run, node.',
        epilog=EPILOG,
    )
    parser.add_argument('a', metavar='A', help='one record')
    parser.add_argument('b', metavar='B', help='the other')
    add_options(parser)
    parser.set_defaults(func=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that compares two results."""
    add = parser.add_argument_group('comparison').add_argument
    about = 'figures further apart differ (2)'
    add('--margin', type=fraction, default=MARGIN, metavar='PERCENT', help=about)
    add('--results', metavar='DIR', help='where stored results are (results)')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Exit status as in EPILOG."""
    found = compare(find(args.a, args.results), find(args.b, args.results), args.margin)
    print(tables.as_text(found.blocks, args.json))
    return 1 if found.different else 0


class Difference(NamedTuple):
    """`different`: 'figures (triad)', 'the build (compiler)', 'the verdicts'; [] of the same."""

    apart: list[str]  # metrics
    fields: list[tuple[str, str | None, str | None]]  # (name, of A, of B)
    different: list[str]
    blocks: list[Table | str]  # all of it, as it is printed


def compare(a: Result, b: Result, margin: float) -> Difference:
    """Figures differ beyond `margin` (a fraction), unless one lies in the other's interval."""
    of_a, of_b = a.record['metrics'], b.record['metrics']
    rows = [_figure(name, of_a.get(name), of_b.get(name), margin) for name in {**of_a, **of_b}]
    apart = [str(name) for name, *_, word in rows if word]
    flat_a, flat_b = dict(_flat(a.record)), dict(_flat(b.record))
    every = [(name, flat_a.get(name), flat_b.get(name)) for name in {**flat_a, **flat_b}]
    fields = [row for row in every if row[1] != row[2]]
    names = [name for name, _, _ in fields]
    build = [name.removeprefix('case.') for name in BUILD if name in names]
    different = [f'the build ({", ".join(build)})'] if 'code_sha256' in build else []
    different += [f'figures ({", ".join(apart)})'] * bool(apart)
    if not different and {'verdict', 'case.verdict'} & {*names}:
        different = ['the verdicts']
    same = f'SAME: the same build, no figure apart by more than {margin:.1%}'
    verdict = f'DIFFERENT: {", ".join(different)}' if different else same
    blocks: list[Table | str] = [f'A  {a.title}', f'B  {b.title}', '', Table('', FIGURES, rows)]
    if any(m.get('bound') == 'lower' for m in (*of_a.values(), *of_b.values())):
        blocks.append('  ≥ is a lower bound: a figure above it is not apart from it')
    if fields:
        shown = [[name, _cut(of_a), _cut(of_b)] for name, of_a, of_b in fields]
        blocks += ['', Table('', FIELDS, shown)]
    return Difference(apart, fields, different, [*blocks, '', f'Verdict: {verdict}'])


def _figure(name: str, a: dict | None, b: dict | None, margin: float) -> list:
    """A row of FIGURES; a metric that one side lacks is apart."""
    unit, ratio = (a or b or {}).get('unit', ''), None
    is_apart = True
    if a and b and a.get('value') and b.get('value') is not None:
        ratio = b['value'] / a['value'] - 1
        is_apart = abs(ratio) > margin and not (_holds(a, b['value']) or _holds(b, a['value']))
    return [name, unit, _shown(a), _shown(b), tables.shown(ratio, '+.1%'), 'apart' * is_apart]


def _holds(metric: dict, value: float) -> bool:
    """Whether the interval of a metric holds a value; a lower bound holds all above it."""
    if metric.get('bound') == 'lower':
        return value >= metric['value']
    low, high = metric.get('low'), metric.get('high')
    return low is not None and high is not None and low <= value <= high


def _cut(text: str | None) -> Cell:
    return Cell(text, text if not text or len(text) <= LONGEST else f'{text[: LONGEST - 3]}...')


def _shown(metric: dict | None) -> Cell:
    if not metric or metric.get('value') is None:
        return Cell(None, '-')
    return Cell(metric['value'], f'{"≥ " * (metric.get("bound") == "lower")}{metric["value"]:.5g}')


def _flat(tree: dict, prefix: str = '') -> Iterator[tuple[str, str]]:
    """(name, text) of all that may make a difference."""
    for key, value in tree.items():
        name = f'{prefix}{key}'
        if isinstance(value, dict) and name not in LEFT_OUT:
            yield from _flat(value, f'{name}.')
        elif value not in (None, '', []) and name not in LEFT_OUT:
            # where the binary lies is no part of how it was built
            text = f'{value:.6g}' if isinstance(value, float) else str(value)
            yield name, re.sub(r' -o \S+', '', text) if key == 'compile_line' else text
