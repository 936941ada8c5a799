"""A comparison of two results, as text or as JSON."""

from membw.results.intervals import with_interval
from membw.results.regimes import text


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


def as_text(a, b, found, everything=False):
    """Lines for people: figures, what differs, what only one has, the verdict."""
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


def _figures(found):
    rows = [[f'{name} {unit}', *(_figure(v, span) for v, span in zip((x, y), found.spans[name])),
             _ratio(found, name, ratio)]
            for name, (x, y, ratio, unit) in found.figures.items()]  # fmt: skip
    wide = max([10, *(len(cell) + 2 for row in rows for cell in row[1:3])])
    if rows:
        yield f'{"figures":24}{"A":>{wide}}{"B":>{wide}}   B to A'
    for name, a, b, to in rows:
        yield f'  {name:22}{a:>{wide}}{b:>{wide}} {to}'


def _figure(value, span):
    if value is None:
        return '-'
    return with_interval(value, span) if span else f'{value:.1f}'


def _ratio(found, name, ratio):
    to = f'{ratio:+8.1%}' if ratio is not None else f'{"-":>8}'
    if name in found.apart:
        return f'{to}  apart'
    beyond = ratio is not None and abs(ratio) > found.margin
    return f'{to}  within their intervals' if beyond else to


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
