"""What `membw rank` prints: a ranking, a summary of each kernel, JSON."""

import numpy as np

from membw.results.hostlist import fold, worst_verdicts

ORDERS = {'slowest': 1, 'fastest': -1}


def as_text(fleet, order, by, limit):
    """The whole report as lines."""
    lines = []
    for group in fleet.groups:
        lines += [f'Group {group.number}: {group.label}', '']
        lines += _ranking(group, order, by, limit) + [''] + _summary(group)
    lines += [f'warning: {text}' for text in fleet.warnings]
    return lines + _not_ranked(fleet) + [_counts(fleet)]


def _ranking(group, order, by, limit):
    column = group.kernels.index(by) if by in group.kernels else -1
    totals = group.totals()
    ranked = np.argsort(ORDERS[order] * totals[:, column], kind='stable')
    shown = ranked if limit == 0 else ranked[:limit]
    width = max(len(group.nodes[i].name) for i in shown)
    heads = ''.join(f'{k.capitalize():>10}' for k in group.kernels)
    lines = [f'{"node":<{width}}{heads}  to median  verdict (GB/s, {order} first)']
    lines += [_row(group.nodes[i], totals[i], column, width) for i in shown]
    rest = [group.nodes[i] for i in ranked[len(shown) :]]
    lines += [_row(n, n.rates.sum(axis=0), column, width) for n in rest if n.verdict == 'FAIL']
    hidden = sum(n.verdict != 'FAIL' for n in rest)
    return lines + ([f'... and {hidden} more that pass (--limit 0 shows them)'] if hidden else [])


def _row(node, rates, column, width):
    figures = ''.join(f'{rate:10.2f}' for rate in rates)
    ratio = list(node.ratios.values())[column] - 1
    return f'{node.name:<{width}}{figures}  {ratio:+9.1%}  {node.verdict} {node.reason}'.rstrip()


def _summary(group):
    """MPI_STREAM's names, and the two figures that one bad node cannot move."""
    lines = ['============SUMMARY============', '']
    threads = float(np.median([node.threads for node in group.nodes]))
    for kernel, mbs in zip(group.kernels, group.totals().T * 1000, strict=True):
        lines += _kernel_summary(kernel.upper(), mbs, threads, group.nodes) + ['']
    return lines + ['==========END SUMMARY==========', '']


def _kernel_summary(name, mbs, threads, nodes):
    high, low, median = nodes[mbs.argmax()], nodes[mbs.argmin()], np.median(mbs)
    deviation = mbs.std(ddof=1) if len(mbs) > 1 else 0.0
    rows = [
        ('MAX', mbs.max(), f' on {high.name}'),
        ('MIN', mbs.min(), f' on {low.name}'),
        ('AVG', mbs.mean(), ''),
        ('AVG_per_proc', mbs.mean() / threads, ''),
        ('STDD', deviation, ''),
        ('MEDIAN', median, ''),
        ('MAD', np.median(np.abs(mbs - median)), ''),
    ]
    # the layout of the program's own block (src/stream/block.c), which is MPI_STREAM's
    return [f'{name + "_" + key:<18} = {value:f}\t\t MB/s{on}' for key, value, on in rows]


def _not_ranked(fleet):
    """INVALID and MISSING nodes, those with the same reason on one line."""
    names = {}
    for node in fleet.nodes:
        if node.verdict in ('INVALID', 'MISSING'):
            names.setdefault((node.verdict, node.reason), []).append(node.name)
    return [f'{fold(same)}  {verdict} {why}' for (verdict, why), same in sorted(names.items())]


def _counts(fleet):
    verdicts = [verdict for verdict, _ in worst_verdicts(fleet.nodes).values()]
    parts = (f'{verdicts.count(v)} {v}' for v in ('PASS', 'FAIL', 'INVALID', 'MISSING'))
    return f'{len(verdicts)} node{"s" * (len(verdicts) != 1)}: ' + ', '.join(parts)


def as_json(fleet, problems):
    """The same for programs; rates in GB/s, ratios to the median of the node's group."""
    return {
        'schema': 'membw-rank-1',
        'groups': [
            {'group': g.number, 'label': g.label, 'nodes': len(g.nodes), 'kernels': _figures(g)}
            for g in fleet.groups
        ],
        'nodes': [_node_json(node) for node in fleet.nodes],
        'warnings': fleet.warnings,
        'problems': problems,
    }


def _figures(group):
    totals = group.totals()
    median = np.median(totals, axis=0)
    mad = np.median(np.abs(totals - median), axis=0)
    return {
        kernel: {'median_gbs': float(median[i]), 'mad_gbs': float(mad[i])}
        for i, kernel in enumerate(group.kernels)
    }


def _node_json(node):
    row = {'node': node.name, 'verdict': node.verdict, 'reason': node.reason}
    if node.rates is None:
        return row
    rates = dict(zip(node.kernels, node.rates.sum(axis=0).tolist(), strict=True))
    judged = {'group': node.group, 'ratio': node.ratios, 'z': node.z, 'q': node.q}
    row |= {'rates_gbs': rates, 'ranks': len(node.rates), 'steadiness': node.steadiness}
    return row | (judged | {'pattern': node.pattern} if node.group else {})
