"""`membw published`: what others measured."""

import argparse
import json
import re
from pathlib import Path

from membw import tables
from membw.errors import MembwError, did_you_mean
from membw.expected import published
from membw.expected.consistent import disagreements
from membw.printable import printable
from membw.tables import Column, Table

COLUMNS = Column('key', 'key'), Column('value', 'value')
EPILOG = """\
GB/s: Triad, of stores 'none' what is read alone. Stores: an ordinary one reads the line that it
writes, a non-temporal one does not; claimed: ordinary ones on a CPU that does not read what is
wholly overwritten. A range is of one kind of stores, of one CPU and its neighbours, and of three
machines. In none: `warning`, `floor`, `few` (some of the cores, or fewer than two per channel),
`cores?` (how many is not said).

A record of `membw run`, measured as root, may become a figure: its row is made from it, and each
test run checks it again. example: membw published add results/records/RECORD.json

exit status: 0 listed or added, 1 refused, 2 no such figure or record
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = 'all that is known of this one; the list of this CPU or machine'
    add('figure', nargs='?', metavar='ID | CPU | add', help=about)
    add('record', nargs='?', metavar='RECORD', help='add: the record that becomes a figure')
    tables.add_argument(parser)


def run(args: argparse.Namespace) -> int:
    if args.figure == 'add':
        return add_record(args.record)
    if args.record:
        raise MembwError(f"unexpected argument '{args.record}'", 'membw published add RECORD')
    every = {row['id']: row for row in published.figures()}
    word, names = (args.figure or '').lower(), ('id', 'machine', 'cpu', 'family')
    of = [row for row in every.values() if any(word in row.get(n, '').lower() for n in names)]
    if row := every.get(args.figure):
        pairs = {**row, 'source': published.source(row)}.items()
        shown = Table('', COLUMNS, [(key, str(value)) for key, value in pairs])
    elif of:
        shown = published.table('Published', of)
    else:
        hint = did_you_mean(args.figure, every, "'membw published' lists them")
        raise MembwError(f"no published figure '{args.figure}'", hint)
    print(tables.as_text([shown], args.json))
    return 0


def add_record(path: str | None) -> int:
    """Writes the figure of a record, or says what is against it."""
    from membw.results.record import evidence
    from membw.strict import Damaged

    if not path:
        raise MembwError('no record given', 'membw published add RECORD')
    try:
        record = published.kept(evidence(Path(path).read_bytes()))
        against = [*published.refusals(record), *disagreements(record)]
        row = {} if against else published.row_of('', record)
    except (Damaged, AttributeError, KeyError, TypeError) as err:
        raise MembwError(
            f"'{path}': not one record: {err}", 'give one of results/records'
        ) from err
    if row:
        row['id'] = re.sub(r'\W+', '-', f'{row["machine"]}-{record["build"]["preset"]}'.lower())
        against = [f'there is such a figure: {one}' for one in published.same(row)]
    for why in against:
        print(f'refused: {printable(why)}')
    if against:
        return 1
    file = published.folder() / f'{row["id"]}.json'
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(record) + '\n')
    share = published.shares([row])[0]
    print(f'{row["id"]}: Triad {row["triad"]:.1f} GB/s, {share:.0f} % of the peak')
    print(f'consistent, and written: {file}')
    print('next: a merge request of this file (docs/published.md)')
    return 0
