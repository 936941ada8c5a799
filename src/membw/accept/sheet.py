"""The sheet of an acceptance, which the parties sign, and its page, which has every node."""

from collections.abc import Iterator
from typing import Any

from membw.accept.report import checksums, not_counted, rounds_of
from membw.accept.signatures import fingerprint
from membw.accept.terms import conditions
from membw.printable import plural
from membw.results.hostlist import fold
from membw.results.verdict import PASS
from membw.sheet import Part, render
from membw.tables import Cell, Column, Table

COLUMNS = Column('node', 'node'), Column('status', ''), Column('figures', 'figures, what is due')
ROWS, LINES = 30, 10  # of a sheet: it has two pages at most


def sheet(acceptance: dict[str, Any], is_whole: bool) -> str:
    """`is_whole`: with every node and every line."""
    content, word = acceptance['protocol'], acceptance['verdict']
    parties = content['parties'].items()
    period = content['period']
    names = {party: f'{party}, {about["name"]}' for party, about in parties}
    subtitle = (
        f'{"; ".join(names.values())}. Measured from {period["from"]} to {period["to"]}; the '
        f'newest record is of {acceptance["newest"] or "no day"}.'
    )
    parts = [
        Part('What this rests on', acceptance['why']),
        Part('Contract, of each node', [line['text'] for line in acceptance['contract']]),
        Part('Rule', acceptance['rule'], is_numbered=True),
        _nodes(acceptance, is_whole),
        Part('Runs that do not count', _at_most(not_counted(acceptance), is_whole)),
        Part('Risks', acceptance['risks']),
        Part('Machine', [f'{conditions(content)}', *_machine(acceptance)]),
        Part('Checksums (sha256)', [*checksums(acceptance)], is_sum=True),
    ]
    signers = [
        (f'{party}, {about["name"]}', _key(acceptance, party, about)) for party, about in parties
    ]
    return render(acceptance['title'], subtitle, word, parts, signers)


def _key(acceptance: dict[str, Any], party: str, about: dict[str, str]) -> str:
    why = acceptance['unsigned'].get(party)
    signed = f'protocol NOT signed: {why}' if why else 'protocol signed with this key'
    return f'{fingerprint(about["key"])}, {signed}' if 'key' in about else signed


def _machine(acceptance: dict[str, Any]) -> Iterator[str]:
    nodes = acceptance['protocol']['nodes']
    if 'cpu' in nodes:
        yield f'{plural(nodes.get("sockets", 1), "socket")} of {nodes["cpu"]}'
    for build in acceptance['builds']:
        words = (
            f'{key} {build[key]}' for key in ('compiler', 'flags', 'binary_sha256') if key in build
        )
        yield f'{plural(build["runs"], "run")} of {", ".join(words)}'


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
