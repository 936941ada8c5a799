"""What the memory of a record's node can do by its hardware, and what of it is not there."""

from typing import NamedTuple

import msgspec

from membw.results.record import RATES, Record

ROUNDING = 0.01
MOST = 2_000  # nodes that are kept


class Hardware(NamedTuple):
    peak: float = 0.0  # GB/s; 0: not known
    is_known: bool = False  # not "at most"
    lacks: str = ''  # '12 of 16 channels are populated'; by what these CPUs take
    here: float = 0.0  # GB/s of what is populated; 0: not known


_kept: dict[int, tuple[object, Hardware]] = {}


def of(record: Record) -> Hardware:
    """A peak that is given, as by `peak_gbs` of a system, is what was bought: that it has, if so
    much is populated. Equal facts are one object in all records."""
    if record.device:
        from membw.site import card_peak

        return Hardware(card_peak.peak(record.device.name or '', record.device.memory_mib), True)
    key = id(record.facts)
    if key not in _kept:
        if len(_kept) > MOST:
            _kept.clear()
        _kept[key] = record.facts, _by_facts(record)
    own, given = _kept[key][1], record.peak
    if not given or not given.value or given.unit not in RATES:
        return own
    peak = given.value * RATES[given.unit]
    is_there = 0 < peak <= (1 + ROUNDING) * own.here
    return own._replace(peak=peak, is_known=True, lacks='' if is_there else own.lacks)


def _by_facts(record: Record) -> Hardware:
    from membw.site.cpu_peak import is_virtual, of_node, sure_limit

    facts = msgspec.to_builtins(record.facts)
    if is_virtual(facts):
        return Hardware()
    top = of_node({'facts': facts})
    return Hardware(sure_limit(top, facts), not top.is_most, '; '.join(top.lacks), top.here)
