"""Is that good? In at most three lines: share of the peak, what others reach, what limits it."""

from typing import Any

from membw.plural import plural
from membw.possible import peak, published
from membw.possible.published import NOT_SAID, Others

Facts = dict[str, Any]  # a mapping, as YAML has it
MARGIN = 0.03


def lines_of(
    record: Facts, gbs: float, is_bound: bool = False, stores: str = NOT_SAID
) -> list[str]:
    """Of Triad: `stores` as in published.yaml; `is_bound`: the figure is a lower bound."""
    top = peak.of_node(record)
    sockets = (record.get('facts') or {}).get('sockets') or 1
    return [
        share(top, gbs, is_bound, stores),
        *filter(None, [compared(published.others(top, stores, sockets), top, gbs, is_bound)]),
    ]


def share(top: peak.Peak, gbs: float, is_bound: bool, stores: str) -> str:
    by = '' if stores == NOT_SAID else f', by {stores} stores'
    if not top.gbs:
        return f'Peak unknown: {top.what}.'
    if top.is_slice:
        cores, _, what = top.what.partition('; ')
        return f'{cores}: the peak of the whole socket is at most {top.gbs:.4g} GB/s ({what}).'
    least = 'At least ' if is_bound else ''
    most = 'a peak of at most' if top.is_most else 'the peak of'
    return f'{least}{100 * gbs / top.gbs:.0f} % of {most} {top.gbs:.4g} GB/s ({top.what}){by}.'


def compared(others: Others | None, top: peak.Peak, gbs: float, is_bound: bool) -> str:
    """As it should be: within what the others reach, and a margin."""
    if not others:
        return ''
    value = gbs if others.unit == 'GB/s' else 100 * gbs / top.gbs
    ends = f'{others.low:.0f}' + (
        f' to {others.high:.0f}' if others.high - others.low >= 1 else ''
    )
    machines = len({row['machine'] for row in others.machines})
    who = f'{ends} {others.unit} ({plural(machines, "machine")})'
    how = f'stores {NOT_SAID}' if others.stores == NOT_SAID else f'{others.stores} stores'
    if value >= (1 - MARGIN) * others.low:
        word = 'as it should be' if value <= (1 + MARGIN) * others.high else 'above them'
    elif is_bound or (top.is_most and others.unit == '%'):
        word = 'possibly below them'
    else:
        word = 'below them'
    return f'Published, {how}: {who}: {word}.'
