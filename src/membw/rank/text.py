"""What `membw rank` prints: a ranking, a summary of each metric, JSON."""

import numpy as np

from membw.plural import plural
from membw.results.hostlist import fold, worst_verdicts
from membw.results.metrics import common_unit
from membw.tables import Cell, Column, Table

ORDERS = {'slowest': 1, 'fastest': -1}


def as_blocks(fleet, order, by, limit):
    """The whole report: tables, and the lines between them."""
    blocks = []
    for group in fleet.groups:
        blocks += [f'Group {group.number}: {group.label}', '']
        blocks += _ranking(group, order, by, limit) + [''] + _summary(group)
    blocks += [f'warning: {text}' for text in fleet.warnings]
    return blocks + _not_ranked(fleet) + [counts(fleet)] + _links(fleet.links)


def _ranking(group, order, by, limit):
    column = group.kernels.index(by) if by in group.kernels else -1
    totals = group.totals()
    ranked = np.argsort(ORDERS[order] * totals[:, column], kind='stable')
    shown = ranked if limit == 0 else ranked[:limit]
    rest = [group.nodes[i] for i in ranked[len(shown) :]]
    nodes = [group.nodes[i] for i in shown] + [n for n in rest if n.verdict != 'PASS']
    hidden = sum(n.verdict == 'PASS' for n in rest)
    table = Table('', _columns(group, order), [_row(n, column) for n in nodes], indent='')
    more = [f'... and {hidden} more that pass (--limit 0 shows them)'] if hidden else []
    return [table, *more]


def _columns(group, order):
    unit = common_unit(group.metrics)
    heads = [m.name.capitalize() if unit else m.title for m in group.metrics]
    figures = [Column(m.name, h, True) for m, h in zip(group.metrics, heads, strict=True)]
    unit = f'{unit}, ' if unit else ''
    return (Column('node', 'node'), *figures, Column('to_median', 'to median', True),
            Column('verdict', f'verdict ({unit}{order} first)'),
            Column('reason', ''))  # fmt: skip


def _row(node, column):
    figures = [Cell(figure, f'{figure:.2f}') for figure in node.figures.values()]
    kernel, ratio = node.kernels[column], node.ratios[node.kernels[column]]
    to_median = Cell(node.metrics[column].figure(ratio), node.percent(kernel, ratio))
    judged = Cell(node.verdict, f'{node.verdict} {node.reason}'.rstrip())
    return [node.name, *figures, to_median, judged, Cell(node.reason, '')]


def _summary(group):
    """MPI_STREAM's names, and the two figures that one bad node cannot move."""
    lines = ['============SUMMARY============', '']
    threads = float(np.median([node.threads for node in group.nodes]))
    for metric, rates in zip(group.metrics, group.totals().T, strict=True):
        lines += _metric_summary(metric, metric.figure(rates), threads, group.nodes) + ['']
    return lines + ['==========END SUMMARY==========', '']


def _metric_summary(metric, figures, threads, nodes):
    """The layout of the program's own block, which is MPI_STREAM's: bandwidths are in MB/s."""
    unit = 'MB/s' if metric.is_bandwidth else metric.unit
    figures = figures * 1000 if metric.is_bandwidth else figures
    high, low, median = nodes[figures.argmax()], nodes[figures.argmin()], np.median(figures)
    rows = [
        ('MAX', figures.max(), f' on {high.name}'),
        ('MIN', figures.min(), f' on {low.name}'),
        ('AVG', figures.mean(), ''),
        ('AVG_per_proc', figures.mean() / threads, ''),
        ('STDD', _standard_deviation(figures), ''),
        ('MEDIAN', median, ''),
        ('MAD', np.median(np.abs(figures - median)), ''),
    ]
    rows = [row for row in rows if metric.adds or row[0] != 'AVG_per_proc']
    name = metric.name.upper()
    return [f'{name + "_" + key:<18} = {value:f}\t\t {unit}{on}' for key, value, on in rows]


def _standard_deviation(figures):
    if len(figures) < 2:
        return 0.0
    # relative to the largest: the square of an implausible figure may be no number
    return figures.max() * (figures / figures.max()).std(ddof=1)


def _not_ranked(fleet):
    """INVALID and MISSING nodes, those with the same reason on one line."""
    names = {}
    for node in fleet.nodes:
        if node.verdict in ('INVALID', 'MISSING'):
            names.setdefault((node.verdict, node.reason), []).append(node.name)
    return [f'{fold(same)}  {verdict} {why}' for (verdict, why), same in sorted(names.items())]


def counts(fleet):
    """'5 nodes: 3 PASS, 1 FAIL, 0 INVALID, 1 MISSING'."""
    verdicts = [verdict for verdict, _ in worst_verdicts(fleet.nodes).values()]
    parts = (f'{verdicts.count(v)} {v}' for v in ('PASS', 'FAIL', 'INVALID', 'MISSING'))
    text = plural(len(verdicts), 'node') + ': ' + ', '.join(parts)
    suspect = verdicts.count('SUSPECT')
    return text + (f', {suspect} SUSPECT' if suspect else '')


def _links(links):
    """Those that are not PASS, and how many there are."""
    rows = sorted((link for link in links.links if link.verdict != 'PASS'), key=lambda k: k.q)
    lines = [f'{link.name}  {link.verdict} {link.reason}' for link in rows]
    return [*lines, links.counts()] if links else []


def as_json(fleet, problems):
    """The same for programs; figures in the metric's unit, ratios to the median of the group's
    rates: more is better, whatever the metric."""
    return {
        'schema': 'membw-rank-2',
        'groups': [
            {'group': g.number, 'label': g.label, 'nodes': len(g.nodes), 'metrics': _metrics(g)}
            for g in fleet.groups
        ],
        'nodes': [_node_json(node) for node in fleet.nodes],
        'links': [_link_json(link) for link in fleet.links.links],
        'warnings': fleet.warnings,
        'problems': problems,
    }


def _link_json(link):
    row = {'nodes': link.nodes, 'verdict': link.verdict, 'reason': link.reason, 'q': link.q}
    return row | {'us': link.figures, 'expected_us': link.expected}


def _metrics(group):
    rows = {}
    for metric, rates in zip(group.metrics, group.totals().T, strict=True):
        figures = metric.figure(rates)
        mad = np.median(np.abs(figures - np.median(figures)))
        rows[metric.name] = {'unit': metric.unit, 'better': metric.better}
        rows[metric.name] |= {'median': float(np.median(figures)), 'mad': float(mad)}
    return rows


def _node_json(node):
    row = {'node': node.name, 'verdict': node.verdict, 'reason': node.reason}
    if node.rates is None:
        return row
    judged = {'group': node.group, 'ratio': node.ratios, 'z': node.z, 'q': node.q}
    row |= {'figures': node.figures, 'ranks': len(node.rates), 'steadiness': node.steadiness}
    return row | (judged | {'pattern': node.pattern} if node.group else {})
