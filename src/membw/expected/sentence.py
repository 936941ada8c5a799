"""Is that good? What is proven, the share of the peak, what others reach, what limits it."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from membw.expected import cards, proof, published
from membw.expected.published import CLAIMED, ENOUGH, LEAST_MACHINES, NOT_SAID, READ, kind_of
from membw.presets.table import Facts
from membw.printable import amount, plural
from membw.results.record import inner
from membw.site import cpu_peak as peak
from membw.statistics import MARGIN

LOOK, MANY = 0.65, 16  # of the peak, by so many cores per socket: no sound machine reads less
CORES, MEMORY = 1.7, 1.15  # what twice the threads gain where these are the limit
SURE = {'': '', 'lower': 'At least ', 'upper': 'At most ', 'unknown': 'About '}
BELOW = 'below them'
A_NODE = "a second node ('membw node --peers')"


class Said(NamedTuple):
    """Sentences, and whether one says that the figure is low, or why."""

    lines: list[str]
    is_low: bool


def lines_of(record: Facts, gbs: float, bound: str = '') -> Said:
    """Of Triad; `bound` as in results.figure.Figure: what may be too high is not compared."""
    if device := record.get('device'):
        of_card = [*cards.lines_of(device, gbs, SURE[bound])]
        return Said([line for line, _ in of_card], any(low for _, low in of_card))
    top = peak.of_node(record)
    facts, threads = inner(record, 'facts'), record.get('threads') or 0
    looks, stores = inner(record, 'looks'), kind_of(record, top.row)
    is_part = 0 < threads < (facts.get('cores') or 0)  # others used all of their cores
    is_alone = is_part or top.is_slice or top.only_if or bound in ('upper', 'unknown')
    compared = [] if is_alone else [*others(record, top, gbs, bound == 'lower', stores)]
    proof_line = proven(record, top)
    lines = [
        *lacks(top),
        proof_line,
        share(top, gbs, bound, stores, facts),
        *(f'{note}.' for note in top.notes),
        *(text for text, _ in compared),
        '' if is_alone or proof_line else f'{A_NODE.capitalize()} decides.',
        limit(looks, threads),
        cost(looks),
        *apart(looks),
    ]
    return Said([*filter(None, lines)], bool(top.lacks) or any(low for _, low in compared))


def lacks(top: peak.Peak) -> Iterator[str]:
    """What the CPUs could have and have not."""
    if top.lacks:
        here = f' At most {amount(top.here)} of {amount(top.gbs)} GB/s.'
        yield f'{"; ".join(top.lacks)}.' + here * (0 < top.here < top.gbs)


def proven(record: Facts, top: peak.Peak) -> str:
    """How many channels work, by this run alone."""
    is_sure = not peak.may_be_faster(record.get('facts') or {}, top)
    found = proof.proven(record, top) if is_sure else None
    if not found:
        return ''
    if found.number > found.channels:
        false = (
            f'its numbers ({top.only_if}) are not true'
            if top.only_if
            else 'a cache, or another CPU'
        )
        return f'More than {plural(found.channels, "channel")} carry: {found.why}: {false}.'
    if top.only_if:
        return ''  # of whose channels?
    missing = found.channels - found.number
    said = found.text(is_part=peak.is_virtual(record['facts']) or top.is_slice)
    if missing and not top.is_slice and (not top.here or top.notes):
        said += f' {missing} missing {"is" if missing == 1 else "are"} not excluded:'
        larger = 'larger arrays (-n), ' * (found.without_caches > found.number)
        said += f' {larger}root or {A_NODE} would tell.'
    return said


def share(top: peak.Peak, gbs: float, bound: str, stores: str, facts: Facts) -> str:
    """Of what the CPUs should have, whatever is populated; what the stores mean for it."""
    if not top.gbs:
        return f'Peak unknown: {top.what}.'
    if top.is_slice or top.only_if:
        return hidden(top, facts)
    least = SURE[bound]
    most = 'a peak of at most' if top.is_most else 'the peak of'
    by = '' if stores == NOT_SAID else f', by {stores} stores'
    if stores == 'ordinary':
        moved = 100 * proof.factor('triad') * gbs / top.gbs
        by += f': up to {moved:.0f} % with the line that each reads first'
    return f'{least}{100 * gbs / top.gbs:.0f} % of {most} {amount(top.gbs)} GB/s ({top.what}){by}.'


def hidden(top: peak.Peak, facts: Facts) -> str:
    """Of a slice of a socket, or of a CPU whose name a hypervisor hides: it clears nobody."""
    lines, what = [], top.what
    if top.only_if:
        name = top.row['name']
        lines.append(f"If the CPU's numbers ({top.only_if}) are true, it is one of {name}:")
    if top.is_slice:
        cores, _, what = top.what.partition('; ')
        part = top.gbs * (facts.get('cores') or 0) / top.row['cores']
        lines.append(f'{cores}, which may draw more than their part, {part:.3g} GB/s:')
    of = 'the whole socket' if top.is_slice else 'the node'
    return ' '.join([*lines, f'the peak of {of} is at most {amount(top.gbs)} GB/s ({what}).'])


def named(stores: str) -> str:
    return {NOT_SAID: f'stores {NOT_SAID}', READ: 'read alone'}.get(stores, f'{stores} stores')


def others(
    record: Facts, top: peak.Peak, gbs: float, is_bound: bool, stores: str
) -> Iterator[tuple[str, bool]]:
    """(sentence, whether it says that the figure is low) of Triad, and of what is read alone, each
    by its like; then whether it is low for any CPU."""
    facts, read = inner(record, 'facts'), inner(record, 'metrics', 'read')
    per_channel = (facts.get('cores') or math.inf) / (top.channels or 1)
    rates = {stores: (gbs, is_bound)}
    if read.get('value') and read.get('bound') in (None, '', 'lower'):
        rates[READ] = read['value'], bool(read.get('bound'))
    for kind, rate in rates.items() if top.row and per_channel >= ENOUGH else ():
        if published.like(top, kind):
            yield compared(top, *rate, kind)
    if said := look(record, top):
        yield said, True


def look(record: Facts, top: peak.Peak) -> str:
    """Low for any CPU, whatever its like: no verdict, and no PASS."""
    every = [m for m in proof.moved(record, top.row) if m.kernel != 'write']
    cores = (inner(record, 'facts').get('cores') or 0) / top.sockets
    if not every or not top.gbs or cores < MANY or {'is_about', 'shared'} & set(top.row):
        return ''
    most = max(m.most for m in every) / top.gbs
    if most >= LOOK:
        return ''
    why = ', or its modules are slower than the fastest' * top.is_most
    said = f'Look: it moves {100 * most:.0f} % of the peak at most, and no sound machine of'
    return f'{said} {MANY} cores per socket is known below {100 * LOOK:.0f} %{why}.'


def compared(top: peak.Peak, gbs: float, is_bound: bool, stores: str) -> tuple[str, bool]:
    """'As it should be' only where the loss of a channel would show; of fewer than three machines
    without a word."""
    like = published.like(top, stores)
    low, high = min(published.shares(like)), max(published.shares(like))
    count = published.machines(like)
    who = f'{span((low, high))} % of the peak ({plural(count, "machine")})'
    said = f'Published, {named(stores)}, {published.kin_of(top.row)}: {who}'
    if not top.gbs or count < LEAST_MACHINES:
        return f'{said}.', False
    value, unseen = 100 * gbs / top.gbs, 1 - (1 - MARGIN) * low / high
    is_narrow = unseen < 1 / top.row.get('channels', math.inf)
    is_below = value < (1 - MARGIN) * low
    is_high = value > (1 + MARGIN) * high
    if is_high:
        word = 'above them'
    elif is_below:
        word = f'{"possibly " * (is_bound or top.is_most)}{BELOW}'
    elif top.lacks:
        word = 'within them, and yet less than it should have'
    elif is_narrow and not top.is_most and top.here and not top.notes:
        word = f'as it should be: a loss of {100 * unseen:.0f} % would show'
    else:
        word = f'within them: a loss of up to {100 * unseen:.0f} % would not show'
    return f'{said}: {word}.', is_below


def span(values: Iterable[float]) -> str:
    """'716 to 754', '78'."""
    each = [f'{value:.0f}' for value in sorted(values)]
    return ' to '.join(dict.fromkeys((each[0], each[-1])))


def asked(gbs: float, peak_gbs: float, stores: str, kernel: str) -> list[str]:
    """Of a contract: the share of the peak that it asks for; of Triad what others reach so."""
    part = 100 * gbs / peak_gbs
    never = ': no memory gives that' if part > 100 else ''
    lines = [f'{gbs:g} GB/s is {part:.0f} % of the peak of {peak_gbs:g} GB/s{never}.']
    rows = [row for row in published.usable() if row['stores'] == stores]
    if kernel == 'triad' and rows:
        low, high = min(published.shares(rows)), max(published.shares(rows))
        word = 'within them'
        if part > high:
            word = 'above them: let the vendor show it first'
        elif part < low:
            word = f'{BELOW}: a machine that lost {100 * (1 - part / low):.0f} % passes'
        who = f'{span((low, high))} % ({plural(published.machines(rows), "machine")})'
        lines.append(f'Published, {named(stores)}, all CPUs: {who}: {word}.')
    return lines


def rates(looks: Facts, *names: str) -> list[float]:
    """GB/s of each look; [] where one is missing or was disturbed."""
    own = [inner(looks, name) for name in names]
    is_whole = all(look.get('gbs') and not look['is_bound'] for look in own)
    return [look['gbs'] for look in own] if is_whole else []


def limit(looks: Facts, threads: int) -> str:
    if not inner(looks, 'half').get('gbs'):
        return ''
    if not rates(looks, 'ordinary', 'half'):
        return 'Whether cores or memory limit it is not known: the run was disturbed.'
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
        for number, own in inner(looks, 'domains').items()
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
