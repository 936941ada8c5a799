"""The outcome of a protocol as a page to print: verdict, a picture, the terms, signatures."""

from typing import Any

from membw.accept.text import counts_of, not_counted, protocol_lines, rounds_of
from membw.printable import plural
from membw.rank.judge import NodeVerdict
from membw.report import ranking
from membw.report.model import Page, Picture, Section
from membw.results.hostlist import fold
from membw.results.table import HIGHER, Setting
from membw.results.verdict import PASS
from membw.tables import Column, Table

LISTED, BUILDS = 8, 2  # rows of a table: two sheets of A4
TO_FILL = '.' * 30
READ = (
    'One mark per node, the worst first: its figure in the metric in which it is worst, compared '
    'with the limit (dashed). Triangles that point down FAIL.'
)


def page_of(acceptance: dict[str, Any]) -> Page:
    """The page of accept.report.report()."""
    agreed, verdict = acceptance['protocol'], acceptance['verdict']
    return Page(
        title=f'Acceptance: {acceptance["title"]}',
        subtitle=f'{" and ".join(agreed["parties"].values())}; written {acceptance["made"]}',
        headline=verdict,
        standing=['; '.join(acceptance['why']), *acceptance['lowest'], *acceptance['risks']],
        verdict='',
        nodes=[],
        counts=f'nodes: {counts_of(acceptance)}',
        picture=_picture(acceptance),
        attention=[],
        sections=[_agreed(acceptance), _nodes(acceptance), _binaries(acceptance), _sign(agreed)],
        provenance=[],
        problems=acceptance['problems'],
        version=acceptance['membw'],
    )


def _picture(acceptance: dict[str, Any]) -> Picture | None:
    marks = []
    for node in acceptance['nodes']:
        if node['rounds']:
            figures, word = node['rounds'][-1]['figures'], node['status']
            loss = max(
                (1 - figures[line['metric']] / line['limit'])
                * (1 if line['better'] == HIGHER else -1)
                for line in acceptance['contract']
            )
            marks.append(NodeVerdict(node['node'], word, '', Setting(), {}, loss))
    marks.sort(key=lambda mark: -mark.loss)
    title = f'{plural(len(marks), "node")}: percent above or below the limit'
    draw = ranking.draw
    return Picture(title, lambda width: draw(marks, width, title, 0.0), READ) if marks else None


def _agreed(acceptance: dict[str, Any]) -> Section:
    contract = [line['text'] for line in acceptance['contract']]
    lines = protocol_lines(
        acceptance['protocol'], contract, acceptance['protocol_sha256'], acceptance['unsigned']
    )
    rows = [list(line.split(maxsplit=1)) for line in lines]
    columns = Column('what', 'what'), Column('agreed', 'agreed')
    return Section('agreed', 'What was agreed', tables=[Table('', columns, rows)])


def _nodes(acceptance: dict[str, Any]) -> Section:
    """Those that did not pass at once, and why runs do not count."""
    others = [n for n in acceptance['nodes'] if n['status'] != PASS and n['runs']]
    rows = [[node['node'], node['status'], rounds_of(node)] for node in others[:LISTED]]
    columns = Column('node', 'node'), Column('status', 'status'), Column('rounds', 'rounds')
    missing = [node['node'] for node in acceptance['nodes'] if not node['runs']]
    notes = [f'MISSING: {fold(missing)}'] * bool(missing)
    notes += [] if rows else ['No other node than PASS and MISSING ones.']
    rest = len(others) - len(rows)
    table = Table('', columns, rows)
    table.note = f'{plural(rest, "more node")}: membw accept --json' if rest else ''
    lines = list(not_counted(acceptance))
    runs = Table(
        'Runs that do not count', (Column('runs', 'runs'),), [[x] for x in lines[:LISTED]]
    )
    tables = [one for one in (table, runs) if one.rows]
    return Section('nodes', 'Nodes that did not pass at once', notes, tables=tables)


def _binaries(acceptance: dict[str, Any]) -> Section:
    rows = [
        [
            str(of['runs']),
            '; '.join(f'{name} {value}' for name, value in of.items() if name != 'runs'),
        ]
        for of in acceptance['builds'][:BUILDS]
    ]
    columns = Column('runs', 'runs', True), Column('binary', 'binary')
    return Section('binaries', 'Binaries of the counted runs', tables=[Table('', columns, rows)])


def _sign(agreed: dict[str, Any]) -> Section:
    columns = tuple(Column(name, name) for name in ('party', 'name', 'date', 'signature'))
    rows = [[f'{who} ({party})', TO_FILL, TO_FILL[:12], TO_FILL] for party, who in
            agreed['parties'].items()]  # fmt: skip
    return Section('sign', 'The parties have read this outcome', tables=[Table('', columns, rows)])
