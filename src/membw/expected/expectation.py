"""What the memory of a CPU should reach: its peak, the ceilings of the kernels, a loss's cost."""

import re
from collections.abc import Iterator

from membw.errors import MembwError, did_you_mean
from membw.expected import published
from membw.expected.proof import ceiling
from membw.expected.sentence import hidden
from membw.presets.table import Facts
from membw.printable import amount, plural
from membw.site import cpu_peak as peak
from membw.tables import Block, Cell, Column, Table

KERNELS = ('copy', 'scale'), ('add', 'triad'), ('read',), ('write',)
COLUMNS = (
    Column('kernels', 'GB/s at most'),
    Column('ordinary', 'each store reads its line', right=True),
    Column('other', 'claimed, non-temporal', right=True),
)
STORES = {
    True: 'claim a line that is wholly overwritten: the right column.',
    False: 'read each line before: the left column.',
    None: 'may read each line before, or some: between the columns.',
}
MODULES = re.compile(r'(\d+)x(?:\d+(?:\.\d+)?[GT]i?B?-)?(\d{3,5})', re.I)


def facts_of(cpu: str, sockets: int, dimms: str) -> tuple[Facts, Facts]:
    """(facts as of a node with such CPUs and modules, the row of cpus.yaml); MembwError."""
    row = peak.of_name(cpu)
    if not row:
        names = [one['name'] for one in peak.facts_of('cpus')['cpus']]
        listed = "'systems/facts/cpus.yaml' lists them"
        raise MembwError(f"'{cpu}' is no CPU that is known here", did_you_mean(cpu, names, listed))
    cores = sockets * row.get('cores', 0)
    # a model alone may be one that takes faster memory than specified
    is_desktop = re.search('Ryzen|Core', row['name']) and not re.search('EPYC|Xeon|E[57]-', cpu)
    name = f'{cpu} Ryzen' if is_desktop else cpu
    facts: Facts = {'cpu_model': name, 'sockets': sockets, 'cores': cores, 'dimms': []}
    for word in dimms.split(',') if dimms else ():
        found = MODULES.fullmatch(word.strip())
        if not found:
            raise MembwError(f"invalid value for '--dimms': '{word}'", 'as in 24x64G-4800')
        module = {'configured_mts': float(found[2]), 'rated_mts': float(found[2]), 'type': 'DDR'}
        facts['dimms'] += [module] * int(found[1])
        facts['memory_channels'] = min(len(facts['dimms']), sockets * row.get('channels', 0))
    return facts, row


def blocks(top: peak.Peak, facts: Facts) -> Iterator[Block]:
    """What `membw expect` prints."""
    name = top.row.get('name') or peak.name_of(facts).strip()
    if not top.gbs:
        yield f'Peak unknown: {top.what}{"; --dimms gives it" * bool(top.row)}.'
        return
    most = 'at most ' * (top.is_most or bool(top.only_if))
    yield (
        hidden(top, facts)
        if top.is_slice or top.only_if
        else (f'{name}: the peak is {most}{amount(top.gbs)} GB/s ({top.what}).')
    )
    if top.lacks:
        yield f'{"; ".join(top.lacks)}: at most {amount(top.here)} GB/s.'
    yield ''
    gbs = top.here if top.lacks else top.gbs
    yield Table('', COLUMNS, [_ceilings(gbs, kernels) for kernels in KERNELS])
    yield f'Ordinary stores of this CPU {STORES[top.row.get("claims")]}'
    yield from costs(top, facts)
    like = [row for row in published.figures() if _is_like(row, top)]
    if like:
        yield ''
        yield published.table('Published of this CPU and its neighbours', like)


def _ceilings(gbs: float, kernels: tuple[str, ...]) -> tuple:
    both = (gbs * ceiling(kernels[0], kind) for kind in ('ordinary', 'non-temporal'))
    return (', '.join(kernels), *(Cell(value, f'{amount(value)}') for value in both))


def costs(top: peak.Peak, facts: Facts) -> Iterator[str]:
    """What a module that is missing or slow takes, and what would prove that none is."""
    if not (top.channels and top.carries):
        yield 'Its channels are not known here: a figure proves none of them.'
        return
    part = 100 / top.channels
    yield (
        f'A channel without a module takes {amount(top.carries)} GB/s, {part:.2g} % of the peak; '
        'a slower one its part of that.'
    )
    if top.channels > 1 and not peak.may_be_faster(facts, top):
        least, every = (top.channels - 1) * top.carries, plural(top.channels, 'channel')
        yield (
            f'More than {amount(least)} GB/s moved prove all {every}; '
            f'each {amount(top.carries)} less, one channel less.'
        )
    if top.is_most and peak.is_virtual(facts):
        yield 'A virtual machine cannot read the modules of its host: so it is the most.'
    elif top.is_most:
        yield 'Which modules there are, and how fast, only root can read: so it is the most.'


def _is_like(row: Facts, top: peak.Peak) -> bool:
    kin = published.families(top.row)
    return row.get('family') in kin and 'peak' in row and bool(published.rate(row))
