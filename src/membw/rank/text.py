"""What `membw rank` prints: a ranking per group, then every verdict in a line."""

import shlex
from collections import defaultdict

import numpy as np

from membw import tables
from membw.printable import plural
from membw.rank.ranking import Ranking
from membw.rank.screen import AGAIN, Group
from membw.results.hostlist import fold
from membw.results.table import Figure
from membw.results.verdict import MISSING
from membw.tables import Column, Table


def as_blocks(ranking: Ranking, margin: float, limit: int) -> list[str | Table]:
    """Tables, and the lines between them; `limit`: rows per group, 0: all."""
    blocks: list[str | Table] = []
    for group in ranking.groups:
        blocks += [_head(group, margin), _table(ranking, group, limit), '']
    blocks += [f'note: {note}' for note in ranking.notes]
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for verdict in ranking.verdicts:
        if verdict.reason:
            alike[verdict.reason, verdict.verdict].append(verdict.node)
    for node in ranking.nodes:
        if node.verdict == MISSING:
            alike[node.reason, MISSING].append(node.name)
    blocks += [f'{fold(names)}: {why}: {word}' for (why, word), names in alike.items()]
    for setting in ranking.low:
        blocks.append(f'measure again: {again(ranking, setting)}')
    return [*blocks, ranking.counts()]


def again(ranking: Ranking, setting: str) -> str:
    """The command that measures its LOW nodes again, and healthy ones with them; of records by
    hand, what to do."""
    figure, nodes = ranking.first[setting], [*ranking.low[setting], *ranking.controls[setting]]
    if not figure.system:
        return f"'{figure.benchmark}' {AGAIN} times on {fold(nodes)}; then rank all records"
    test = figure.benchmark + (f'%pinning={figure.pinning}' if figure.pinning else '')
    words = ['membw', 'run', '--system', figure.system, '-n', test, '-p', figure.preset]
    command = f'{shlex.join(words)} --repeat={AGAIN} -J nodelist='
    if figure.benchmark.startswith('cluster_'):
        return command + fold(nodes)
    return f'for node in {" ".join(nodes)}; do {command}$node; done'  # of one node each


def _name(figure: Figure) -> str:
    where = ':'.join(filter(None, (figure.system, figure.partition)))
    words = figure.benchmark, figure.parameters, figure.preset, figure.pinning
    return ' '.join(filter(None, (where, *words)))


def _head(group: Group, margin: float) -> str:
    figure = group.any[group.metrics[0]]
    text = f'{_name(figure)}: {plural(len(group.nodes), "node")}'
    if group.peers < 2:
        return text
    smallest = min((x for x in group.fail_limits(margin) if x == x), default=margin)
    return f'{text}, FAIL from a loss of {smallest:.1%} on (margin {100 * margin:.2g}%)'


def _table(ranking: Ranking, group: Group, limit: int) -> Table:
    setting = group.any[group.metrics[0]].setting
    rows = [v for v in ranking.verdicts if v.setting == setting and v.node in group.figures]
    rows.sort(key=lambda v: -v.loss)
    shown = [v for i, v in enumerate(rows) if not limit or i < limit or v.verdict != 'PASS']
    columns = (
        Column('node', 'node'),
        *(Column(m, f'{m}, {group.any[m].unit}', True) for m in group.metrics),
        Column('loss', 'mean to median', True),
        Column('verdict', 'verdict'),
    )
    lines: list[list[object]] = [
        [
            v.node,
            *(tables.shown(v.figures.get(m), '.2f') for m in group.metrics),
            f'{-v.loss:+.1%}',
            v.verdict,
        ]
        for v in shown
    ]
    if len(shown) < len(rows):
        more = f'... {len(rows) - len(shown)} more that pass (--limit 0)'
        lines.append([more, *[''] * (len(columns) - 1)])
    every = [[v.figures[m] for v in rows if m in v.figures] for m in group.metrics]
    lines.append(['median', *(f'{np.median(values):.2f}' for values in every), '', ''])
    deviations = [None if np.isnan(of) else of for of in group.deviations[: len(every)]]
    lines.append(['robust deviation', *(tables.shown(of, '.2%') for of in deviations), '', ''])
    return Table('', columns, lines)


def as_json(ranking: Ranking) -> dict:
    """The same for programs; losses are fractions, above 0: worse than the peers' median."""
    return {
        'schema': 'membw-rank-3',
        'nodes': [
            {'node': n.name, 'verdict': n.verdict, 'reason': n.reason} for n in ranking.nodes
        ],
        'verdicts': [verdict._asdict() for verdict in ranking.verdicts],
        'measure_again': [
            {
                'nodes': nodes,
                'beside': ranking.controls[setting],
                'command': again(ranking, setting),
            }
            for setting, nodes in ranking.low.items()
        ],
        'notes': ranking.notes,
        'problems': ranking.problems,
    }
