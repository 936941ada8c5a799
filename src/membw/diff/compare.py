"""Names what differs between two records: figures first, then build, run and facts."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from membw.results.find_one import Result

# of a record: what differs in any two runs, and what the figures are made of
LEFT_OUT = {'time', 'metrics', 'kernels', 'busy', 'pairs', 'messages', 'links', 'iterations'}
LEFT_OUT |= {'clock_tick_s', 'repetitions', 'placement_before', 'placement_after', 'schema'}
# of its case: where things are stored, and words that the figures repeat
LEFT_OUT_OF_CASE = {'references', 'session', 'record', 'reference_expired', 'known_issues'}
BUILD = ('source_sha256', 'code_sha256', 'compile_line', 'compiler')


class FigureChange(NamedTuple):
    """One metric of A and B; None where one has none. `ratio` is B to A, minus 1."""

    metric: str
    unit: str
    a: dict | None
    b: dict | None
    ratio: float | None
    is_apart: bool


class Difference(NamedTuple):
    """What differs; `fields`: (name, of A, of B), None where one has none."""

    figures: list[FigureChange]
    fields: list[tuple[str, str | None, str | None]]

    @property
    def build(self) -> list[str]:
        """The fields that make two builds different; none where the code is the same."""
        names = [name.removeprefix('case.') for name, _, _ in self.fields]
        is_same_code = 'code_sha256' not in names
        return [] if is_same_code else [name for name in BUILD if name in names]

    @property
    def is_equal(self) -> bool:
        """The same build and verdict, and no figure apart."""
        verdicts = {name for name, _, _ in self.fields} & {'verdict', 'case.verdict'}
        return not (self.build or verdicts or any(figure.is_apart for figure in self.figures))


def compare(a: Result, b: Result, margin: float) -> Difference:
    """Figures differ beyond `margin` (a fraction), unless one lies in the other's interval."""
    of_a, of_b = a.record['metrics'], b.record['metrics']
    names = [*of_a, *(name for name in of_b if name not in of_a)]
    figures = [_figure(name, of_a.get(name), of_b.get(name), margin) for name in names]
    flat_a, flat_b = _flat_record(a.record), _flat_record(b.record)
    known = [*flat_a, *(name for name in flat_b if name not in flat_a)]
    fields = [(name, flat_a.get(name), flat_b.get(name)) for name in known]
    return Difference(figures, [row for row in fields if row[1] != row[2]])


def _figure(name: str, a: dict | None, b: dict | None, margin: float) -> FigureChange:
    unit = (a or b or {}).get('unit', '')
    if not (a and b and a.get('value') and b.get('value') is not None):
        return FigureChange(name, unit, a, b, None, True)
    ratio = b['value'] / a['value'] - 1
    overlaps = _holds(a, b['value']) or _holds(b, a['value'])
    return FigureChange(name, unit, a, b, ratio, abs(ratio) > margin and not overlaps)


def _holds(metric: dict, value: float) -> bool:
    """Whether the interval of a metric holds a value; a lower bound holds all above it."""
    if metric.get('bound') == 'lower':
        return value >= metric['value']
    low, high = metric.get('low'), metric.get('high')
    return low is not None and high is not None and low <= value <= high


def _flat_record(record: dict) -> dict[str, str]:
    case = {k: v for k, v in (record.get('case') or {}).items() if k not in LEFT_OUT_OF_CASE}
    if case.get('compile_line'):  # where the binary lies is no part of how it was built
        case['compile_line'] = re.sub(r' -o \S+', '', case['compile_line'])
    kept = {k: v for k, v in record.items() if k not in LEFT_OUT and k != 'case'}
    return {name: str(v) for name, v in _flat({**kept, 'case': case}) if v not in (None, '', [])}


def _flat(tree: dict, prefix: str = '') -> Iterator[tuple[str, object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value
