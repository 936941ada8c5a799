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
    yield [
        'nodes',
        'shapes',
        'with a wrong FAIL',
        'of fleets, at most',
        'found at -4 %',
        'at -5 %',
    ]
    every = rows('memory')
    for nodes in dict.fromkeys(row['nodes'] for row in every):
        of = [row for row in every if row['nodes'] == nodes]
        wrong = [float(row['wrong_pct']) for row in of]
        found = [ends([float(row[f'found_at_{loss}_pct']) for row in of]) for loss in (4, 5)]
        bad = len(of) - wrong.count(0)
        yield [f'{int(nodes):,}', len(of), bad, f'{max(wrong):g}', *found]


def promise() -> Iterator[list]:
    """A line per noise, over the sizes of fleets."""
    yield ['noise', 'FAIL at -3 %', 'at -5 %', 'by nights alone', 'X, %',
           'lost X, and is PASS (before)', 'healthy, and is PASS (before)']  # fmt: skip
    every = rows('promise')
    for noise in dict.fromkeys(row['noise'] for row in every):
        cells = []
        for column in PROMISE:
            of = [float(r[column]) for r in every if r['noise'] == noise and r[column]]
            cells.append(ends(of) if of else '-')
        *of_now, lost, lost_before, well, well_before = cells
        yield [noise, *of_now, f'{lost} ({lost_before})', f'{well} ({well_before})']


PROMISE = (
    'found_3_pct found_5_pct nights_found_5_pct printed_pct '
    'printed_passes_pct before_printed_passes_pct healthy_pass_pct before_healthy_pass_pct'
).split()


def mornings() -> Iterator[list]:
    """What is said on the first morning, by share of the fleet and noise."""
    yield ['low from one night on', 'noise', 'on the first morning at -3 %', 'at -5 %', 'at -15 %',
           'nine of ten of -3 % by the morning']  # fmt: skip
    every = rows('mornings')
    for low, noise in dict.fromkeys((row['low'], row['sd_pct']) for row in every):
        of = {row['loss_pct']: row for row in every if (row['low'], row['sd_pct']) == (low, noise)}
        first = [of[loss]['first_morning_pct'] for loss in ('3', '5', '15')]
        yield [low, f'{noise} %', *first, of['3']['nine_of_ten_by_morning']]


def calm() -> Iterator[list]:
    """Normal noise by its size, shapes and memory between them."""
    yield ['noise of clean fleets, 40 nights', 'mornings with a TONIGHT', 'fleets with a STEP']
    every = rows('calm')
    groups: dict[str, list[dict]] = {}
    for row in every:
        name = f'normal, {row["sd_pct"]} %' if row['noise'] == 'normal' else 'shapes, 1 %'
        name = 'normal, 1 %, with a memory' if 'correlate' in row['noise'] else name
        groups.setdefault(name, []).append(row)
    for name, of in groups.items():
        name = f'{len(of)} {name}' if name.startswith('shapes') else name
        columns = ('mornings_pct', 'lasting_pct')
        yield [name, *(ends([float(row[c]) for row in of]) for c in columns)]


def causes() -> Iterator[list]:
    every = rows('causes')
    yield list(every[0])
    for row in every:
        if row['noise'] == '1 %':
            yield list(row.values())


TABLES = {f.__name__: f for f in (memory, promise, mornings, calm, causes)}


def markdown(name: str) -> str:
    head, *body = TABLES[name]()
    lines = [f'| {" | ".join(map(str, cells))} |\n' for cells in (head, *body)]
    return ''.join([lines[0], f'|{"---|" * len(head)}\n', *lines[1:]])


def drawn(text: str) -> str:
    """A page with its tables made anew."""
    return MARK.sub(lambda match: f'{match[1]}{markdown(match[2])}\n', text)


if __name__ == '__main__':
    for page in PAGES:
        page.write_text(drawn(page.read_text()))
