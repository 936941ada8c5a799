"""All facts of an acceptance as plain data, and its lines."""

import hashlib
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from membw.accept.plan import assess, sentences
from membw.accept.rule import ALIKE, BELOW, STATUSES, Decision, Node
from membw.accept.runs import BUILD
from membw.accept.terms import sentences as rule
from membw.grouped import grouped
from membw.moments import utc
from membw.printable import plural, printable
from membw.results.hostlist import fold
from membw.results.provenance import OF_SAMPLE
from membw.results.record import HIGHER


def report(decision: Decision, problems: Sequence[str] = ()) -> dict[str, Any]:
    """A dict, JSON as it stands. Equal for equal records, whoever judges them, and when."""
    protocol, counted = decision.protocol, decision.counted
    nights = {(run.node, run.night) for run in counted}
    builds = Counter(tuple((n, r.known[n]) for n in BUILD if n in r.known) for r in counted)
    runs = [run for node in decision.nodes for run in node.runs if not run.is_other]
    lines = sorted({run.sha256 for run in runs})
    compared = dict.fromkeys((*OF_SAMPLE, *ALIKE))
    return {
        'schema': 'membw-acceptance-4',
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
        'rule': list(rule(protocol)),
        'until': protocol.until,
        'newest': utc(max((run.time for run in runs), default=0.0)) if runs else '',
        'protocol_sha256': protocol.checksum,
        'results_sha256': hashlib.sha256('\n'.join(lines).encode()).hexdigest(),
        'records': len(lines),
        'records_without_checksum': len({run.sha256 for run in runs if not run.is_sealed}),
        'unsigned': protocol.unsigned,
        'protocol': protocol.content,
        # of each node, from run to run and with the other nodes, where the records have it
        'compared': [name for name in compared if any(name in run.known for run in counted)],
        'not_recorded': [n for n in compared if not all(n in run.known for run in counted)],
        'builds': [{'runs': count, **dict(build)} for build, count in builds.most_common()],
        'nodes': [_node(node) for node in decision.nodes],
        'other_nodes': decision.elsewhere,
        'problems': list(problems),
    }


def _node(node: Node) -> dict[str, Any]:
    runs = [{'time': utc(r.time), 'record': r.source, 'figures': r.figures, 'counted': r.counted,
             'missed': r.missed} for r in node.runs]  # fmt: skip
    own = {name: getattr(node, name) for name in ('status', 'needs', 'needs_for', 'deaths', 'why')}
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


def rounds_of(acceptance: dict[str, Any], node: dict[str, Any]) -> str:
    """'triad 176.0 of 180 GB/s, copy 158.4 of 160 GB/s; 5 runs of the retest due by ...'."""
    parts = []
    for r in node['rounds']:
        every = []
        for line in acceptance['contract']:
            name, limit = line['metric'], f'{line["limit"]:.6g} {line["unit"]}'
            figure = f'{name} {r["figures"][name]:.1f}'
            every.append(f'{figure} of {limit}' if name in r['missed'] else figure)
        parts.append('retest: ' * (r['name'] == 'retest') + ', '.join(every))
    if node['deaths']:
        parts.append(f'{node["deaths"]} of its launches died')
    if node['needs']:
        which = f'of the {node["needs_for"]}{" round" * (node["needs_for"] == "first")}'
        verb = 'is' if node['needs'] == 1 else 'are'
        parts.append(f'{plural(node["needs"], "run")} {which} {verb} due by {acceptance["until"]}')
    elif node['status'] == BELOW:
        parts.append('that is final')
    return '; '.join([*parts, *filter(None, [node['why']])])


def not_counted(acceptance: dict[str, Any]) -> list[str]:
    """A line for each reason why runs do not count, with the worst that misses the contract."""
    every = ((r['counted'], (n['node'], r)) for n in acceptance['nodes'] for r in n['runs'])
    lines, better = [], {line['metric']: line['better'] for line in acceptance['contract']}
    for why, runs in grouped(one for one in every if one[0] not in ('first', 'retest')).items():
        below: dict[str, list[float]] = {}
        for run in (run for _, run in runs):
            for name in run['missed']:
                below.setdefault(name, []).append(run['figures'][name])
        worst = {n: min(x) if better[n] == HIGHER else max(x) for n, x in below.items()}
        said = ', '.join(f'{name} {value:.1f}' for name, value in worst.items())
        own = f'{plural(len(runs), "run")} of {fold({node for node, _ in runs})}: {printable(why)}'
        lines.append(own + (f'; below the contract: {said}' if said else ''))
    return lines
