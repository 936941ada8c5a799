"""An acceptance as text: the verdict, then its reasons."""

from collections.abc import Iterator
from typing import Any

from membw.printable import plural, printable
from membw.results.hostlist import fold
from membw.results.verdict import MISSING, PASS
from membw.tables import Cell, Column, Table

COLUMNS = Column('node', 'node'), Column('status', 'status'), Column('rounds', 'rounds')
PASSED_SHOWN = 32  # nodes; --json has all
Block = Table | str


def blocks(acceptance: dict[str, Any]) -> Iterator[Block]:
    """Lines and a table."""
    yield f'Verdict: {acceptance["verdict"]}: {"; ".join(acceptance["why"])}'
    yield from (f'  lowest: {line}' for line in acceptance['lowest'])
    yield from (f'  risk: {line}' for line in acceptance['risks'])
    if acceptance['to_do']:
        yield from ('', 'still to be measured', *(f'  {line}' for line in acceptance['to_do']))
    yield from ('', f'acceptance: {acceptance["title"]}')
    contract = [line['text'] for line in acceptance['contract']]
    keys = ('protocol', 'protocol_sha256', 'unsigned')
    content, checksum, unsigned = (acceptance[key] for key in keys)
    lines = [*terms(content, contract, checksum, unsigned)]
    if acceptance['compared']:
        lacking = ', '.join(acceptance['not_recorded']) or 'none'
        facts = f'{", ".join(acceptance["compared"])}; not in all records: {lacking}'
        lines.append(('machine', f'of each node compared: {facts}; serial numbers are not read'))
    yield from (f'  {name:10} {text}' for name, text in lines)
    yield ''
    yield from _nodes(acceptance)
    if lines_of := not_counted(acceptance):
        yield from ('', 'runs that do not count', *(f'  {line}' for line in lines_of))
    yield from ('', 'binaries of the counted runs')
    for build in acceptance['builds']:
        yield f'  {plural(build["runs"], "run")}'
        yield from (f'    {k:14} {printable(v)}' for k, v in build.items() if k != 'runs')


def terms(
    content: dict[str, Any], contract: list[str], checksum: str, unsigned: list[str]
) -> Iterator[tuple[str, str]]:
    """What the parties agreed."""
    runs, nodes, retest = content['runs'], content['nodes'], content['retest']['repetitions']
    yield 'protocol', f'sha256 {checksum}'
    for s in content['signatures']:
        yield 'signed', f'by {s["name"]} ({s["party"]}) on {s["date"]}'
    if unsigned:
        yield 'signed', f'NOT by {", ".join(unsigned)}'
    yield 'period', f'{content["period"]["from"]} to {content["period"]["to"]}'
    yield 'contract', f'{", ".join(contract)}, of each node'
    words = [runs['test'], runs['system'], runs['preset'], f'pinning {runs.get("pinning", "any")}']
    stated = [f'{key} {value}' for key, value in runs.get('record', {}).items()]
    yield 'runs', ', '.join([*words, *stated])
    of = f' of {nodes["of"]}' if 'of' in nodes else ''
    valid = plural(runs['repetitions'], 'valid run')
    may = f'{content["rule"]["allowed_failures"]} may fail'
    yield 'rule', f'{nodes["count"]}{of} nodes, the {runs["statistic"]} of {valid}; {may}'
    if 'lost' in runs:
        yield 'lost', f'at most {runs["lost"]} INVALID or disturbed runs of a node'
    yield 'died', f'at most {runs.get("deaths", 0)} launches of a node'
    for node, day in content.get('replaced', {}).items():
        yield 'replaced', f'{node} on {day}: runs before do not count'
    yield 'retest', f'{plural(retest, "run")} of a node that failed' if retest else 'none'


def _nodes(acceptance: dict[str, Any]) -> Iterator[Block]:
    counts = ', '.join(f'{n} {status}' for status, n in acceptance['counts'].items() if n)
    nodes = acceptance['nodes']
    hidden = {node['node'] for node in [n for n in nodes if n['status'] == PASS][PASSED_SHOWN:]}
    missing = {n['node'] for n in nodes if n['status'] == MISSING and not n['runs']}
    rows = [
        [n['node'], n['status'], Cell(n['rounds'], rounds_of(n))]
        for n in nodes
        if n['node'] not in hidden | missing
    ]
    yield Table(f'nodes: {counts}', COLUMNS, rows) if rows else f'nodes: {counts}'
    if hidden:
        yield f'  ... and {plural(len(hidden), "node")} PASS: --json has them all'
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


def not_counted(acceptance: dict[str, Any]) -> list[str]:
    """A line for each reason why runs do not count."""
    reasons: dict[str, list[str]] = {}
    for node in acceptance['nodes']:
        for run in node['runs']:
            if run['counted'] not in ('first', 'retest'):
                reasons.setdefault(run['counted'], []).append(node['node'])
    every = reasons.items()
    return [f'{plural(len(n), "run")} of {fold(set(n))}: {printable(why)}' for why, n in every]
