"""Is that good? What is missing, the share of the peak, what others reach, what limits it."""

import math
from collections.abc import Iterable

from membw.expected import published
from membw.expected.published import CLAIMED, FEWEST, MOVED, NOT_SAID, is_claiming, stores_of
from membw.presets.table import Facts
from membw.printable import plural
from membw.site import cpu_peak as peak

MARGIN = 0.03
CORES, MEMORY = 1.7, 1.15  # what twice the threads gain where these are the limit
SURE = {'': '', 'lower': 'At least ', 'upper': 'At most ', 'unknown': 'About '}
BELOW, LESS = 'below them', 'less than it should have'
A_NODE = "a second node ('membw node --peers')"


def lines_of(record: Facts, gbs: float, bound: str = '', stores: str = '') -> list[str]:
    """Of Triad: `stores` as in published.yaml, else those of the record; `bound` as in
    results.figure.Figure: what may be too high is compared with nothing."""
    top, stores = peak.of_node(record), stores or stores_of(record)
    facts, threads = record.get('facts') or {}, record.get('threads') or 0
    looks = record.get('looks') or {}
    is_bound, is_too_high = bound == 'lower', bound in ('upper', 'unknown')
    is_part = 0 < threads < (facts.get('cores') or 0)  # others used all of their cores
    if stores == 'ordinary' and is_claiming(record, top, gbs):
        stores = 'claimed'
    here = [f'At most {top.here:.4g} of {top.gbs:.4g} GB/s'] if 0 < top.here < top.gbs else []
    lines = [
        # what the CPUs could have and have not
        f'{". ".join(["; ".join(top.lacks), *here])}.' if top.lacks else '',
        share(top, gbs, bound, stores),
        '' if is_part or top.is_slice or is_too_high else compared(top, gbs, is_bound, stores),
        limit(looks, threads),
        cost(looks),
        *apart(looks),
    ]
    return [line for line in lines if line]


def is_low(lines: Iterable[str]) -> bool:
    """Whether one of these sentences says so."""
    return any(text in line for line in lines for text in (BELOW, LESS, peak.POPULATED))


def share(top: peak.Peak, gbs: float, bound: str, stores: str) -> str:
    """Of what the CPUs should have, whatever is populated; what the stores mean for it."""
    if not top.gbs:
        return f'Peak unknown: {top.what}.'
    if top.is_slice:
        cores, _, what = top.what.partition('; ')
        return f'{cores}: the peak of the whole socket is at most {top.gbs:.4g} GB/s ({what}).'
    least = SURE[bound]
    most = 'a peak of at most' if top.is_most else 'the peak of'
    by = '' if stores == NOT_SAID else f', by {stores} stores'
    if stores == 'ordinary':
        moved = 100 * MOVED * gbs / top.gbs
        by += f': up to {moved:.0f} % with the lines that they read before'
    return f'{least}{100 * gbs / top.gbs:.0f} % of {most} {top.gbs:.4g} GB/s ({top.what}){by}.'


def named(stores: str) -> str:
    return f'stores {NOT_SAID}' if stores == NOT_SAID else f'{stores} stores'


def compared(top: peak.Peak, gbs: float, is_bound: bool, stores: str) -> str:
    """'As it should be' only where the loss of a channel would show."""
    like = published.like(top, stores)
    count = published.machines(like)
    how = named(stores)
    if not top.row:
        return f'{A_NODE.capitalize()} decides.'
    if not top.gbs or count < FEWEST:
        return f'Published, {how}: {few(top, like)}. {A_NODE.capitalize()} decides.'
    low, high = min(published.shares(like)), max(published.shares(like))
    value, unseen = 100 * gbs / top.gbs, 1 - (1 - MARGIN) * low / high
    is_narrow = unseen < 1 / top.row.get('channels', math.inf)
    if value > (1 + MARGIN) * high:
        word = 'above them'
    elif value < (1 - MARGIN) * low and (is_bound or top.is_most):
        word = f'possibly {BELOW}. {A_NODE.capitalize()} decides'
    elif value < (1 - MARGIN) * low:
        word = BELOW
    elif top.lacks:
        word = f'within them, and yet {LESS}'
    elif is_narrow and not top.is_most and top.here:
        word = f'as it should be: a loss of {100 * unseen:.0f} % would show'
    else:
        word = f'within them: a loss of up to {100 * unseen:.0f} % would not show. '
        word += f'{A_NODE.capitalize()} decides'
    who = f'{span((low, high))} % of the peak ({plural(count, "machine")})'
    return f'Published, {how}, {published.kin_of(top.row)}: {who}: {word}.'


def few(top: peak.Peak, like: list[Facts]) -> str:
    """What one or two machines reach, without a word on it; in GB/s only of as many sockets."""
    if not like:
        return 'no figure of this CPU or its like'
    own = [row for row in like if row['family'] == top.row['name']]
    rows, whose = (own, 'this CPU') if own else (like, published.kin_of(top.row))
    rates = [gbs for row in rows for gbs in published.ends(row['triad'])]
    is_same = own and {row['sockets'] for row in own} == {top.sockets}
    known = f'{span(rates)} GB/s, ' if is_same else ''
    who = f'{plural(published.machines(rows), "machine")} of {whose}'
    return f'{who}: {known}{span(published.shares(rows))} % of the peak'


def span(values: Iterable[float]) -> str:
    """'716 to 754', '78'."""
    each = [f'{value:.0f}' for value in sorted(values)]
    return ' to '.join(dict.fromkeys((each[0], each[-1])))


def asked(gbs: float, peak_gbs: float, stores: str = NOT_SAID) -> list[str]:
    """Of a contract: the share of the peak that it asks for, and what others reach so."""
    part = 100 * gbs / peak_gbs
    rows = [row for row in published.usable() if row['stores'] == stores]
    low, high = min(published.shares(rows)), max(published.shares(rows))
    word = 'within them'
    if part > high:
        word = 'above them: nobody published so much'
    elif part < low:
        word = f'{BELOW}: a machine that lost {100 * (1 - part / low):.0f} % passes'
    count = plural(published.machines(rows), 'machine')
    never = ': no memory gives that' if part > 100 else ''
    return [
        f'{gbs:g} GB/s is {part:.0f} % of the peak of {peak_gbs:g} GB/s{never}.',
        f'Published, {named(stores)}, all CPUs: {span((low, high))} % ({count}): {word}.',
    ]


def rates(looks: Facts, *names: str) -> list[float]:
    """GB/s of each look; [] where one is missing or was disturbed."""
    own = [looks.get(name) or {} for name in names]
    is_whole = all(look.get('gbs') and not look['is_bound'] for look in own)
    return [look['gbs'] for look in own] if is_whole else []


def limit(looks: Facts, threads: int) -> str:
    if not (looks.get('half') or {}).get('gbs'):
        return ''
    if not rates(looks, 'ordinary', 'half'):
        return 'What limits it is not known: the look was disturbed.'
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
