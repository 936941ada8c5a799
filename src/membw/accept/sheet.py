"""An acceptance in parts: as text, as the sheet that the parties sign, as a page of every node."""

import shlex
import time
from collections.abc import Iterator
from typing import Any

from membw.accept import plan, terms
from membw.accept.protocol import Protocol
from membw.accept.report import evidence
from membw.accept.rule import BELOW, Decision, Node
from membw.accept.signatures import fingerprint
from membw.grouped import grouped
from membw.moments import utc
from membw.printable import at_most, plural, printable
from membw.results.findings import text_of
from membw.results.hostlist import fold
from membw.sheet import Part, render
from membw.tables import Block, Cell, Column, Command, Table
from membw.words import PASS

COLUMNS = Column('node', 'node'), Column('status', 'status'), Column('figures', 'figures')
ROWS, LINES = 28, 10  # of a sheet: it has two pages at most
BUILD = 'compiler', 'flags', 'binary_sha256'


def blocks(decision: Decision) -> Iterator[Block]:
    """For the terminal: the verdict, what is still to be measured, the nodes."""
    yield f'Verdict: {decision.verdict}: {"; ".join(decision.reasons)}'
    if commands := [*to_do(decision)]:
        until = decision.protocol.until
        over = ' (over: all sign a later end)' * (utc(time.time(), '%Y-%m-%d') > until)
        due = f'still to be measured, to the end of {until}{over}'
        yield from ('', due, *(Command(f'  {line}') for line in commands))
    for part in _found(decision, False):
        yield from ('', part.title, *(f'  {line}' for line in part.lines))
        if part.table:
            yield part.table


def sheet(decision: Decision, is_whole: bool) -> str:
    """`is_whole`: with every node and every line."""
    content, of = decision.protocol.content, evidence(decision)
    parties, period = content['parties'], content['period']
    names = {party: f'{party}, {about["name"]}' for party, about in parties.items()}
    subtitle = (
        f'{"; ".join(names.values())}. Measured from {period["from"]} to {period["to"]}; the '
        f'newest record is of {of["newest"] or "no day"}.'
    )
    parts = [Part('Verdict', decision.reasons), *_parts(decision, of, is_whole)]
    signers = [(names[party], _key(decision, party)) for party in parties]
    return render(content['title'], subtitle, decision.verdict, parts, signers)


def _found(decision: Decision, is_whole: bool) -> list[Part]:
    left_out = list(not_counted(decision))
    lines = left_out if is_whole else at_most(left_out, LINES)
    runs = [Part('Runs that do not count', lines)] * bool(lines)
    return [_nodes(decision, is_whole), *runs]


def _parts(decision: Decision, of: dict[str, Any], is_whole: bool) -> list[Part]:
    protocol = decision.protocol
    return [
        *_found(decision, is_whole),
        Part('Contract, of each node', [line.text for line in protocol.contract.values()]),
        Part('Rule', [*terms.sentences(protocol)], is_numbered=True),
        Part('Risks', plan.sentences(protocol)),
        Part('Machine', [*_machine(protocol, of)]),
        Part('Checksums (sha256)', [*_checksums(protocol, of)], is_sum=True),
    ]


def _checksums(protocol: Protocol, of: dict[str, Any]) -> Iterator[str]:
    yield f'protocol {protocol.checksum}'
    yield f'results  {of["results_sha256"]}, of {plural(of["records"], "record")}'
    if open_ := of['records_without_checksum']:
        yield f'{plural(open_, "record")} without a checksum of its own: damage is not seen'
    lacking = ', '.join(of['not_recorded']) or 'none'
    yield f'compared: {", ".join(of["compared"])}; not in all records: {lacking}'
    yield 'Serial numbers are not read, and a record is no proof against who wants to forge it.'


def _key(decision: Decision, party: str) -> str:
    why = decision.protocol.unsigned.get(party)
    signed = f'protocol NOT signed: {why}' if why else 'protocol signed with this key'
    key = decision.protocol.content['parties'][party].get('key')
    return f'{fingerprint(key)}, {signed}' if key else signed


def _machine(protocol: Protocol, of: dict[str, Any]) -> Iterator[str]:
    nodes = protocol.content['nodes']
    yield terms.conditions(protocol.runs)
    if 'cpu' in nodes:
        yield f'{plural(nodes.get("sockets", 1), "socket")} of {nodes["cpu"]}'
    for build in of['builds']:
        words = ', '.join(f'{key} {build[key]}' for key in BUILD if key in build)
        yield f'{plural(build["runs"], "run")} of {words}'


def _nodes(decision: Decision, is_whole: bool) -> Part:
    """The nodes that are not PASS first; of many that are, one line."""
    nodes = sorted(decision.nodes, key=lambda node: node.status == PASS)
    counts = ', '.join(f'{count} {word}' for word, count in decision.counts.items() if count)
    is_short = len(nodes) > ROWS and not is_whole
    shown = [n for n in nodes if n.status != PASS][:ROWS] if is_short else nodes
    lines = [*_lowest(decision)]
    if hidden := [n for n in nodes if n not in shown]:
        words = sorted({n.status for n in hidden})
        lines.append(f'not in this table, {" and ".join(words)}: {fold(n.name for n in hidden)}')
    if decision.elsewhere:
        lines.append(f'not in the protocol: {fold(decision.elsewhere)}')
    rows = [[n.name, n.status, Cell(None, rounds_of(decision, n))] for n in shown]
    return Part(f'Nodes: {counts}', lines, Table('', COLUMNS, rows))


# --- lines of figures --------------------------------------------------------------------------


def _lowest(decision: Decision) -> Iterator[str]:
    """'triad 301.2 GB/s on n005: 0.4 % better than the limit of 300 GB/s' of each metric."""
    latest = {node.name: node.rounds[-1].figures for node in decision.nodes if node.rounds}
    for name, line in decision.contract.items() if latest else ():
        figure, node = line.worst((figures[name], node) for node, figures in latest.items())
        limit = decision.limits[name]
        side = 'better' if line.reaches(figure, limit) else 'worse'
        off = f'{abs(figure - limit) / limit:.1%} {side} than the limit of {limit:.6g} {line.unit}'
        yield f'{name} {figure:.1f} {line.unit} on {node}: {off}'


def to_do(decision: Decision) -> Iterator[str]:
    """Commands for what is missing, one a round; nothing once the machine is refused."""
    protocol, agreed = decision.protocol, decision.protocol.runs
    test = agreed['test'] + (f'%pinning={agreed["pinning"]}' if 'pinning' in agreed else '')
    words = ['membw', 'run', '--system', agreed['system'], '-n', test, '-p', agreed['preset']]
    for title, runs in protocol.rounds if decision.verdict == 'INCOMPLETE' else ():
        nodes = [n.name for n in decision.nodes if n.needs_for == title]
        each = f'{shlex.join([*words, f"--repeat={runs}"])} -J nodelist='
        if nodes:
            yield f'for node in {" ".join(nodes)}; do {each}$node; done   # {title} round'
        elif title == 'first' and len(decision.nodes) < protocol.count:
            yield f'{each}NODE   # each NODE of further nodes'


def rounds_of(decision: Decision, node: Node) -> str:
    """'triad 176.0 of 180 GB/s, copy 158.4 of 160 GB/s; 5 runs of the retest due by ...'."""
    parts = []
    for title, figures, missed in node.rounds:
        of = {
            name: f' of {decision.limits[name]:.6g} {decision.contract[name].unit}'
            for name in missed
        }
        every = [f'{name} {value:.1f}{of.get(name, "")}' for name, value in figures.items()]
        parts.append('retest: ' * (title == 'retest') + ', '.join(every))
    if node.deaths:
        parts.append(f'{node.deaths} of its launches died')
    if node.needs:
        which = f'of the {node.needs_for}{" round" * (node.needs_for == "first")}'
        verb = 'is' if node.needs == 1 else 'are'
        until = decision.protocol.until
        parts.append(f'{plural(node.needs, "run")} {which} {verb} due by {until}')
    elif node.status == BELOW:
        parts.append('that is final')
    return '; '.join([*parts, *filter(None, [text_of(node.why)])])


def not_counted(decision: Decision) -> Iterator[str]:
    """A line for each reason why runs do not count, with the worst that misses the contract."""
    every = ((run.counted, run) for node in decision.nodes for run in node.runs if not run.round)
    for why, runs in grouped(every).items():
        below = []
        for name, line in decision.contract.items():
            if values := [run.figures[name] for run in runs if name in run.missed]:
                below.append(f'{name} {line.worst(values):.1f}')
        own = f'{plural(len(runs), "run")} of {fold({run.node for run in runs})}: {printable(why)}'
        yield own + (f'; below the contract: {", ".join(below)}' if below else '')
