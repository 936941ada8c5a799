"""`membw published`: what others measured, and this machine's newest Triad."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from membw import tables
from membw.checkout import root
from membw.errors import MembwError, did_you_mean
from membw.possible import published, sentence
from membw.site.cpu_peak import Facts, facts_of
from membw.tables import Cell, Column, Table

COLUMNS = (
    *(Column(name, name) for name in ('id', 'machine', 'stores', 'scope')),
    Column('triad', 'Triad', right=True),
    Column('share', '% peak', right=True),
    Column('arrays', 'arrays', right=True),
    Column('use', 'use'),
)
EPILOG = """\
Stores: an ordinary store reads the line that it writes, a non-temporal one does not; claimed:
ordinary ones on a CPU that does not read what is wholly overwritten. Arrays: the size of one, in
last-level caches; '-': not said. A range is of one kind of stores, of one CPU and its neighbours,
and of three machines; figures of use `warning` or `floor` are in none.

exit status: 0 listed, 2 no such figure
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('figure', nargs='?', metavar='ID', help='all that is known of this one')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    every = {row['id']: row for row in facts_of('published')['figures']}
    if args.figure is None:
        listed = Table('Published, GB/s', COLUMNS, map(cells, every.values()))
        print(tables.as_text([*here(), listed], args.json))
        return 0
    if args.figure not in every:
        raise MembwError(f"no published figure '{args.figure}'", did_you_mean(args.figure, every))
    row = every[args.figure]
    source = facts_of('published')['sources'][row['source']]
    columns = (Column('key', 'key'), Column('value', 'value'))
    rows = [(key, str(value)) for key, value in {**row, 'source': source}.items()]
    print(tables.as_text([Table('', columns, rows)], args.json))
    return 0


def cells(row: Facts) -> tuple:
    triad, size = row.get('triad'), published.size(row)
    shares = published.shares([row]) if triad and 'peak' in row else []
    return (
        row['id'],
        Cell(row['machine'], row['machine'][:11]),
        row['stores'],
        row['scope'],
        Cell(triad, ' to '.join(f'{v:.4g}' for v in published.ends(triad)) if triad else '-'),
        Cell(shares or None, ' to '.join(f'{v:.0f}' for v in shares) or '-'),
        Cell(size or None, f'{size:.1f}' if size else '-'),
        row['use'],
    )


def here() -> Iterator[str]:
    """The sentence of the newest valid Triad of the results of this checkout."""
    from membw.results.table import read_table

    folder = Path(root(), 'results', 'records')
    results = read_table([str(folder)] if folder.is_dir() else [])
    triads = [f for f in results.figures if f.metric == 'triad' and f.verdict == 'VALID']
    if not triads:
        return
    newest = max(triads, key=lambda figure: figure.time)
    record = results.evidence(newest)
    stores = published.stores_of((record.get('case') or {}).get('stores') or '')
    yield f'{newest.node}: Triad {newest.value:.1f} GB/s, {newest.preset or "stream"}'
    yield from sentence.lines_of(record, newest.value, newest.is_bound, stores)
    yield ''
