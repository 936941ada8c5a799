"""All facts of an acceptance, as plain data for JSON and text."""

import shlex
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from membw.accept.risk import assess, sentences
from membw.accept.rule import STATUSES, Decision, Node
from membw.accept.runs import BUILD
from membw.moments import utc
from membw.presets import version
from membw.results.provenance import OF_SAMPLE


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
