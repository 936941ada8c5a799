"""An acceptance as JSON: all that it follows from. Equal for equal records, whoever judges them,
and when."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from membw.accept.plan import assess
from membw.accept.rule import ALIKE, Decision, Node
from membw.accept.runs import Run
from membw.moments import utc
from membw.results.findings import for_json
from membw.results.provenance import OF_SAMPLE

BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'spack_hash', 'binary_sha256')


def report(decision: Decision, problems: Sequence[str] = ()) -> dict[str, Any]:
    protocol = decision.protocol
    return {
        'schema': 'membw-acceptance-5',
        'verdict': decision.verdict,
        'findings': for_json(decision.why),
        'counts': decision.counts,
        'risk': assess(protocol)._asdict(),
        'limits': decision.limits,
        'protocol': protocol.content,
        'protocol_sha256': protocol.checksum,
        'unsigned': protocol.unsigned,
        **evidence(decision),
        'nodes': [_node(node) for node in decision.nodes],
        'other_nodes': decision.elsewhere,
        'problems': list(problems),
    }


def evidence(decision: Decision) -> dict[str, Any]:
    """Of the runs: their checksum, what was compared of their nodes, what they were built by."""
    counted = decision.counted
    runs = [run for node in decision.nodes for run in node.runs if not run.is_other]
    sums = {_sha256(run): bool(run.record.get('sha256')) for run in runs}
    builds = Counter(tuple((n, r.known[n]) for n in BUILD if n in r.known) for r in counted)
    compared = dict.fromkeys((*OF_SAMPLE, *ALIKE))
    return {
        'newest': utc(max(run.of.time for run in runs)) if runs else '',
        'results_sha256': hashlib.sha256('\n'.join(sorted(sums)).encode()).hexdigest(),
        'records': len(sums),
        'records_without_checksum': len(sums) - sum(sums.values()),
        # of each node, from run to run and with the other nodes, where the records have it
        'compared': [name for name in compared if any(name in run.known for run in counted)],
        'not_recorded': [n for n in compared if not all(n in run.known for run in counted)],
        'builds': [{'runs': count, **dict(build)} for build, count in builds.most_common()],
    }


def _sha256(run: Run) -> str:
    text = json.dumps(run.record, sort_keys=True) + repr(sorted(run.figures.items()))
    return hashlib.sha256(text.encode()).hexdigest()


def _node(node: Node) -> dict[str, Any]:
    own = {'node': node.name, 'findings': for_json(node.why)}
    own |= {name: getattr(node, name) for name in ('status', 'needs', 'needs_for', 'deaths')}
    runs = [
        {
            'time': utc(run.of.time), 'record': f'{run.of.file}:{run.of.line}',
            'figures': run.figures,
            'round': run.round, 'word': run.word, 'findings': for_json(run.why),
            'missed': run.missed,
        }
        for run in node.runs
    ]  # fmt: skip
    return own | {'rounds': [one._asdict() for one in node.rounds], 'runs': runs}
