"""What `membw history` prints: a line per change with the numbers to recompute it."""

from collections.abc import Sequence

from membw.history.changes import FLEET, Change
from membw.history.nights import Nights
from membw.printable import amount, plural, signed
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
    """Lines: what was looked at, the changes, the samples that are still short, the verdict."""
    names = sorted(nights.nights)
    head = f'{plural(len(nights.nodes), "node")}, {plural(len(names), "night")} {names[0]}'
    worse = sum(map(is_red, changes))
    verdict = f'{plural(worse, "change")} for the worse' if worse else 'nothing got worse'
    if not is_judged(nights):
        verdict = f'UNDECIDED: {plural(len(names), "night")}, {LEAST} are needed'
    lines = [*map(line, changes), *short_samples(nights)]
    return [f'{head} .. {names[-1]}', *lines, f'Verdict: {verdict}']


def short_samples(nights: Nights) -> list[str]:
    """Of the newest sample, while it is too short to be judged by itself."""
    night = max(nights.samples, default='')
    count = sum(name >= night for name in nights.nights)
    if not night or count >= LEAST:
        return []
    so_far = f'{night} {nights.samples[night]}: a new sample, {plural(count, "night")}'
    missing = f'{LEAST - count} missing until it is compared with itself'
    return [f'{so_far}, {missing}; --since {night} shows what changes from then on']


def line(change: Change) -> str:
    """'2026-08-01 n042 STEP -3.1% triad (..): median of the 28 nights before 166.6 GB/s, ...'."""
    is_step, is_fleet = change.kind == STEP, change.nodes == (FLEET,)
    of_step = f'{change.nights} nights before', 'first 7 nights'
    nights = of_step if is_step else (f'first {change.nights} nights', 'last 28')
    who = FLEET if is_fleet else fold(list(change.nodes))
    of_medians = f', 4 x {change.of_medians:.2%} of medians of 7' if is_step else ''
    one = 'the median node' if is_fleet else change.of
    whose = f'of {one} ' if is_fleet or change.nodes[1:] else ''
    parts = [
        f'{change.night} {who} {change.kind} {change.size:+.1%} {" ".join(change.metrics)} '
        f'({change.name}): median {whose}of the {nights[0]} {amount(change.before, 5)} '
        f'{change.unit}, of the {nights[1]} {amount(change.after, 5)}',
        f'all nodes meanwhile {signed(change.fleet, "+.1%")}' if change.fleet else '',
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
        'samples': nights.samples,
        'worse': sum(map(is_red, changes)),
        'changes': [change._asdict() for change in changes],
        'problems': list(problems),
    }
