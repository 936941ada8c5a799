"""All facts of an acceptance as plain data, and as text: the verdict, then its reasons."""

import shlex
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from membw.accept.plan import assess, sentences, terms
from membw.accept.rule import STATUSES, Decision, Node
from membw.accept.runs import BUILD
from membw.grouped import grouped
from membw.moments import utc
from membw.presets import version
from membw.printable import plural, printable
from membw.results.hostlist import fold
from membw.results.provenance import OF_SAMPLE
from membw.results.verdict import MISSING, PASS
from membw.tables import Cell, Column, Table

COLUMNS = Column('node', 'node'), Column('status', 'status'), Column('rounds', 'rounds')
PASSED_SHOWN = 32  # nodes; --json has all
Block = Table | str


def report(decision: Decision, problems: Sequence[str] = ()) -> dict[str, Any]:
    """A dict, JSON as it stands; the sections in the order in which they are read."""
    protocol, counted = decision.protocol, decision.counted
    nights = {(run.node, run.night) for run in counted}
    builds = Counter(tuple((n, r.known[n]) for n in BUILD if n in r.known) for r in counted)
    return {
        'schema': 'membw-acceptance-3',
        'title': protocol.content['title'],
        'verdict': decision.verdict,
        'why': decision.why,
        'lowest': list(_lowest(decision)),
        'counts': {s: len(decision.with_status(s)) for s in STATUSES},
        'risk': assess(protocol)._asdict(),
        'risks': sentences(protocol, len(nights) < len(counted)),
        'to_do': list(to_do(decision)),
        'contract': [
            {**line._asdict(), 'limit': decision.limits.get(name), 'text': line.text}
            for name, line in protocol.contract.items()
        ],
        'made': utc(time.time()),
        'membw': version(),
        'protocol_sha256': protocol.checksum,
        'unsigned': protocol.unsigned,
        'protocol': protocol.content,
        # of each node from run to run, where the records have it
        'compared': [name for name in OF_SAMPLE if any(name in run.known for run in counted)],
        'not_recorded': [n for n in OF_SAMPLE if not all(n in run.known for run in counted)],
        'builds': [{'runs': count, **dict(build)} for build, count in builds.most_common()],
        'nodes': [_node(node) for node in decision.nodes],
        'other_nodes': decision.elsewhere,
        'problems': list(problems),
    }


def _node(node: Node) -> dict[str, Any]:
    runs = [{'time': utc(r.time), 'record': r.source, 'figures': r.figures, 'counted': r.counted}
            for r in node.runs]  # fmt: skip
    own = {name: getattr(node, name) for name in ('status', 'needs', 'needs_for', 'lost', 'why')}
    return {'node': node.name, **own, 'rounds': [vars(r) for r in node.rounds], 'runs': runs}


def _lowest(decision: Decision) -> Iterator[str]:
    """'triad 301.2 GB/s on n005: 0.4 % better than the limit of 300 GB/s' of each metric."""
    latest = {node.name: node.rounds[-1].figures for node in decision.nodes if node.rounds}
    for name, line in decision.protocol.contract.items() if latest else ():
        worst = min if line.better == 'higher' else max
        node, limit = worst(latest, key=lambda n: latest[n][name]), decision.limits[name]
        figure = latest[node][name]
        side = 'better' if line.reaches(figure, limit) else 'worse'
        off = f'{abs(figure - limit) / limit:.1%} {side} than the limit of {limit:.6g} {line.unit}'
        yield f'{name} {figure:.1f} {line.unit} on {node}: {off}'


def to_do(decision: Decision) -> Iterator[str]:
    """Commands for what is missing, one a round; nothing once the machine is refused."""
    protocol, agreed = decision.protocol, decision.protocol.runs
    test = agreed['test'] + (f'%pinning={agreed["pinning"]}' if 'pinning' in agreed else '')
    words = ['membw', 'run', '--system', agreed['system'], '-n', test, '-p', agreed['preset']]
    for title, runs in protocol.rounds if decision.verdict == 'INCOMPLETE' else ():
        nodes = [n.name for n in decision.nodes if n.needs and n.needs_for == title]
        each = f'{shlex.join([*words, f"--repeat={runs}"])} -J nodelist='
        if nodes:
            yield f'for node in {" ".join(nodes)}; do {each}$node; done   # {title} round'
        elif title == 'first' and len(decision.nodes) < protocol.count:
            yield f'{each}NODE   # each NODE of further nodes'


# --- as text -------------------------------------------------------------------------------


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
    counted = ((r['counted'], n['node']) for n in acceptance['nodes'] for r in n['runs'])
    every = grouped(pair for pair in counted if pair[0] not in ('first', 'retest')).items()
    return [f'{plural(len(n), "run")} of {fold(set(n))}: {printable(why)}' for why, n in every]
