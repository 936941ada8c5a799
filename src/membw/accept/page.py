"""The outcome of a protocol as a page to print: verdict, the terms, nodes, signatures."""

from collections.abc import Iterable
from typing import Any

from membw.accept.text import COLUMNS, agreed, counts_of, missing_of, not_counted, rounds_of
from membw.printable import plural
from membw.report.model import Page, Section
from membw.results.hostlist import fold
from membw.results.verdict import PASS
from membw.tables import Column, Table

LISTED = 8  # rows of a table: two sheets of A4
TO_FILL = '.' * 30


def page_of(acceptance: dict[str, Any]) -> Page:
    """The page of accept.report.report()."""
    parties, missing = acceptance['protocol']['parties'], missing_of(acceptance)
    others = [n for n in acceptance['nodes'] if n['status'] != PASS and n['node'] not in missing]
    builds = [[str(of['runs']), '; '.join(f'{k} {v}' for k, v in of.items() if k != 'runs')]
              for of in acceptance['builds']]  # fmt: skip
    sections = [
        _section('What was agreed', ('what', 'agreed'), agreed(acceptance), 99),
        _section('Nodes that did not pass at once', [column.name for column in COLUMNS],
                 ([n['node'], n['status'], rounds_of(n)] for n in others)),
        _section('Runs that do not count', ('runs',), zip(not_counted(acceptance))),
        _section('Binaries of the counted runs', ('runs', 'binary'), builds, 2),
        _section('The parties have read this outcome', ('party', 'name', 'date', 'signature'),
                 ([f'{who} ({party})', TO_FILL, TO_FILL[:12], TO_FILL]
                  for party, who in parties.items())),
    ]  # fmt: skip
    if missing:
        sections[1].notes.append(f'MISSING: {fold(missing)}')
    return Page(
        title=f'Acceptance: {acceptance["title"]}',
        subtitle=f'{" and ".join(parties.values())}; written {acceptance["made"]}',
        headline=acceptance['verdict'],
        standing=['; '.join(acceptance['why']), *acceptance['lowest'], *acceptance['risks']],
        verdict='',
        nodes=[],
        counts=f'nodes: {counts_of(acceptance)}',
        picture=None,
        attention=[],
        sections=[section for section in sections if section.tables[0].rows or section.notes],
        provenance=[],
        problems=acceptance['problems'],
        version=acceptance['membw'],
    )


def _section(title: str, names: Iterable[str], rows: Iterable, most: int = LISTED) -> Section:
    every = [list(row) for row in rows]
    table = Table('', tuple(Column(name, name) for name in names), every[:most])
    if every[most:]:
        table.note = f'{plural(len(every) - most, "more row")}: membw accept --json'
    return Section(title.split()[0].lower(), title, tables=[table])
