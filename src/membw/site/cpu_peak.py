"""The theoretical peak of a node by two yardsticks: its CPUs' own, and what is populated of it."""

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from membw.checkout import root
from membw.presets.table import Facts, read_yaml
from membw.printable import plural
from membw.site.peak import BYTES

ROUNDING = 0.01  # 2666 and 2667 MT/s are one speed
SET = "set 'peak_gbs' in systems/NAME.yaml: channels x MT/s x 8 B"
MORE = ' has more'
POPULATED = 'channels are populated'
UNLOCKED = re.compile(
    r'Core\(TM\)|Ryzen| w\d-|W-3175X', re.I
)  # may run memory faster than specified
GIVEN = 'as given'  # by --peak
# '9R14', '8488C', '72F3', '285K', 'MI300A'; not 'Xeon Processor', 'EPYC-Rome', 'E312xx', '2.20GHz'
MODEL = re.compile(r'\d[\dA-Z]+\d(?!x)')


def peak_of(data: dict) -> tuple[float | None, str]:
    """(theoretical peak of the node in GB/s, None: not known; where that is from); of records
    before membw 1.1 by the keys that stream had then."""
    peak, case = data.get('peak') or {}, data.get('case') or {}
    gbs = peak.get('value') if peak.get('unit') == 'GB/s' else None
    return gbs or data.get('peak_gbs'), case.get('peak_source') or data.get('peak_note') or GIVEN


class Peak(NamedTuple):
    """`gbs`: what these CPUs should have; 0 where it is not known, then `what` is why."""

    gbs: float
    what: str
    row: Facts  # of cpus.yaml; {}: the CPU is not known
    sockets: int = 1
    is_most: bool = False  # by the fastest memory that the CPU takes: the modules were not read
    is_slice: bool = False  # of a socket of which this node has a few cores
    here: float = 0  # what is populated; 0: not known
    lacks: tuple[str, ...] = ()  # '12 of 16 channels are populated', '2400 of 3200 MT/s'
    notes: tuple[str, ...] = ()  # '16 modules: their channels are not known'
    channels: int = 0  # that these CPUs have; 0: not known
    carries: float = 0  # GB/s of a channel with the fastest memory that it takes, or has
    only_if: str = ''  # 'family 25, model 17': the CPU's name is hidden, its numbers may be false


class Modules(NamedTuple):
    """What the firmware says of the memory modules; 0: not known."""

    number: int = 0  # of DDR, on the CPUs' channels
    mts: float = 0  # the slowest, as configured
    rated: float = 0
    channels: int = 0  # that have a module
    sockets: int = 0  # the same
    apart: int = 0  # other modules: HBM, flash, on a CXL card


NONE = Modules()


@functools.cache
def facts_of(name: str) -> Facts:
    path = Path(root(), 'systems', 'facts', f'{name}.yaml')
    return read_yaml(yaml, path.read_text())


def number(text: str | None) -> int:
    """'25', '0xd4f'; -1: not known."""
    try:
        return int(text or '', 0)
    except ValueError:
        return -1


def name_of(facts: Facts) -> str:
    """Of the CPU, with one blank behind each word: 'Intel(R)  Xeon(R) CPU    E5-2670 0 @'."""
    return ''.join(f'{word} ' for word in (facts.get('cpu_model') or '').split())


def is_virtual(facts: Facts) -> bool:
    """Whether a hypervisor shows it, which may say that it is another machine."""
    return bool((facts.get('cpu_id') or {}).get('hypervisor'))


def is_masked(facts: Facts) -> bool:
    """Whether the name of an x86 CPU has no model: then its numbers may be a hypervisor's, too."""
    name = name_of(facts).partition('@')[0]
    return bool((facts.get('cpu_id') or {}).get('vendor')) and not MODEL.search(name)


def cpu_of(facts: Facts) -> Facts:
    """The row of cpus.yaml; {}: none."""
    return {} if is_masked(facts) else next(rows_of(facts, name_of(facts)), {})


def rows_of(facts: Facts, name: str | None) -> Iterator[Facts]:
    """The rows that fit; without a name those that the numbers alone name."""
    seen = facts.get('cpu_id') or {}
    names = 'family', 'model', 'stepping', 'implementer', 'part'
    family, model, stepping, implementer, part = (number(seen.get(name)) for name in names)
    maker = f'{seen.get("machine_vendor")} {seen.get("machine")} {seen.get("model")}'
    for row in facts_of('cpus')['cpus']:
        steppings = row.get('steppings', [stepping])
        if (
            row.get('vendor') == seen.get('vendor')
            and row.get('family', family) == family
            and row.get('implementer', -1) == implementer
            and part in row.get('parts', [-1])
            and any(a <= model <= b for a, b in row.get('models', [[model, model]]))
            and steppings[0] <= stepping <= steppings[-1]
            and ('models' in row if name is None else re.search(row.get('named', ''), name, re.I))
            and re.search(row.get('machine', ''), maker)
        ):
            yield row


def of_name(text: str) -> Facts:
    """The row of a CPU by what a person calls it: 'Xeon 6980P', '9654', 'Genoa'; {}: none."""
    makers = {'AuthenticAMD': 'AMD|EPYC|Ryzen', 'GenuineIntel': '(?<!-)Core|Intel|Xeon'}
    rows = facts_of('cpus')['cpus']
    for row in rows:
        others = (word for maker, word in makers.items() if maker != row.get('vendor'))
        if any(re.search(word, text, re.I) for word in others):
            continue
        if 'sold' in row and re.search(rf'(?<![\w-])({row["sold"]})(?![\w+-])', text, re.I):
            return row
        if 'named' in row and 'sold' not in row and re.search(row['named'], f' {text} ', re.I):
            return row
    return next((row for row in rows if text.lower() in row['name'].lower()), {})


def if_true(facts: Facts, sockets: int) -> Peak | None:
    """Of a hidden name: the most that a CPU of these numbers has; None: no such is known."""
    rows = [*rows_of(facts, name_of(facts))] or [*rows_of(facts, None)]
    tops = [of_cpus(row, sockets, NONE, facts) for row in rows if 'models' in row]
    if not tops:
        return None
    seen = facts['cpu_id']
    top = max(tops, key=lambda top: (top.gbs, top.row.get('cores', 0)))
    return top._replace(only_if=f'family {seen["family"]}, model {seen["model"]}')


def of_node(record: Facts) -> Peak:
    facts = record.get('facts') or {}
    return of_row(cpu_of(facts), facts, peak_of(record))


def of_row(row: Facts, facts: Facts, given_by: tuple[float | None, str] = (None, '')) -> Peak:
    """Of a node whose CPUs have this row, {} where they are not known; `given_by` as peak_of()."""
    sockets, modules = facts.get('sockets') or 1, modules_of(facts)
    top = of_cpus(row, sockets, modules, facts) if row else of_modules(modules, facts)
    if not top.gbs and is_masked(facts):
        top = if_true(facts, sockets) or top
    given, source = given_by
    if given:
        what = source.partition(';')[0]
        top = top._replace(gbs=given, what=what, is_most=False, is_slice=False, only_if='')
    limit, (_, mts) = sockets * row.get('channels', 0), memory_of(row, facts, modules)
    lacks = tuple(lacking(modules, limit, sockets, mts or modules.rated))
    here = populated(modules, limit, sockets) * (modules.mts or mts) * BYTES / 1000
    return top._replace(sockets=sockets, here=here, lacks=lacks, notes=tuple(notes(modules)))


def sure_limit(top: Peak, facts: Facts) -> float:
    """GB/s that no figure of this node can exceed; 0: not known."""
    is_about = top.is_most and top.row.get('is_about')
    return 0 if is_about or top.only_if or may_be_faster(facts, top) else top.gbs


def may_be_faster(facts: Facts, top: Peak) -> bool:
    """Whether its memory may be faster than is known here."""
    is_unlocked = UNLOCKED.search(name_of(facts))
    return bool(top.is_most and (is_unlocked or top.what.endswith(MORE)))


def modules_of(facts: Facts) -> Modules:
    """Of a real machine, and of DDR: other memory has other widths."""
    every = facts.get('dimms') or []
    modules = [module for module in every if module.get('type', 'DDR') == 'DDR']
    if facts.get('dimms_are_virtual') or is_virtual(facts):
        return NONE
    mts, rated = (
        min((module.get(key) or 0 for module in modules), default=0)
        for key in ('configured_mts', 'rated_mts')
    )
    channels, sockets = (facts.get(f'memory_{key}') or 0 for key in ('channels', 'sockets'))
    apart = len(every) - len(modules)
    return Modules(len(modules), mts, rated, channels, sockets, apart)


def populated(modules: Modules, limit: int, sockets: int) -> int:
    """Channels; where they are not known at most one for each module, on the sockets that have
    some."""
    most = limit * (modules.sockets or sockets) // sockets or modules.number
    channels = modules.channels or min(modules.number, most)
    return min(channels, limit or channels)


def notes(modules: Modules) -> Iterator[str]:
    """What is not known of the modules, or not counted."""
    if modules.number and not modules.channels:
        yield f'{plural(modules.number, "module")}: their channels are not known'
    if modules.number and modules.apart:
        yield f"{plural(modules.apart, 'module')} not on a CPU's channel, or no DDR: left out"


def memory_of(row: Facts, facts: Facts, modules: Modules = NONE) -> tuple[str, float]:
    """(kind, MT/s; 0: not known) of the fastest memory that this model takes, of the kind that
    it has."""
    other, name = row.get('or') or {}, name_of(facts)
    if 0 < modules.rated <= other.get('mts', 0):
        return other['kind'], other['mts']
    slower = (v for k, v in row.get('slower', {}).items() if re.search(k, name, re.I))
    return row.get('kind', 'DDR'), next(slower, row.get('mts', 0))


def lacking(modules: Modules, limit: int, sockets: int, mts: float) -> Iterator[str]:
    """What is not there of `limit` channels at `mts`."""
    channels, count = populated(modules, limit, sockets), modules.number
    if channels < limit and channels:
        yield f'{channels} of {limit} {POPULATED}'
    if count % sockets:
        yield f'{plural(count, "module")}: one socket has fewer'
    elif limit and count > limit and count % limit:
        yield f'{count} modules on {limit} channels: some have fewer'
    if modules.mts and modules.mts < (1 - ROUNDING) * mts:
        why = f'the modules are rated for {modules.rated:g}' if 0 < modules.rated < mts else ''
        why = why or ('two modules per channel' if limit and count > limit else '')
        yield f'{modules.mts:g} of {mts:g} MT/s' + (f' ({why})' if why else '')


def of_cpus(row: Facts, sockets: int, modules: Modules, facts: Facts) -> Peak:
    """Channels x speed of the family, by its largest model where nothing else is known."""
    name, (kind, mts) = row['name'], memory_of(row, facts, modules)
    mts, printed, count = max(mts, modules.mts), row.get('peak_gbs'), row.get('channels', 0)
    per = plural(count, 'channel')
    if row.get('in_package'):
        return Peak(0, f'{name}: the peak of its {row["in_package"]} is not known here', row)
    if not printed and not mts:
        how = 'as root their speed is read' if os.geteuid() else SET
        return Peak(0, f'{name}: {per} per socket, of a speed that is not known here; {how}', row)
    carries = 0 if printed else mts * BYTES / 1000
    shared = f'{row["kind"]}{", shared with a GPU" * row.get("shared", False)}'
    what = shared if printed else f'{per} x {kind}-{mts:g}'
    if not modules.mts and UNLOCKED.search(name_of(facts)):
        what += ' as specified'
    if not modules.mts and (other := row.get('or')):
        known = other.get('peak_gbs') or other.get('mts')
        what += f'; {other["kind"]} has {known}' if known else f'; {other["kind"]}{MORE}'
    cores, all_cores = facts.get('cores') or 0, sockets * row.get('cores', 0)
    is_slice = cores < (all_cores if row.get('in_parts') else all_cores // 2 * is_virtual(facts))
    if is_slice:
        what, sockets = f'{cores} of up to {row["cores"]} cores; {what}', 1
    elif sockets > 1:
        what = f'{sockets} sockets x {what}'
    top = Peak(
        (printed or count * carries) * sockets, what, row, sockets, channels=count * sockets
    )
    return top._replace(is_most=is_slice or not modules.mts, is_slice=is_slice, carries=carries)


def of_modules(modules: Modules, facts: Facts) -> Peak:
    """Of a CPU that is not known: at most a channel per module."""
    if not modules.mts:
        return Peak(0, unknown(facts), {})
    count = populated(modules, 0, 1)
    what = f'{plural(count, "channel" if modules.channels else "module")} x DDR-{modules.mts:g}'
    return Peak(count * modules.mts * BYTES / 1000, what, {}, is_most=not modules.channels)


def unknown(facts: Facts) -> str:
    seen, keys = facts.get('cpu_id') or {}, ('family', 'model', 'implementer', 'part')
    parts = [f'{key} {seen[key]}' for key in keys if seen.get(key)]
    name = ', '.join(filter(None, [name_of(facts).strip(), *parts])) or 'this CPU'
    if is_masked(facts):
        return f'{name}: a name without a model, as of a hypervisor; {SET}'
    how = '' if os.geteuid() == 0 else 'as root it is read, or '
    return f'{name}: not in systems/facts/cpus.yaml; {how}{SET}'
