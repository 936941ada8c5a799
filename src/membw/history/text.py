"""Tells a judged history, as text or as JSON."""

from dataclasses import asdict

import numpy as np

from membw.history.changes import FAR, NEAR
from membw.history.series import as_date, as_day
from membw.plural import plural
from membw.printable import printable
from membw.results.hostlist import fold
from membw.statistics.change_points import LEAST
from membw.tables import Column, Table

SHOWN = 60  # characters of a value that changed
GAPS = 3  # reasons in the verdict; standard error has all
LATE = 7  # nights until it was sure, that are told


def is_worse(change):
    """Not what may be the season, what is known of, nor a node that has long not been measured."""
    is_over = change.recovered or change.gone or change.season or change.acknowledged
    return change.direction in ('slower', 'noisier') and not is_over


def as_json(every, changes, left, with_series):
    """The object that history.py describes."""
    data = {
        **_extent(every),
        'worse': sum(map(is_worse, changes)),
        'left_out': {k: getattr(left, k) for k in LEFT},
        'too_short': too_short(every),
        'not_judged': {n: why for why, nodes in left.not_judged.items() for n in nodes},
        'problems': left.gaps(),
        'verdict': verdict(every, changes, left),
        'changes': [asdict(c) for c in changes],
    }
    if with_series:
        data['series'] = [row for series in every for row in _series_rows(series, changes)]
    return data


def _extent(every):
    nights = np.unique(np.concatenate([s.nights for s in every]))
    return {
        'from': as_date(nights[0]),
        'to': as_date(nights[-1]),
        'nights': len(nights),
        'nodes': len({n for s in every for n in s.nodes}),
        'figures': int(sum((~np.isnan(s.rates)).sum() for s in every)),
    }


def _series_rows(series, changes):
    changed = {c.node for c in changes if c.node and c.group == series.label}
    for k, metric in enumerate(series.metrics):
        figures = series.figures(k)
        low, median, high = np.nanpercentile(figures, [5, 50, 95], axis=0)
        yield {
            'group': series.label,
            'kernel': metric.name,
            'unit': metric.unit,
            'better': metric.better,
            'nights': [as_date(n) for n in series.nights],
            'median': _plain(median),
            'low': _plain(low),
            'high': _plain(high),
            'nodes': {n: _plain(figures[i]) for i, n in enumerate(series.nodes) if n in changed},
        }


def _plain(values):
    return [None if np.isnan(v) else round(float(v), 3) for v in values]


def as_blocks(every, changes, left, limit):
    """Lines and a table: what was looked at, one row a change, a verdict."""
    seen = _extent(every)
    yield (
        f'{plural(seen["nodes"], "node")}, {plural(seen["nights"], "night")} '
        f'{seen["from"]} .. {seen["to"]}, {seen["figures"]} figures '
        f'in {plural(len(every), "group")}'
    )
    rows = [_row(event) for event in merged(changes)]
    shown = rows[-limit:] if limit else rows
    if len(shown) < len(rows):
        yield f'... {len(rows) - len(shown)} earlier changes, --limit 0 shows them'
    if shown:
        yield Table('', COLUMNS, shown, indent='')
    yield from _left_text(every, left)
    yield f'Verdict: {verdict(every, changes, left)}'


COLUMNS = tuple(Column(title.partition(',')[0], title) for title in
                ('night', 'scope', 'who', 'change', 'kernels', 'group', 'why, until'))  # fmt: skip


def merged(changes):
    """Lists of changes that are one event: the same kind, who and group, the same days."""
    events = []
    for c in changes:
        for event in reversed(events):
            first = event[0]
            same = (c.scope, c.node, c.group, c.direction, c.field, c.shape) == (
                first.scope, first.node, first.group, first.direction, first.field, first.shape
            )  # fmt: skip
            if same and _at_once(first, c) and all(c.kernel != o.kernel for o in event):
                event.append(c)
                break
        else:
            events.append([c])
    return events


def _at_once(first, later):
    """Whether two kernels' changes began together, or one while the other was on and ended."""
    apart = as_day(later.night) - as_day(first.night)
    within = later.back and first.back and later.night < first.back
    return within or apart <= (NEAR if later.shape == 'step' else FAR)


def _row(changes):
    first = changes[0]
    who = first.node or plural(first.nodes, 'node')
    kernels, why = ' '.join(c.kernel for c in changes), '; '.join(_why(changes))
    return first.night, first.scope, who, percents(changes), kernels, first.group, why


def percents(event):
    """'-3.1 %', or '-3.3 .. -2.9 %' where the kernels differ; 'noisier' of what scatters more."""
    if event[0].shape == 'scatter':
        return 'noisier'
    texts = sorted({f'{change.percent:+.1f}' for change in event}, key=float)
    return f'{texts[0]} %' if len(texts) == 1 else f'{texts[0]} .. {texts[-1]} %'


def _why(changes):
    first = changes[0]
    for name, (before, after) in first.fields.items():
        if name == first.field:
            yield f'{name}: {_short(before)} -> {_short(after)}'
    others = [name for name in first.fields if name != first.field]
    if others:
        yield f'also {" ".join(others)}'
    yield from notes(changes)


def notes(changes):
    """What became of it since, and how it came."""
    first = changes[0]
    until = max(c.until for c in changes)
    if first.shape == 'drift':
        yield f'drifts until {until}'
    if first.season:
        yield 'or a season: there is no year before to tell'
    if first.share:
        before, after = (max(c.share[i] for c in changes) for i in range(2))
        yield f'intermittent: {after:.0%} of its nights, {before:.0%} before, until {until}'
    if first.scatter:
        before, after = (max(c.scatter[i] for c in changes) for i in range(2))
        yield f'a night scatters by {after:.1f} %, {before:.1f} % before'
    sure = min(c.sure for c in changes)
    if first.shape == 'step' and as_day(sure) - as_day(first.night) > LATE:
        yield f'sure since {sure}'
    if all(c.gone for c in changes):
        yield f'last measured {first.last}'
    if all(c.back for c in changes):
        yield f'back since {max(c.back for c in changes)}'
    elif all(c.recovered for c in changes):
        yield 'back since'
    if all(c.acknowledged for c in changes):
        yield f'acknowledged: {printable(first.acknowledged)}'


def _short(text):
    return text if len(text) <= SHOWN else f'{text[: SHOWN - 3]}...'


LEFT = {
    'invalid': 'INVALID',
    'incomplete': 'not all ranks of the node reported',
    'undated': 'without a date',
    'future': 'dated in the future',
    'nothing': 'without a figure or a record',
    'wide': "an interval far wider than those of the node's other runs",
    'crossed': 'the nearest cores were moved while it measured',
}


def _left_text(every, left):
    for words in left_counts(left):
        yield f'left out: {words}'
    short, nodes = too_short(every), sum(len(s.nodes) for s in every)
    if short:
        yield f'not judged yet: {short} of {nodes} series: fewer than {2 * LEAST} nights'


def left_counts(left):
    """'3 runs: INVALID' for each reason that there was."""
    for name, why in LEFT.items():
        count = getattr(left, name)
        if count:
            yield f'{plural(count, "run")}: {why}'


def too_short(every):
    """Series (a node in a group) with too few nights for any change to show."""
    return sum(int(((s.software >= 0).sum(axis=1) < 2 * LEAST).sum()) for s in every)


def is_red(changes, left):
    """Whether the exit status is 1: something is worse, or was not judged."""
    return bool(left.gaps()) or any(map(is_worse, changes))


def verdict(every, changes, left):
    """One line that says as much as the exit status: what got worse, and what nobody knows."""
    return '; '.join([_of_changes(every, changes, left), *_acknowledged(changes), *_gaps(left)])


def _of_changes(every, changes, left):
    worse = [event[0].scope for event in merged(changes) if any(map(is_worse, event))]
    if worse:
        kinds = [k for k in ('node', 'fleet', 'software') if k in worse]
        parts = ', '.join(f'{worse.count(kind)} {kind}' for kind in kinds)
        return f'slower and not recovered: {parts} change{"s" * (len(worse) > 1)}'
    if too_short(every) == sum(len(s.nodes) for s in every):
        return 'too few nights to judge anything'
    return 'nothing got worse' + ' in what was judged' * bool(left.gaps())


def _acknowledged(changes):
    known = sum(any(c.acknowledged for c in event) for event in merged(changes))
    return [f'{known} acknowledged'] * bool(known)


def _gaps(left):
    """'2 nodes were not judged: n3 (its clock), ...', and the first thing that was not read."""
    nodes = sum(map(len, left.not_judged.values()))
    if nodes:
        parts = [f'{fold(n)} ({why})' for why, n in left.not_judged.items()]
        were = 'was' if nodes == 1 else 'were'
        yield f'{plural(nodes, "node")} {were} not judged: {", ".join(_first(parts))}'
    if left.problems:
        first = '; '.join(_first([printable(str(p)) for p in left.problems], 1))
        yield f'not all could be read: {first}'


def _first(parts, most=GAPS):
    more = len(parts) - most
    return parts if more <= 0 else [*parts[:most], f'and {more} more on standard error']
