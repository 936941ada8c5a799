"""An acceptance as text: the verdict, then its reasons."""

from collections.abc import Iterator
from typing import Any

from membw.accept.protocol import Protocol
from membw.accept.risk import in_figures, sentences
from membw.printable import plural, printable
from membw.results.hostlist import fold
from membw.statistics.peers import LEAST_DEVIATION
from membw.tables import Cell, Column, Table

COLUMNS = Column('node', 'node'), Column('status', 'status'), Column('rounds', 'rounds')
Block = Table | str


def blocks(acceptance: dict[str, Any], passed: int) -> Iterator[Block]:
    """Lines and a table; no more than `passed` of the nodes that passed."""
    yield f'Verdict: {acceptance["verdict"]}: {"; ".join(acceptance["why"])}'
    yield from (f'  lowest: {line}' for line in acceptance['lowest'])
    yield from (f'  risk: {line}' for line in acceptance['risks'])
    if acceptance['to_do']:
        yield from ('', 'still to be measured', *(f'  {line}' for line in acceptance['to_do']))
    yield from ('', f'acceptance: {acceptance["title"]}')
    contract = [line['text'] for line in acceptance['contract']]
    yield from protocol_lines(
        acceptance['protocol'], contract, acceptance['protocol_sha256'], acceptance['unsigned']
    )
    yield ''
    yield from _nodes(acceptance, passed)
    if lines := list(not_counted(acceptance)):
        yield from ('', 'runs that do not count', *(f'  {line}' for line in lines))
    yield from ('', 'binaries of the counted runs')
    for build in acceptance['builds']:
        yield f'  {plural(build["runs"], "run")}'
        yield from (f'    {k:14} {printable(v)}' for k, v in build.items() if k != 'runs')


def protocol_lines(
    content: dict[str, Any], contract: list[str], checksum: str, unsigned: list[str]
) -> Iterator[str]:
    """What the parties agreed, a line each."""
    runs, nodes, retest = content['runs'], content['nodes'], content['retest']['repetitions']
    of = f' of {nodes["of"]}' if 'of' in nodes else ''
    yield f'  protocol   sha256 {checksum}'
    for s in content['signatures']:
        yield f'  signed     by {s["name"]} ({s["party"]}) on {s["date"]}'
    if unsigned:
        yield f'  signed     NOT by {", ".join(unsigned)}'
    yield f'  period     {content["period"]["from"]} to {content["period"]["to"]}'
    yield f'  contract   {", ".join(contract)}, of each node'
    words = [runs['test'], runs['system'], runs['preset'], f'pinning {runs.get("pinning", "any")}']
    stated = [f'{key} {value}' for key, value in runs.get('record', {}).items()]
    yield f'  runs       {", ".join([*words, *stated])}'
    yield (
        f'  rule       {nodes["count"]}{of} nodes, the {runs["statistic"]} of '
        f'{plural(runs["repetitions"], "valid run")}; {content["rule"]["allowed_failures"]} may '
        'fail'
    )
    if 'lost' in runs:
        yield f'  lost       at most {runs["lost"]} INVALID or disturbed runs of a node'
    yield f'  died       at most {runs.get("deaths", 0)} launches of a node'
    for node, day in content.get('replaced', {}).items():
        yield f'  replaced   {node} on {day}: runs before do not count'
    yield f'  retest     {plural(retest, "run") + " of a node that failed" if retest else "none"}'


def counts_of(acceptance: dict[str, Any]) -> str:
    """'125 PASS, 1 FAIL'."""
    return ', '.join(f'{n} {s}' for s, n in acceptance['counts'].items() if n)


def _nodes(acceptance: dict[str, Any], limit: int) -> Iterator[Block]:
    counts = counts_of(acceptance)
    passed = [n['node'] for n in acceptance['nodes'] if n['status'] == 'PASS']
    hidden = set(passed[limit:])
    rows = [
        [n['node'], n['status'], Cell(n['rounds'], rounds_of(n))]
        for n in acceptance['nodes']
        if n['node'] not in hidden and (n['status'] != 'MISSING' or n['runs'])
    ]
    yield Table(f'nodes: {counts}', COLUMNS, rows) if rows else f'nodes: {counts}'
    if hidden:
        yield f'  ... and {plural(len(hidden), "node")} PASS: --json has them all'
    missing = [
        n['node'] for n in acceptance['nodes'] if n['status'] == 'MISSING' and not n['runs']
    ]
    if missing:
        yield f'  MISSING: {fold(missing)}'
    if acceptance['other_nodes']:
        yield f'  not in the protocol: {fold(acceptance["other_nodes"])}'


def rounds_of(node: dict[str, Any]) -> str:
    parts = []
    for r in node['rounds']:
        figures = ', '.join(f'{name} {value:.1f}' for name, value in r['figures'].items())
        missed = f', {" and ".join(r["missed"])} missing the contract' if r['missed'] else ''
        parts.append(f'{r["name"]}: {figures}{missed}')
    if node['lost']:
        parts.append(f'{plural(node["lost"], "run")} without a figure that counts')
    if node['needs']:
        parts.append(f'{plural(node["needs"], "valid run")} needed ({node["needs_for"]})')
    return '; '.join([*parts, *filter(None, [node['why']])])


def not_counted(acceptance: dict[str, Any]) -> Iterator[str]:
    """A line for each reason why runs do not count."""
    reasons: dict[str, list[str]] = {}
    for node in acceptance['nodes']:
        for run in node['runs']:
            if run['counted'] not in ('first', 'retest'):
                reasons.setdefault(run['counted'], []).append(node['node'])
    for reason, nodes in reasons.items():
        yield f'{plural(len(nodes), "run")} of {fold(set(nodes))}: {printable(reason)}'


def plan_lines(protocol: Protocol) -> Iterator[str]:
    """What a party reads before it signs."""
    contract = [line.text for line in protocol.contract.values()]
    yield f'protocol: {protocol.content["title"]}'
    yield from protocol_lines(protocol.content, contract, protocol.checksum, protocol.unsigned)
    yield from (f'  risk       {line}' for line in sentences(protocol, nights=0))
    values = {name: of.value for name, of in protocol.contract.items() if of.value is not None}
    yield from (f'  risk       {line}' for line in in_figures(protocol, values, LEAST_DEVIATION))
    yield ''
    yield 'to sign, each party adds to signatures:'
    yield '  - {party: PARTY, name: NAME, date: DATE,'
    yield f'     protocol_sha256: {protocol.checksum}}}'
