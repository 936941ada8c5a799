"""Is that good? Share of the peak, what others reach, what limits it, what a store costs."""

import math

from membw.possible import peak, published
from membw.possible.published import NOT_SAID, Others
from membw.presets.table import Facts
from membw.printable import plural

MARGIN = 0.03
CORES, MEMORY = 1.7, 1.15  # what twice the threads gain where these are the limit
CLAIMED = 0.7  # share of the reads that are avoided: like the CPUs that claim their lines


def lines_of(
    record: Facts, gbs: float, is_bound: bool = False, stores: str = NOT_SAID
) -> list[str]:
    """Of Triad: `stores` as in published.yaml; `is_bound`: the figure is a lower bound."""
    top = peak.of_node(record)
    facts, threads = record.get('facts') or {}, record.get('threads') or 0
    looks = record.get('looks') or {}
    is_part = 0 < threads < (facts.get('cores') or 0)  # others used all of their cores
    if stores == 'ordinary' and (looks.get('write_allocate_avoided') or 0) >= CLAIMED:
        stores = 'claimed'
    lines = [
        share(top, gbs, is_bound, stores),
        ''
        if is_part
        else compared(
            published.others(top, stores, facts.get('sockets') or 1), top, gbs, is_bound
        ),
        limit(looks, threads),
        cost(looks),
        *apart(looks),
    ]
    return [line for line in lines if line]


def rates(looks: Facts, *names: str) -> list[float]:
    """GB/s of each look; [] where one is missing or was disturbed."""
    own = [looks.get(name) or {} for name in names]
    is_whole = all(look.get('gbs') and not look['is_bound'] for look in own)
    return [look['gbs'] for look in own] if is_whole else []


def limit(looks: Facts, threads: int) -> str:
    """The cores or the memory, by what twice the threads gain."""
    if not (looks.get('half') or {}).get('gbs'):
        return ''
    if not rates(looks, 'ordinary', 'half'):
        return 'What limits it is not known: other processes disturbed the look.'
    whole, half = rates(looks, 'ordinary', 'half')
    few = looks['half_threads']
    verb = 'reaches' if few == 1 else 'reach'
    reach = f'{few} of {threads} threads {verb} {100 * half / whole:.0f} % of it'
    if whole / half >= CORES:
        return f'These cores are the limit, not the memory: {reach}.'
    if whole / half > MEMORY:
        return f'Cores and memory limit it together: {reach}.'
    one = rates(looks, 'one')
    since = f', saturated from some {math.ceil(whole / one[0])} cores on' if one else ''
    return f'The memory is the limit: {reach}{since}.'


def apart(looks: Facts) -> list[str]:
    """The NUMA domains that read less than the others."""
    return [
        f'NUMA domain {number} reads {-100 * own["apart"]:.0f} % less than the others.'
        for number, own in (looks.get('domains') or {}).items()
        if own['apart']
    ]


def cost(looks: Facts) -> str:
    """What an ordinary store costs, where the memory is saturated."""
    avoided, both = looks.get('write_allocate_avoided'), rates(looks, 'ordinary', 'nontemporal')
    if avoided is None or not both:
        return ''
    gain = f'non-temporal stores give {100 * (both[1] / both[0] - 1):+.0f} %'
    if avoided >= CLAIMED:
        return f'Ordinary stores cost no read here: {gain}.'
    return f'{100 * (1 - avoided):.0f} % of the ordinary stores cost a read here: {gain}.'


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
