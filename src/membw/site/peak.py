"""The theoretical peak of a partition: given, or channels x configured MT/s x bytes."""

from collections.abc import Iterator
from typing import Any

from membw.presets.table import Facts

BYTES = 8  # a transfer of a DDR channel; HBM says its own
KEYS = ('peak_gbs', 'peak_source', 'memory')
AGREE = 0.01  # data sheets round: 409.6 is printed as 410


def product(memory: Facts) -> str:
    """'16 channels x 3200 MT/s x 8 B', as people check it."""
    return (
        f'{memory["channels"]} channels x {memory["mts"]:g} MT/s x {memory.get("bytes", BYTES)} B'
    )


def derived(memory: Facts) -> float:
    """GB/s of the populated channels."""
    return memory['channels'] * memory['mts'] * memory.get('bytes', BYTES) / 1000


def placed(data: Any, file: str) -> Any:
    """The system with its peak in `extras`, wherever a person wrote it: at the top, for all
    partitions, or in a partition; with the file for a source where none is named."""
    if not isinstance(data, dict) or not isinstance(data.get('partitions'), list):
        return data
    above = {key: data.pop(key) for key in KEYS if key in data}
    for partition in filter(lambda p: isinstance(p, dict), data['partitions']):
        own = above | {key: partition.pop(key) for key in KEYS if key in partition}
        extras = partition.setdefault('extras', {}) if own else partition.get('extras')
        if isinstance(extras, dict):
            extras |= own | extras
            if 'peak_gbs' in extras:
                extras.setdefault('peak_source', f'as set in {file}')
    return data


def completed(extras: Facts) -> Facts:
    """The extras with peak_gbs and peak_source, where they follow from the memory."""
    memory = extras.get('memory')
    if not memory or 'peak_gbs' in extras:
        return dict(extras)
    kind = f'{memory["kind"]}, ' if 'kind' in memory else ''
    source = f'{kind}{product(memory)}; {memory["source"]}'
    return {**extras, 'peak_gbs': derived(memory), 'peak_source': source}


def problems(extras: Facts) -> Iterator[tuple[str, str, str]]:
    """(key, fact, hint) where a peak that is given is not what the memory gives."""
    memory, given = extras.get('memory'), extras.get('peak_gbs')
    if not memory or not given:
        return
    gbs = derived(memory)
    if abs(given - gbs) > AGREE * gbs:
        fact = f'is {given:g}, but {product(memory)} give {gbs:g}'
        yield 'peak_gbs', fact, "fix one of them, or drop 'peak_gbs': it follows from 'memory'"
