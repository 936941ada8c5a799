"""A comparison of two results, as text or as JSON."""

from membw.results.intervals import with_interval
from membw.results.regimes import text
from membw.tables import Cell, Column, Table


def as_json(a, b, found):
    names = ('a', 'b', 'apart', 'unit', 'interval_a', 'interval_b')
    return {
        'a': a.title,
        'b': b.title,
        'verdict': 'SAME' if found.equal else 'DIFFERENT',
        'margin': found.margin,
        'figures': {
            n: dict(zip(names, [*row, *found.spans[n]], strict=True))
            for n, row in found.figures.items()
        },
        'figures_apart': found.apart,
        'nearest_cores_ns': dict(zip('ab', found.nearest, strict=True)),
        'two_states': found.two_states,
        'same_build': not found.build_differs,
        'different': {
            group: {n: {'a': x, 'b': y} for n, (x, y) in rows.items()}
            for group, rows in found.different.items()
        },
        'only_a': found.only_a,
        'only_b': found.only_b,
        'same': found.same,
    }


def as_blocks(a, b, found, everything=False):
    """A table and lines: figures, what differs, what only one has, the verdict."""
    yield from (f'A  {a.title}', f'B  {b.title}', '')
    yield from _figures(found)
    if found.two_states:
        sides = [text(ns) if ns else 'not known' for ns in found.nearest]
        yield 'two states of the machine: the nearest cores are apart by'
        yield from (f'    {side}  {apart}' for side, apart in zip('AB', sides, strict=True))
    for group, rows in found.different.items():
        yield f'different: {group}'
        for name, (x, y) in rows.items():
            yield from (f'  {name}', f'    A  {x}', f'    B  {y}')
    for side, groups in (('A', found.only_a), ('B', found.only_b)):
        for group, rows in groups.items():
            yield f'only in {side}: {group}'
            yield from (f'  {name}  {value}' for name, value in rows.items())
    for group, rows in found.same.items():
        yield f'same: {group}: {", ".join(rows)}' if not everything else f'same: {group}'
        yield from (f'  {name}  {value}' for name, value in rows.items() if everything)
    yield from ('', f'Verdict: {verdict(found)}')


COLUMNS = (Column('figure', 'figures'), Column('unit', ''), Column('a', 'A', True),
           Column('b', 'B', True), Column('ratio', 'B to A', True),
           Column('apart', ''))  # fmt: skip


def _figures(found):
    rows = [
        [name, unit, *(Cell(v, _figure(v, span)) for v, span in zip((x, y), found.spans[name])),
         Cell(ratio, f'{ratio:+.1%}' if ratio is not None else '-'), _apart(found, name, ratio)]
        for name, (x, y, ratio, unit) in found.figures.items()
    ]  # fmt: skip
    return [Table('', COLUMNS, rows, indent='')] if rows else []


def _figure(value, span):
    if value is None:
        return '-'
    return with_interval(value, span) if span else f'{value:.1f}'


def _apart(found, name, ratio):
    if name in found.apart:
        return 'apart'
    beyond = ratio is not None and abs(ratio) > found.margin
    return 'within their intervals' if beyond else ''


def verdict(found):
    if found.equal:
        within = ' and their intervals' if any(map(found.agree, found.figures)) else ''
        return f'SAME build, no figure apart by more than {found.margin:.1%}{within}'
    parts = []
    if found.build_differs == ['unknown']:
        parts.append('nothing says that the builds are the same')
    elif found.build_differs:
        parts.append(f'the build differs ({", ".join(found.build_differs)})')
    if found.apart:
        parts.append(f'apart by more than {found.margin:.1%}: {", ".join(found.apart)}')
        parts[-1] += ', in two states of the machine' if found.two_states else ''
    if 'verdict' in found.different.get('validity', {}):
        parts.append('{} and {}'.format(*found.different['validity']['verdict']))
    return f'DIFFERENT: {"; ".join(parts) or "validation"}'
