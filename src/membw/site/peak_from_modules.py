"""The theoretical peak of a node's memory, guessed from its modules: for a new system file.

Channels with a module x configured MT/s x 8 B. SMBIOS has no field for the channel: board makers
write it into the locators, each in a way of his own. Understood is a name that says "channel"
("P0 CHANNEL A", "P0_Node0_Channel3_Dimm0", "ChannelA-DIMM0") and a letter after "DIMM" that a
slot number follows ("P1-DIMMA1", "CPU1_DIMM_B2", "DIMM_P0_C0"). Bare names ("A1",
"PROC 1 DIMM 3") are not: there the letter is a socket, or the number runs through all slots.
Firmware errs and names mislead: this is a proposal for a person to check, never a fact of a run.
"""

import re
from collections import Counter
from typing import Any

Facts = dict[str, Any]  # a mapping, as YAML has it

SLOTS_PER_CHANNEL = 3  # more on a channel of DDR are not built
CHANNEL = re.compile(r'channel[ _-]*(\d+|[a-z](?![a-z]))', re.IGNORECASE)
LETTER = re.compile(r'dimm[ _-]*(p\d_)?[a-z](?=\d)', re.IGNORECASE)


class CannotTell(ValueError):
    """Why there is no guess."""


def memory_of_modules(facts: Facts) -> Facts:
    """{'channels': 16, 'mts': 3200, 'how': ...} by the facts of a record, as peak.derived() takes
    it; CannotTell where they do not suffice."""
    modules = facts.get('dimms') or []
    if facts.get('dimms_source') != 'dmi' or not modules:
        raise CannotTell('the firmware describes no module, or the run was not root')
    if facts.get('dimms_are_virtual'):
        raise CannotTell('a virtual machine, whose modules are made up')
    channels, how = _count(modules, facts.get('memory_channels'))
    return {'channels': channels, 'mts': _common_speed(modules), 'how': how}


def channel_count(facts: Facts) -> int:
    """How many channels have a module, 0 where the facts of a record do not tell."""
    try:
        return _count(facts.get('dimms') or [], facts.get('memory_channels'))[0]
    except CannotTell:
        return 0


def channel_name(module: Facts) -> str | None:
    """The channel of a module, with what names socket and controller; None: not told."""
    locator, bank = module.get('locator') or '', module.get('bank') or ''
    if in_bank := CHANNEL.search(bank):
        slot = locator.lower().find('dimm')  # the socket may stand there alone: "CPU1 DIMM 0"
        return locator[: max(slot, 0)] + bank[: in_bank.end()]
    in_locator = CHANNEL.search(locator) or LETTER.search(locator)
    return locator[: in_locator.end()] if in_locator else None


def channels_by_names(modules: list[Facts]) -> int:
    """How many channels have a module, by the names of their slots."""
    names = [channel_name(module) for module in modules]
    if None in names or not names:
        raise CannotTell('the names of the slots do not tell the channels')
    slots = Counter((module.get('locator'), module.get('bank')) for module in modules)
    if max(slots.values()) > 1:
        raise CannotTell('two modules have the same slot by name')
    if max(Counter(names).values()) > SLOTS_PER_CHANNEL:
        raise CannotTell('by their names more than three modules share a channel')
    return len(set(names))


def _count(modules: list[Facts], by_driver: int | None) -> tuple[int, str]:
    """The kernel's driver (EDAC) knows; the names only say."""
    try:
        by_names = channels_by_names(modules)
    except CannotTell:
        if not by_driver:
            raise
        return by_driver, 'as EDAC counts them'
    if not by_driver:
        return by_names, 'by the names of their slots'
    if by_driver != by_names:
        raise CannotTell('EDAC and the names of the slots give different numbers of channels')
    return by_driver, 'as EDAC counts them'


def _common_speed(modules: list[Facts]) -> Any:
    speeds = {module.get('configured_mts') for module in modules}
    if any(module.get('type') != 'DDR' for module in modules):
        raise CannotTell('a module is not of the DDR kind: its width is not known')
    if None in speeds:
        raise CannotTell('the configured speed of a module is not known')
    if len(speeds) > 1:
        raise CannotTell('the modules run at different speeds')
    return speeds.pop()
