"""The summary: one verdict, the counts behind it, and what needs attention, worst first."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from membw.plural import plural
from membw.report import past
from membw.report.rows import UNPINNED
from membw.results.hostlist import WORST_FIRST, fold, worst_verdicts

LISTED = 20
NAMES_SHOWN = 160  # characters of a list of nodes


def overall(rows, builds, fleet, nights):
    """(verdict, one line, [(what, how many, verdict)])."""
    runs = Counter(row.verdict for row in rows)
    nodes = Counter(verdict for verdict, _ in _nodes(fleet, rows).values())
    counts = [('builds failed', len(builds), 'FAIL')] if builds else []
    counts += [(f'runs {word}', runs[word], word) for word in WORST_FIRST if runs[word]]
    counts += [(f'nodes {word}', nodes[word], word) for word in WORST_FIRST if nodes[word]]
    changes = len(nights.recent())
    counts += [('changes for the worse', changes, 'CHANGE')] if changes else []
    words = [word for word in WORST_FIRST if runs[word] or nodes[word]]
    verdict = 'FAIL' if builds else words[0] if words else 'NOT MEASURED'
    line = f'{verdict}: {_line(runs, nodes)}'
    line += f'; {plural(len(builds), "build")} failed' if builds else ''
    allowed = sum(row.verdict == 'PASS' and bool(row.why) for row in rows)
    line += f'; {allowed} only because a reason against them was allowed' if allowed else ''
    return (
        verdict,
        line + (f'; lasting changes for the worse: {changes}' if changes else ''),
        counts,
    )


def _line(runs, nodes):
    parts = []
    for what, counter in (('runs', runs), ('nodes', nodes)):
        total = sum(counter.values())
        what = what[: -(total == 1) or None]
        bad = [f'{counter[w]:,} {w}' for w in WORST_FIRST[:-1] if counter[w]]
        if total:
            parts.append(f'{total:,} {what}' + (f', {", ".join(bad)}' if bad else ', all PASS'))
    return '; '.join(parts)


def _nodes(fleet, rows):
    """Nodes of a fleet; a single node is not compared: its runs, if any, speak for it."""
    worst = worst_verdicts(fleet.nodes)
    return worst if len(worst) > 1 or not rows else {}


def attention(rows, builds, fleet, nights):
    """[Alarm], the worst first of each kind."""
    alarms = [Alarm('FAIL', f'build {what}', why) for what, why in builds]
    bad = [row for row in rows if row.verdict != 'PASS']
    bad.sort(key=lambda row: WORST_FIRST.index(row.verdict))
    alarms += _some([Alarm(r.verdict, _name(r), r.why, 'bandwidth') for r in bad], 'runs')
    allowed = Counter(row.why for row in rows if row.verdict == 'PASS' and row.why)
    for why, count in allowed.items():
        alarms.append(
            Alarm('', f'{plural(count, "run")} PASS that would be INVALID', why, 'bandwidth')
        )
    alarms += _some(_of_nodes(fleet, rows), 'nodes')
    return alarms + _some([_of_change(event) for event in nights.recent()], 'changes')


@dataclass
class Alarm:
    """One line of what needs attention."""

    verdict: str
    what: str
    why: str = ''
    where: str = ''  # in the page
    node: str = ''


def _some(alarms, what):
    if len(alarms) <= LISTED:
        return alarms
    rest = Alarm('', f'and {len(alarms) - LISTED:,} more lines on {what}', '', alarms[0].where)
    return [*alarms[:LISTED], rest]


def _of_nodes(fleet, rows):
    """Nodes with the same complaint in one line, as n[1-3,7]."""
    alike = defaultdict(list)
    for name, (verdict, why) in _nodes(fleet, rows).items():
        if verdict != 'PASS':
            alike[verdict, why.split('; ')[0]].append((name, why))
    alarms = [_alarm(verdict, why, nodes) for (verdict, why), nodes in alike.items()]
    return sorted(alarms, key=lambda alarm: WORST_FIRST.index(alarm.verdict))


def _alarm(verdict, why, nodes):
    if len(nodes) == 1:
        return Alarm(verdict, nodes[0][0], nodes[0][1], 'nodes', nodes[0][0])
    names = shorten(fold([name for name, _ in nodes]))
    return Alarm(verdict, f'{len(nodes)} nodes', f'{why}: {names}', 'nodes')


def _of_change(changes):
    first = changes[0]
    kernels = ' '.join(dict.fromkeys(change.kernel for change in changes))
    groups = {change.group for change in changes}
    where = first.group if len(groups) == 1 else f'in {len(groups)} groups'
    parts = (f'{kernels} since {first.night}', where, past.because(changes))
    what = f'{past.percents(changes)} {past.who(changes)}'
    return Alarm('CHANGE', what, '; '.join(filter(None, parts)), 'history')


def shorten(names):
    return names if len(names) <= NAMES_SHOWN else f'{names[:NAMES_SHOWN].rsplit(",", 1)[0]},...]'


def _name(row):
    parts = (row.test, row.where, row.preset, row.pinning)
    return ' '.join(part for part in parts if part != UNPINNED)
