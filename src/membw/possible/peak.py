"""The theoretical peak of a node: as given, from its modules, else at most, from its CPU."""

import functools
import os
import re
from pathlib import Path
from typing import NamedTuple

import yaml

from membw.checkout import root
from membw.presets.table import Facts
from membw.printable import plural
from membw.results.provenance import peak_of

BYTES = 8  # a transfer of a DDR channel


class Peak(NamedTuple):
    """`gbs` of `what`; 0 where it is not known, then `what` is why, and what to do."""

    gbs: float
    what: str
    family: str = ''  # the row of cpus.yaml
    is_most: bool = False  # of the fastest memory that the CPU takes
    is_slice: bool = False  # of a socket of which this node has a few cores


@functools.cache
def facts_of(name: str) -> Facts:
    """systems/facts/<name>.yaml."""
    return yaml.safe_load(Path(root(), 'systems', 'facts', f'{name}.yaml').read_text())


def number(text: str | None) -> int:
    """'25', '0xd4f'; -1: not known."""
    try:
        return int(text or '', 0)
    except ValueError:
        return -1


def fits(row: Facts, facts: Facts) -> bool:
    seen = facts.get('cpu_id') or {}
    model, stepping = number(seen.get('model')), number(seen.get('stepping'))
    maker = f'{seen.get("machine_vendor")} {seen.get("machine")} {seen.get("model")}'
    return (
        row.get('vendor') == seen.get('vendor')
        and row.get('family', number(seen.get('family'))) == number(seen.get('family'))
        and row.get('implementer', -1) == number(seen.get('implementer'))
        and number(seen.get('part')) in row.get('parts', [-1])
        and any(a <= model <= b for a, b in row.get('models', [[model, model]]))
        and row.get('steppings', [stepping])[0] <= stepping <= row.get('steppings', [stepping])[-1]
        and bool(re.search(row.get('named', ''), f'{facts.get("cpu_model") or ""} '))
        and bool(re.search(row.get('machine', ''), maker))
    )


def cpu_of(facts: Facts) -> Facts:
    """The row of cpus.yaml; {}: none."""
    return next((row for row in facts_of('cpus')['cpus'] if fits(row, facts)), {})


def of_node(record: Facts) -> Peak:
    facts = record.get('facts') or {}
    row, sockets = cpu_of(facts), facts.get('sockets') or 1
    family = row.get('name', '')
    gbs, source = peak_of(record)
    if gbs:
        return Peak(gbs, source.partition(';')[0], family)
    if row.get('in_package'):
        why = f'{family}: the peak of the {row["in_package"]} in its package is not known here'
        return Peak(0, why, family)
    if populated := configured(facts, row, sockets):
        return Peak(populated[0], populated[1], family)
    if not row:
        return Peak(0, unknown(facts))
    return at_most(row, sockets, facts)


def configured(facts: Facts, row: Facts, sockets: int) -> tuple[float, str] | None:
    """(GB/s, channels x speed) of the modules: a channel each, as far as there are channels."""
    modules = facts.get('dimms') or []
    speeds = [m.get('configured_mts') for m in modules]
    limit = sockets * row.get('channels', 0)
    channels = facts.get('memory_channels') or min(len(modules), limit)
    if facts.get('dimms_are_virtual') or not channels or not speeds or not all(speeds):
        return None
    mts = min(speeds)
    shown = f'{plural(channels, "channel")} x {row.get("kind") or "DDR"}-{mts:g}'
    if sockets > 1 and channels == limit:
        shown = f'{sockets} sockets x {row["channels"]} channels x {row["kind"]}-{mts:g}'
    return channels * mts * BYTES / 1000, shown


def at_most(row: Facts, sockets: int, facts: Facts) -> Peak:
    each, what = row.get('peak_gbs'), row['kind']
    if not each:
        each = row['channels'] * row['mts'] * BYTES / 1000
        what = f'{plural(row["channels"], "channel")} x {row["kind"]}-{row["mts"]}'
        if slower := row.get('or'):
            what += f'; {slower["kind"]}-{slower["mts"]} has less'
    cores, all_cores = facts.get('cores') or 0, sockets * row['cores']
    is_virtual = (facts.get('cpu_id') or {}).get('hypervisor')
    if (row.get('in_parts') and cores < all_cores) or (is_virtual and cores < all_cores // 2):
        return Peak(
            each, f'{cores} of up to {row["cores"]} cores; {what}', row['name'], True, True
        )
    what = f'{sockets} sockets x {what}' if sockets > 1 else what
    return Peak(sockets * each, what, row['name'], True)


def unknown(facts: Facts) -> str:
    seen = facts.get('cpu_id') or {}
    parts = [
        f'{key} {seen[key]}' for key in ('family', 'model', 'implementer', 'part') if seen.get(key)
    ]
    name = ' '.join((facts.get('cpu_model') or '').split())
    name = ', '.join(filter(None, [name, *parts])) or 'this CPU'
    is_in_vain = facts.get('dimms') or os.geteuid() == 0
    how = '' if is_in_vain else 'as root it is read, or '
    return f"{name}: not in systems/facts/cpus.yaml; {how}set 'peak_gbs' in systems/"
