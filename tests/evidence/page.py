"""Draws the tables of docs/judging.md and docs/evidence.md from the data beside this file.

python tests/evidence/page.py     after a generator has written its CSV
"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PAGES = [HERE.parents[1] / 'docs' / name for name in ('judging.md', 'evidence.md')]
MARK = re.compile(r'(<!-- tests/evidence/(\w+)\.csv -->\n\n)(?:\|.*\n)*\n?')


def rows(name: str) -> list[dict]:
    with (HERE / f'{name}.csv').open() as file:
        return list(csv.DictReader(file))


def ends(values: list[float]) -> str:
    """'0', or '62 to 100'."""
    low, high = min(values), max(values)
    return f'{low:g}' if low == high else f'{low:g} to {high:g}'


def memory() -> Iterator[list]:
    """A line per size of fleet, over all shapes of noise."""
    yield ['nodes', 'fleets with a wrong FAIL, at most', 'found at -4 %', 'at -5 %']
    every = rows('memory')
    for nodes in dict.fromkeys(row['nodes'] for row in every):
        of = [row for row in every if row['nodes'] == nodes]
        wrong = max(float(row['wrong_pct']) for row in of)
        found = [ends([float(row[f'found_at_{loss}_pct']) for row in of]) for loss in (4, 5)]
        bad = sum(float(row['wrong_pct']) > 0 for row in of)
        yield [f'{int(nodes):,}', f'{wrong:g} ({bad} of {len(of)} shapes)', *found]


def promise() -> Iterator[list]:
    """A line per noise, over the sizes of fleets, by the rules as they are."""
    yield ['noise', 'X', 'lost X, and is PASS', 'healthy, and is PASS']
    every = [row for row in rows('promise') if row['rules'] == 'now']
    for noise in dict.fromkeys(row['noise'] for row in every):
        of = [row for row in every if row['noise'] == noise]
        yield [noise, *(ends([float(row[c]) for row in of if row[c]]) for c in PROMISE)]


PROMISE = 'printed_pct printed_passes_pct healthy_pass_pct'.split()


def mornings() -> Iterator[list]:
    """What is said on the first morning, by share of the fleet, over the sizes of noise."""
    columns = [
        ('3', 'first_morning_pct'),
        ('5', 'first_morning_pct'),
        ('3', 'nine_of_ten_by_morning'),
    ]
    yield ['low from one night on', 'on the first morning at -3 %', 'at -5 %',
           'nine of ten of -3 % by the morning']  # fmt: skip
    every = rows('mornings')
    for low in dict.fromkeys(row['low'] for row in every):
        of = [[float(r[name]) for r in every if (r['low'], r['loss_pct']) == (low, loss)]
              for loss, name in columns]  # fmt: skip
        yield [low, *map(ends, of)]


def calm() -> Iterator[list]:
    """Normal noise by its size, shapes and memory between them."""
    yield ['noise of clean fleets', 'mornings with a TONIGHT', 'fleets with a STEP in 40 nights']
    every = rows('calm')
    groups: dict[str, list[dict]] = {}
    for row in every:
        name = 'normal, to 2 %' if row['noise'] == 'normal' else 'shapes, 1 %'
        name = 'with a memory, 1 %' if 'correlate' in row['noise'] else name
        groups.setdefault(name, []).append(row)
    for name, of in groups.items():
        name = f'{len(of)} {name}' if name.startswith('shapes') else name
        columns = ('mornings_pct', 'lasting_pct')
        yield [name, *(ends([float(row[c]) for row in of]) for c in columns)]


TABLES = {f.__name__: f for f in (memory, promise, mornings, calm)}


def markdown(name: str) -> str:
    head, *body = TABLES[name]()
    assert all(len(cells) == len(head) for cells in body), name
    lines = [f'| {" | ".join(map(str, cells))} |\n' for cells in (head, *body)]
    return ''.join([lines[0], f'|{"---|" * len(head)}\n', *lines[1:]])


def drawn(text: str) -> str:
    """A page with its tables made anew."""
    return MARK.sub(lambda match: f'{match[1]}{markdown(match[2])}\n', text)


if __name__ == '__main__':
    for page in PAGES:
        page.write_text(drawn(page.read_text()))
