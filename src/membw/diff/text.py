"""A comparison of two results, as text or as JSON."""


def as_json(a, b, found):
    names = ('a', 'b', 'apart', 'unit')
    return {
        'a': a.title,
        'b': b.title,
        'verdict': 'SAME' if found.equal else 'DIFFERENT',
        'margin': found.margin,
        'figures': {n: dict(zip(names, row, strict=True)) for n, row in found.figures.items()},
        'figures_apart': found.apart,
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
    if found.figures:
        yield f'{"figures":24}{"A":>10}{"B":>10}   B to A'
    for name, (x, y, ratio, unit) in found.figures.items():
        cells = [f'{v:10.1f}' if v is not None else f'{"-":>10}' for v in (x, y)]
        far = '  apart' if name in found.apart else ''
        to = f'{ratio:+8.1%}' if ratio is not None else f'{"-":>8}'
        yield f'  {f"{name} {unit}":22}{"".join(cells)} {to}{far}'


def verdict(found):
    if found.equal:
        return f'SAME build, no figure apart by more than {found.margin:.1%}'
    parts = []
    if found.build_differs == ['unknown']:
        parts.append('nothing says that the builds are the same')
    elif found.build_differs:
        parts.append(f'the build differs ({", ".join(found.build_differs)})')
    if found.apart:
        parts.append(f'apart by more than {found.margin:.1%}: {", ".join(found.apart)}')
    if 'verdict' in found.different.get('validity', {}):
        parts.append('{} and {}'.format(*found.different['validity']['verdict']))
    return f'DIFFERENT: {"; ".join(parts) or "validation"}'
