"""An acceptance in parts: as text, as the sheet that the parties sign, as a page of every node."""

from collections.abc import Iterator
from typing import Any

from membw.accept.report import not_counted, rounds_of
from membw.accept.signatures import fingerprint
from membw.accept.terms import conditions
from membw.printable import plural
from membw.results.hostlist import fold
from membw.sheet import Part, render
from membw.tables import Cell, Column, Table
from membw.words import PASS

COLUMNS = Column('node', 'node'), Column('status', 'status'), Column('figures', 'figures')
ROWS, LINES = 28, 10  # of a sheet: it has two pages at most
BUILD = 'compiler', 'flags', 'binary_sha256'
Block = Table | str


def blocks(acceptance: dict[str, Any]) -> Iterator[Block]:
    """For the terminal: the verdict, what is still to be measured, the parts."""
    yield f'Verdict: {acceptance["verdict"]}: {"; ".join(acceptance["why"])}'
    if acceptance['to_do']:
        yield from ('', 'still to be measured', *(f'  {line}' for line in acceptance['to_do']))
    for part in _parts(acceptance, False):
        yield from ('', part.title, *(f'  {line}' for line in part.lines))
        if part.table:
            yield part.table


def sheet(acceptance: dict[str, Any], is_whole: bool) -> str:
    """`is_whole`: with every node and every line."""
    parties, period = acceptance['protocol']['parties'].items(), acceptance['protocol']['period']
    names = {party: f'{party}, {about["name"]}' for party, about in parties}
    subtitle = (
        f'{"; ".join(names.values())}. Measured from {period["from"]} to {period["to"]}; the '
        f'newest record is of {acceptance["newest"] or "no day"}.'
    )
    parts = [Part('Verdict', acceptance['why']), *_parts(acceptance, is_whole)]
    signers = [(names[party], _key(acceptance, party, about)) for party, about in parties]
    return render(acceptance['title'], subtitle, acceptance['verdict'], parts, signers)


def _parts(acceptance: dict[str, Any], is_whole: bool) -> list[Part]:
    every = [
        _nodes(acceptance, is_whole),
        Part('Runs that do not count', _at_most(not_counted(acceptance), is_whole)),
        Part('Contract, of each node', [line['text'] for line in acceptance['contract']]),
        Part('Rule', acceptance['rule'], is_numbered=True),
        Part('Risks', acceptance['risks']),
        Part('Machine', [*_machine(acceptance)]),
        Part('Checksums (sha256)', [*_checksums(acceptance)], is_sum=True),
    ]
    return [part for part in every if part.lines or part.table]


def _checksums(acceptance: dict[str, Any]) -> Iterator[str]:
    yield f'protocol {acceptance["protocol_sha256"]}'
    yield f'results  {acceptance["results_sha256"]}, of {plural(acceptance["records"], "record")}'
    if open_ := acceptance['records_without_checksum']:
        yield f'{plural(open_, "record")} without a checksum of its own: damage is not seen'
    lacking = ', '.join(acceptance['not_recorded']) or 'none'
    yield f'compared: {", ".join(acceptance["compared"])}; not in all records: {lacking}'
    yield 'Serial numbers are not read, and a record is no proof against who wants to forge it.'


def _key(acceptance: dict[str, Any], party: str, about: dict[str, str]) -> str:
    why = acceptance['unsigned'].get(party)
    signed = f'protocol NOT signed: {why}' if why else 'protocol signed with this key'
    return f'{fingerprint(about["key"])}, {signed}' if 'key' in about else signed


def _machine(acceptance: dict[str, Any]) -> Iterator[str]:
    nodes = acceptance['protocol']['nodes']
    yield conditions(acceptance['protocol']['runs'])
    if 'cpu' in nodes:
        yield f'{plural(nodes.get("sockets", 1), "socket")} of {nodes["cpu"]}'
    for build in acceptance['builds']:
        words = ', '.join(f'{key} {build[key]}' for key in BUILD if key in build)
        yield f'{plural(build["runs"], "run")} of {words}'


def _nodes(acceptance: dict[str, Any], is_whole: bool) -> Part:
    """The nodes that are not PASS first; of many that are, one line."""
    counts = ', '.join(f'{n} {word}' for word, n in acceptance['counts'].items() if n)
    nodes = sorted(acceptance['nodes'], key=lambda node: node['status'] == PASS)
    is_short = len(nodes) > ROWS and not is_whole
    shown = [n for n in nodes if n['status'] != PASS][:ROWS] if is_short else nodes
    lines = [*acceptance['lowest']]
    if hidden := [n['node'] for n in nodes if n not in shown]:
        words = {n['status'] for n in nodes if n not in shown}
        lines.append(f'not in this table, {" and ".join(sorted(words))}: {fold(hidden)}')
    if acceptance['other_nodes']:
        lines.append(f'not in the protocol: {fold(acceptance["other_nodes"])}')
    rows = [[n['node'], n['status'], Cell(None, rounds_of(acceptance, n))] for n in shown]
    return Part(f'Nodes: {counts}', lines, Table('', COLUMNS, rows))


def _at_most(lines: list[str], is_whole: bool) -> list[str]:
    if is_whole or len(lines) <= LINES:
        return lines
    return [*lines[:LINES], f'and {len(lines) - LINES} lines more: membw accept --page']
