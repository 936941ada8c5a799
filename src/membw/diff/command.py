"""`membw diff`: what differs between two records: figures first, then build, run and facts."""

import argparse
import re
from typing import NamedTuple

from membw import tables
from membw.arguments import fraction
from membw.history.changes import MARGIN
from membw.results import provenance, regimes
from membw.results.find_one import Result, find
from membw.results.table import Figure, figures_of
from membw.tables import Cell, Column, Table

EPILOG = """\
A and B are records: a file of results/records, its name alone, or FILE#HOST.

examples:
  membw diff yesterday.json today.json
  membw diff results/records/cluster.jsonl#n1 results/records/cluster.jsonl#n2 --margin 1

exit status: 0 the same code and verdict, and no figure apart by more than the margin; 1 they
differ; 2 usage error
"""
# compared in addition to results/provenance.py
NAMES = ('verdict', 'program', 'system', 'partition', 'test', 'parameters', 'preset', 'pinning',
         'commit', 'scheduling', 'peak_gbs', 'llc_mib', 'smt', 'freq_max_khz')  # fmt: skip
LONGEST = 60  # characters of a value in the table
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
    about = 'name what differs between two results'
    parser = subparsers.add_parser('diff', help=about, epilog=EPILOG)
    parser.description = 'Names what differs between two results: figures, build, run, node.'
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
    """`different`: 'the code', 'the verdicts', 'figures (triad)'; [] of the same."""

    apart: list[str]  # metrics
    fields: list[tuple[str, ...]]  # (name, of A, of B)
    different: list[str]
    blocks: list[Table | str]  # all of it, as it is printed


def compare(a: Result, b: Result, margin: float) -> Difference:
    """Figures differ beyond `margin` (a fraction), unless one lies in the other's interval."""
    of_a, of_b = figures_of(a.record), figures_of(b.record)
    rows = [_row(name, of_a.get(name), of_b.get(name), margin) for name in {**of_a, **of_b}]
    apart = [str(name) for name, *_, word in rows if word]
    with_a, with_b = _fields(a.record), _fields(b.record)
    both = {name: (with_a.get(name, ''), with_b.get(name, '')) for name in {**with_a, **with_b}}
    fields: list[tuple[str, ...]] = [(name, *two) for name, two in both.items() if len({*two}) > 1]
    latencies = [regimes.latency(result.record) for result in (a, b)]
    if regimes.states(latencies):
        fields.append(('nearest cores, ns', *(f'{ns:.0f}' for ns in latencies)))
    names = [name for name, *_ in fields]
    different = ['the code'] * ('code_sha256' in names) + ['the verdicts'] * ('verdict' in names)
    different += [f'figures ({", ".join(apart)})'] * bool(apart)
    same = f'SAME: the same code, no figure apart by more than {margin:.1%}'
    verdict = f'DIFFERENT: {", ".join(different)}' if different else same
    blocks: list[Table | str] = [f'A  {a.title}', f'B  {b.title}', '', Table('', FIGURES, rows)]
    if any(figure.is_bound for figure in (*of_a.values(), *of_b.values())):
        blocks.append('  ≥ is a lower bound: a figure above it is not apart from it')
    if fields:
        shown = [[name, *(Cell(t, _cut(t)) for t in texts)] for name, *texts in fields]
        blocks += ['', Table('', FIELDS, shown)]
    return Difference(apart, fields, different, [*blocks, '', f'Verdict: {verdict}'])


def _row(name: str, a: Figure | None, b: Figure | None, margin: float) -> list:
    """A row of FIGURES; a metric that one side lacks is apart."""
    ratio = b.value / a.value - 1 if a and b else None
    is_same = (
        a
        and b
        and ratio is not None
        and (abs(ratio) <= margin or _holds(a, b.value) or _holds(b, a.value))
    )
    unit, shown = (a or b or Figure()).unit, tables.shown(ratio, '+.1%')
    return [name, unit, _shown(a), _shown(b), shown, '' if is_same else 'apart']


def _holds(figure: Figure, value: float) -> bool:
    """Whether the interval of a figure holds a value; a lower bound holds all above it."""
    if figure.is_bound:
        return value >= figure.value
    return (
        figure.low is not None and figure.high is not None and figure.low <= value <= figure.high
    )


def _shown(figure: Figure | None) -> Cell:
    if not figure:
        return Cell(None, '-')
    return Cell(figure.value, f'{"≥ " * figure.is_bound}{figure.value:.5g}')


def _fields(record: dict) -> dict[str, str]:
    """{name: text} of what a result was measured, built and run with."""
    case = record.get('case') or {}
    every = {**(record.get('facts') or {}), **record, **case, 'preset': case.get('environ')}
    fields = {name: str(every[name]) for name in NAMES if every.get(name) not in (None, '')}
    fields |= provenance.of_json(record, case)
    # where the binary lies is no part of how it was built
    return {k: re.sub(r' -o \S+', '', v) if k == 'compile_line' else v for k, v in fields.items()}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f'{text[: LONGEST - 3]}...'
