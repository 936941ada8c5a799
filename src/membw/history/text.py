"""What `membw history` prints: a line per change with the numbers to recompute it."""

from collections.abc import Sequence

from membw.history.changes import FLEET, Change
from membw.history.nights import Nights
from membw.printable import plural
from membw.results.hostlist import fold
from membw.statistics.now_and_before import LEAST_BEFORE, NOW, STEP

LEAST = LEAST_BEFORE + NOW  # nights


def is_red(change: Change) -> bool:
    """For the worse, not back, not acknowledged."""
    return change.is_worse and not change.is_back and not change.acknowledged


def is_judged(nights: Nights) -> bool:
    """Whether any node was measured in as many nights as a STEP needs."""
    return nights.most >= LEAST


def as_blocks(nights: Nights, changes: Sequence[Change]) -> list[str]:
    """Lines: what was looked at, the changes, the verdict."""
    names = sorted(nights.nights)
    head = f'{plural(len(nights.nodes), "node")}, {plural(len(names), "night")} {names[0]}'
    worse = sum(map(is_red, changes))
    verdict = f'{plural(worse, "change")} for the worse' if worse else 'nothing got worse'
    if not is_judged(nights):
        verdict = f'NOT JUDGED: {plural(len(names), "night")}, {LEAST} are needed'
    return [f'{head} .. {names[-1]}', *map(line, changes), f'Verdict: {verdict}']


def line(change: Change) -> str:
    """'2026-08-01 n042 STEP -3.1% triad: median before 166.6 GB/s, of the 7 nights 161.4; ...'."""
    nights = (
        ('28 nights before', 'first 7 nights')
        if change.kind == STEP
        else ('first 28 nights', 'last 28')
    )
    who = FLEET if change.nodes == (FLEET,) else fold(list(change.nodes))
    of_medians = f', 4 x {change.of_medians:.2%} of medians of 7' if change.kind == STEP else ''
    parts = [
        f'{change.night} {who} {change.kind} {change.size:+.1%} {" ".join(change.metrics)} '
        f'({change.name}): median of the {nights[0]} {change.before:.4g} {change.unit}, of the '
        f'{nights[1]} {change.after:.4g}',
        f'limit {change.limit:.1%}: 2 deviations of {change.deviation:.2%}{of_medians}, or the '
        'margin',
        change.cause,
        'back since' if change.is_back else '',
        f'acknowledged: {change.acknowledged}' if change.acknowledged else '',
    ]
    return '; '.join(filter(None, parts))


def as_json(nights: Nights, changes: Sequence[Change], problems: Sequence[str]) -> dict:
    """The same for programs."""
    return {
        'schema': 'membw-history-2',
        'nights': sorted(nights.nights),
        'judged': is_judged(nights),
        'worse': sum(map(is_red, changes)),
        'changes': [change._asdict() for change in changes],
        'problems': list(problems),
    }
