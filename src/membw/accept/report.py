"""Everything needed to argue about an acceptance, as plain data: what JSON, text and HTML show."""

import time

from membw.accept.missing_runs import lines as order_lines
from membw.accept.missing_runs import orders
from membw.accept.protocol import as_signed, contract_lines, figures, unsigned
from membw.accept.rule import is_counted
from membw.moments import utc
from membw.presets.presets import version
from membw.statistics.risk import assess


def report(decision, problems=()):
    """A dict, JSON as it stands; the sections in the order in which they are read."""
    protocol = decision.protocol
    nodes = [_node(protocol, node) for node in decision.nodes]
    shown = [run for node in nodes for run in node['runs']]
    return {
        'schema': 'membw-acceptance-2',
        'title': protocol['title'],
        'verdict': decision.verdict,
        'why': decision.why,
        'counts': {s: len(decision.having(s)) for s in STATUSES},
        'made': utc(time.time()),
        'membw': version(),
        'protocol_sha256': protocol['checksum'],
        'signed_by': protocol['signatures'],
        'unsigned': unsigned(protocol),
        'protocol': as_signed(protocol),
        'contract': list(contract_lines(protocol)),
        'units': {name: metric.unit for name, metric in protocol['metrics'].items()},
        'builds': [{**build, 'runs': count} for build, count in decision.builds],
        'risk': _risk(assess(protocol, decision.nodes), protocol),
        'nodes': nodes,
        'not_counted': [s for r, s in zip(decision.runs, shown, strict=True) if not is_counted(r)],
        'other_nodes': sorted({run.node for run in decision.elsewhere}),
        'to_do': list(order_lines(protocol, orders(decision))),
        'problems': list(problems),
    }


STATUSES = ('PASS', 'CLEARED', 'FAILED', 'OPEN', 'MISSING')


def _node(protocol, node):
    return {
        'node': node.name,
        'status': node.status,
        'rounds': [
            {'test': r.name, 'figures': _figures(protocol, r.values), 'below': r.below}
            for r in node.rounds
        ],
        'needs': node.needs,
        'what_for': node.what_for,
        'runs': [_run(protocol, run) for run in node.runs],
    }


def _run(protocol, run):
    return {
        'node': run.node,
        'time': utc(run.time),
        'figures': _figures(protocol, run.rates),
        'counted': run.counted,
        'binary_sha256': run.build.get('binary_sha256'),
        'record': run.source,
    }


def _figures(protocol, rates):
    return {name: round(figure, 3) for name, figure in figures(protocol, rates).items()}


def _risk(risk, protocol):
    if risk is None:
        return None
    return {
        'noise': {'from': risk.noise.source, 'spread': risk.noise.spread},
        'bad_node': -protocol['risk']['bad_node'],
        'good_node': protocol['risk']['good_node'],
        'bad_node_fails': risk.bad_node,
        'good_node_fails': risk.good_node,
        'buyer': risk.buyer,
        'vendor': risk.vendor,
        'at_limit_of_noise': risk.limits
        and dict(zip(('buyer', 'vendor'), risk.limits, strict=True)),
        'measured_again': risk.again,
        'node_characteristic': [{'level': lv, 'fails': p} for lv, p in risk.node],
        'machine_characteristic': [{'bad_nodes': d, 'accepted': p} for d, p in risk.machine],
    }
