"""What `membw rank` prints: how many nodes are what, what is not PASS, a ranking per group."""

import shlex
from statistics import median

from membw.grouped import grouped
from membw.printable import decimals, plural, signed
from membw.rank.group import Group
from membw.rank.judge import AGAIN
from membw.rank.ranking import Ranking
from membw.results.case import Case
from membw.results.figure import Figure
from membw.results.findings import for_json
from membw.results.hostlist import fold
from membw.results.record import REFRAME, is_set
from membw.statistics import MARGIN
from membw.tables import Column, Command, Table
from membw.words import PASS, WORST_FIRST

MOST = 12  # columns of metrics; of more the headline, and what decided


def as_blocks(ranking: Ranking, limit: int) -> list[str | Table]:
    """Tables, and the lines between them; `limit`: rows per group, 0: all."""
    blocks: list[str | Table] = [ranking.counts()]
    blocks += [f'note: {note}' for note in ranking.notes]
    said = [*(v for v in ranking.verdicts if v.findings), *ranking.lost]
    alike = grouped(((v.verdict, v.reason), v.node) for v in said)
    order = sorted(alike, key=lambda key: WORST_FIRST.index(key[0]))
    blocks += [f'{fold(alike[key])} {key[0]} ({key[1]})' for key in order]
    blocks += [Command(f'measure again: {again(ranking, setting)}') for setting in ranking.low]
    for group in ranking.groups:
        blocks += ['', _head(ranking, group), _table(ranking, group, limit)]
    return blocks


def again(ranking: Ranking, setting: Case) -> str:
    """The command that measures its low nodes again, and healthy ones with them; of records by
    hand, what to do."""
    nodes = [*ranking.low[setting], *ranking.controls[setting]]
    if not setting.system:
        return f"'{setting.test}' {AGAIN} times on {fold(nodes)}; then rank all records"
    command = f'{command_of(setting)} --repeat={AGAIN} -J nodelist='
    if setting.test.startswith('cluster_'):
        return command + fold(nodes)
    if any(map(is_set, nodes)):
        return f'for nodes in {shlex.join(nodes)}; do {command}$nodes; done'
    return f'for node in $(nodeset -e {shlex.quote(fold(nodes))}); do {command}$node; done'


def command_of(setting: Case) -> str:
    """What ran a test of a system; a site's own checks are where it has them."""
    pinning = f'%pinning={setting.pinning}' if setting.pinning else ''
    words = ['membw', 'run', '--system', setting.system, '-n', setting.test + pinning]
    if setting.program == REFRAME:
        test = setting.test + ''.join(f'%{k}={v}' for k, v in setting.parameters)
        words = ['reframe', '-r', '--system', f'{setting.system}:{setting.partition}', '-n', test]
    return shlex.join([*words, '-p', setting.preset])


def _head(ranking: Ranking, group: Group) -> str:
    text = f'{group.setting.name}: {plural(len(group.nodes), "node")}'
    if group.peers < 2:
        return text
    limit = group.fail_limits[group.head]
    least = min((v.noticed for v in _of(ranking, group)), default=limit)
    seen = f'; a PASS would have shown {least:.1%}' if least < 1 else ''
    return f'{text}, FAIL above a loss of {limit:.1%} (margin {100 * MARGIN:.2g}%){seen}'


def _of(ranking: Ranking, group: Group) -> list:
    setting = group.setting
    return [v for v in ranking.verdicts if v.setting == setting and v.node in group.first]


def _table(ranking: Ranking, group: Group, limit: int) -> Table:
    """What is worst comes first: by the word, then by the loss of what decided."""
    rows = _of(ranking, group)
    rows.sort(key=lambda v: (WORST_FIRST.index(v.verdict), -v.loss))
    shown = [v for i, v in enumerate(rows) if not limit or i < limit or v.verdict != PASS]
    shortened = {group.headline, *(v.metric for v in rows)} if group.metrics[MOST:] else ()
    metrics = [m for m in group.metrics if not shortened or m in shortened]
    columns = (
        Column('node', 'node'),
        Column('verdict', 'verdict'),
        Column('loss', 'to median', True),
        *(Column(m, f'{m}, {group.any[m].unit}', True) for m in metrics),
    )
    lines = [
        [v.node, v.verdict, signed(-v.loss, '+.1%'), *(_text(v.figures.get(m)) for m in metrics)]
        for v in shown
    ]
    if len(shown) < len(rows):
        more = f'... {len(rows) - len(shown)} more'
        lines.append([more, PASS, *[''] * (len(columns) - 2)])
    every = [[v.figures[m].value for v in rows if m in v.figures] for m in metrics]
    lines.append(['median', '', '', *(decimals(median(v), 2) if v else '-' for v in every)])
    deviations = (group.deviations[group.metrics.index(m)] for m in metrics)
    lines.append(['deviation', '', '', *(f'{of:.2%}' if of == of else '-' for of in deviations)])
    return Table('', columns, lines)


def _text(figure: Figure | None) -> str:
    return figure.sign + decimals(figure.value, 2) if figure else '-'


def as_json(ranking: Ranking) -> dict:
    """The same for programs; losses are fractions, above 0: worse than the peers' median."""
    return {
        'schema': 'membw-rank-5',
        'nodes': [
            {
                'node': n.name,
                'verdict': n.verdict,
                'reason': n.reason,
                'findings': for_json(n.findings),
            }
            for n in ranking.nodes
        ],
        'verdicts': [
            {
                **v._asdict(),
                'figures': {metric: f.value for metric, f in v.figures.items()},
                'findings': for_json(v.findings),
                'reason': v.reason,
                'setting': v.setting.as_dict(),
                'noticed': v.noticed if v.noticed < 1 else None,
            }
            for v in ranking.verdicts
        ],
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
