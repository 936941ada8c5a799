"""A comparison of two results, as text or as JSON."""

from membw.results.intervals import with_interval
from membw.results.regimes import text
from membw.tables import Cell, Column, Table


def as_json(a, b, difference):
    names = ('a', 'b', 'apart', 'unit', 'interval_a', 'interval_b')
    return {
        'a': a.title,
        'b': b.title,
        'verdict': 'SAME' if difference.equal else 'DIFFERENT',
        'margin': difference.margin,
        'figures': {
            n: dict(zip(names, [*row, *difference.spans[n]], strict=True))
            for n, row in difference.figures.items()
        },
        'figures_apart': difference.apart,
        'nearest_cores_ns': dict(zip('ab', difference.nearest, strict=True)),
        'two_states': difference.two_states,
        'same_build': not difference.build_differs,
        'different': {
            group: {n: {'a': x, 'b': y} for n, (x, y) in rows.items()}
            for group, rows in difference.different.items()
        },
        'only_a': difference.only_a,
        'only_b': difference.only_b,
        'same': difference.same,
    }


def as_blocks(a, b, difference):
    """A table and lines: figures, what differs, what only one has, the verdict."""
    yield from (f'A  {a.title}', f'B  {b.title}', '')
    yield from _figures(difference)
    if difference.two_states:
        sides = [text(ns) if ns else 'not known' for ns in difference.nearest]
        yield 'two states of the machine: the nearest cores are apart by'
        yield from (f'    {side}  {apart}' for side, apart in zip('AB', sides, strict=True))
    for group, rows in difference.different.items():
        yield f'different: {group}'
        for name, (x, y) in rows.items():
            yield from (f'  {name}', f'    A  {x}', f'    B  {y}')
    for side, groups in (('A', difference.only_a), ('B', difference.only_b)):
        for group, rows in groups.items():
            yield f'only in {side}: {group}'
            yield from (f'  {name}  {value}' for name, value in rows.items())
    yield from (f'same: {group}: {", ".join(rows)}' for group, rows in difference.same.items())
    yield from ('', f'Verdict: {verdict(difference)}')


COLUMNS = (Column('figure', 'figures'), Column('unit', ''), Column('a', 'A', True),
           Column('b', 'B', True), Column('ratio', 'B to A', True),
           Column('apart', ''))  # fmt: skip


def _figures(difference):
    rows = [
        [name, unit,
         *(Cell(v, _figure(v, span)) for v, span in zip((x, y), difference.spans[name])),
         Cell(ratio, f'{ratio:+.1%}' if ratio is not None else '-'),
         _apart(difference, name, ratio)]
        for name, (x, y, ratio, unit) in difference.figures.items()
    ]  # fmt: skip
    return [Table('', COLUMNS, rows, indent='')] if rows else []


def _figure(value, span):
    if value is None:
        return '-'
    return with_interval(value, span) if span else f'{value:.1f}'


def _apart(difference, name, ratio):
    if name in difference.apart:
        return 'apart'
    beyond = ratio is not None and abs(ratio) > difference.margin
    return 'within their intervals' if beyond else ''


def verdict(difference):
    if difference.equal:
        within = ' and their intervals' if any(map(difference.agree, difference.figures)) else ''
        return f'SAME build, no figure apart by more than {difference.margin:.1%}{within}'
    parts = []
    if difference.build_differs == ['unknown']:
        parts.append('nothing says that the builds are the same')
    elif difference.build_differs:
        parts.append(f'the build differs ({", ".join(difference.build_differs)})')
    if difference.apart:
        parts.append(f'apart by more than {difference.margin:.1%}: {", ".join(difference.apart)}')
        parts[-1] += ', in two states of the machine' if difference.two_states else ''
    if 'verdict' in difference.different.get('validity', {}):
        parts.append('{} and {}'.format(*difference.different['validity']['verdict']))
    return f'DIFFERENT: {"; ".join(parts) or "validation"}'
