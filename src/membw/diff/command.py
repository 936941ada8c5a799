"""`membw diff`: what differs between two records: figures first, then build, run and facts."""

import argparse
import re
from typing import NamedTuple

from membw import tables
from membw.arguments import fraction
from membw.history.changes import MARGIN
from membw.printable import amount
from membw.results.archive import Result, find
from membw.results.figure import Figure, figures_of, measurement
from membw.results.record import evidence_of
from membw.results.verdict import ends
from membw.site.cpu_peak import peak_of
from membw.tables import Cell, Column, Table

EPILOG = """\
A and B are records: a file of results/records, its name alone, or FILE#HOST.

examples:
  membw diff yesterday.json today.json
  membw diff results/records/cluster.jsonl#n1 results/records/cluster.jsonl#n2 --margin 1

Figures are apart where neither lies in the other's interval, and they differ by more than the
margin. A lower bound is compared with nothing.

exit status: 0 SAME: the same code and verdict, no figure apart; 1 DIFFERENT, or UNDECIDED: the
code of one is not known, or figures are bounds; 2 usage error
"""
# compared in addition to the case and to results/provenance.py
NAMES = ('commit', 'scheduling', 'llc_mib', 'smt', 'freq_max_khz')
LONGEST = 60  # characters of a value in the table
FIGURES = (
    Column('metric', 'metric'),
    Column('unit', 'unit'),
    Column('a', 'A', True),
    Column('b', 'B', True),
    Column('ratio', 'B to A', True),
    Column('least', 'limit', True),
    Column('word', ''),
)
FIELDS = (Column('field', 'differs'), Column('a', 'A'), Column('b', 'B'))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('a', metavar='A', help='one record')
    parser.add_argument('b', metavar='B', help='the other')
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that compares two results."""
    add = parser.add_argument_group('comparison').add_argument
    about = 'figures further apart differ (2)'
    add('--margin', type=fraction, default=MARGIN, metavar='PERCENT', help=about)
    add('--results', metavar='DIR', help='where stored results are (results)')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    found = compare(find(args.a, args.results), find(args.b, args.results), args.margin)
    print(tables.as_text(found.blocks, args.json))
    return 0 if found.is_same else 1


class Difference(NamedTuple):
    fields: list[tuple[str, ...]]  # (name, of A, of B)
    verdict: str  # 'SAME: ...', 'DIFFERENT: the code, figures (triad)', 'UNDECIDED: why'
    is_same: bool
    blocks: list[Table | str]  # all of it, as it is printed


def compare(a: Result, b: Result, margin: float) -> Difference:
    """Figures differ beyond `margin` (a fraction), unless one lies in the other's interval."""
    of_a, of_b = (figures_of(evidence_of(one.record)) for one in (a, b))
    rows = [_row(name, of_a.get(name), of_b.get(name), margin) for name in {**of_a, **of_b}]
    apart = [row[0] for row in rows if row[-1] == APART]
    bounds = [row[0] for row in rows if row[-1] == NOT_COMPARABLE]
    with_a, with_b = _fields(a.record), _fields(b.record)
    both = {name: (with_a.get(name, ''), with_b.get(name, '')) for name in {**with_a, **with_b}}
    fields: list[tuple[str, ...]] = [(name, *two) for name, two in both.items() if len({*two}) > 1]
    codes = both.get('code_sha256', ('', ''))
    different = ['the code'] * (all(codes) and codes[0] != codes[1])
    different += ['the verdicts'] * (len({*both.get('verdict', '')}) > 1)
    different += [f'figures ({", ".join(apart)})'] * bool(apart)
    undecided = ['the code is not known'] * (not all(codes))
    undecided += [f'the figures are {v}' for v in {*both['verdict']} - {'VALID'}]
    undecided += [f'lower bounds are not comparable ({", ".join(bounds)})'] * bool(bounds)
    blocks: list[Table | str] = [f'A  {a.title}', f'B  {b.title}', '', Table('', FIGURES, rows)]
    if fields:
        cells = ([Cell(text, tables.cut(text, LONGEST)) for text in row] for row in fields)
        blocks += ['', Table('', FIELDS, cells)]
    is_same = not different and not undecided
    if is_same:
        least = max(row[LEAST_COLUMN].value for row in rows)
        unseen = f'up to {least:.1%} could not be told apart'
        verdict = f'SAME: the same code, no figure apart; {unseen}'
    else:
        verdict = 'DIFFERENT: ' if different else 'UNDECIDED: '
        verdict += ', '.join(different) or '; '.join(undecided)
    return Difference(fields, verdict, is_same, [*blocks, '', f'Verdict: {verdict}'])


LEAST_COLUMN = 5  # the column `least`
NONE = Cell(None, '-')
APART, NOT_COMPARABLE = 'apart', 'not comparable'


def _row(name: str, a: Figure | None, b: Figure | None, margin: float) -> list:
    """A row of FIGURES; a metric that one side lacks is apart."""
    row = [name, (a or b or Figure()).unit, _shown(a), _shown(b)]
    if not a or not b:
        return [*row, NONE, NONE, APART]
    off = b.value / a.value - 1
    ratio = tables.shown(off, '+.1%')
    if a.is_bound or b.is_bound:
        return [*row, ratio, NONE, NOT_COMPARABLE]
    (a_low, a_high), (b_low, b_high) = ends(a), ends(b)
    # the larger half of either interval
    halves = a_low / a.value, a_high / a.value, b_low / b.value, b_high / b.value
    least = max(margin, *(abs(half - 1) for half in halves))
    is_same = abs(off) <= margin or a_low <= b.value <= a_high or b_low <= a.value <= b_high
    return [*row, ratio, tables.shown(least, '.1%'), '' if is_same else APART]


def _shown(figure: Figure | None) -> Cell:
    if not figure:
        return NONE
    low, high = figure.low, figure.high
    interval = f' ({amount(low)}-{amount(high)})' if low and high else ''
    return Cell(figure.value, f'{figure.sign}{amount(figure.value, 5)}{interval}')


def _fields(record: dict) -> dict[str, str]:
    """{name: text} of what a result was measured, built and run with."""
    read = evidence_of(record)
    of = measurement(read, read.seconds)
    every = {**(record.get('facts') or {}), **record, **(record.get('case') or {})}
    fields = {name: str(every.get(name) or '') for name in NAMES}
    fields |= of.setting._replace(build='').texts | of.provenance
    fields |= {'verdict': of.verdict, 'peak_gbs': str(peak_of(record)[0] or '')}
    # where the binary lies is no part of how it was built
    return {name: re.sub(r' -o \S+', '', text) for name, text in fields.items() if text}
