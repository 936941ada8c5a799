"""A comparison of two results as tables."""

from collections.abc import Iterator

from membw.diff.compare import Difference
from membw.results.find_one import Result
from membw.tables import Cell, Column, Table

FIGURES = (
    Column('metric', 'metric'),
    Column('unit', 'unit'),
    Column('a', 'A', True),
    Column('b', 'B', True),
    Column('ratio', 'B to A', True),
    Column('apart', ''),
)
FIELDS = (Column('field', 'differs'), Column('a', 'A'), Column('b', 'B'))


def as_blocks(
    a: Result, b: Result, difference: Difference, margin: float
) -> Iterator[str | Table]:
    """Both titles, the figures, the fields that differ, and the verdict."""
    yield from (f'A  {a.title}', f'B  {b.title}', '')
    rows = [
        [
            f.metric,
            f.unit,
            _shown(f.a),
            _shown(f.b),
            Cell(f.ratio, '-' if f.ratio is None else f'{f.ratio:+.1%}'),
            'apart' * f.is_apart,
        ]
        for f in difference.figures
    ]
    yield Table('', FIGURES, rows)
    if difference.fields:
        yield ''
        yield Table('', FIELDS, [list(row) for row in difference.fields])
    yield from ('', f'Verdict: {_verdict(difference, margin)}')


def _shown(metric: dict | None) -> Cell:
    if not metric or metric.get('value') is None:
        return Cell(None, '-')
    value = metric['value']
    return Cell(value, f'{"≥ " * (metric.get("bound") == "lower")}{value:.5g}')


def _verdict(difference: Difference, margin: float) -> str:
    if difference.is_equal:
        return f'SAME: the same build, no figure apart by more than {margin:.1%}'
    apart = [figure.metric for figure in difference.figures if figure.is_apart]
    parts = [f'the build ({", ".join(difference.build)})'] * bool(difference.build)
    parts += [f'figures ({", ".join(apart)})'] * bool(apart)
    return f'DIFFERENT: {", ".join(parts) or "the verdicts"}'
