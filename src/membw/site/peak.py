"""The theoretical peak of a partition: given, or channels x configured MT/s x bytes."""

from collections.abc import Iterator
from typing import Any

Facts = dict[str, Any]  # a mapping, as YAML has it

BYTES = 8  # a transfer of a DDR channel; HBM says its own
AGREE = 0.01  # data sheets round: 409.6 is printed as 410


def product(memory: Facts) -> str:
    """'16 channels x 3200 MT/s x 8 B', as people check it."""
    return (
        f'{memory["channels"]} channels x {memory["mts"]:g} MT/s x {memory.get("bytes", BYTES)} B'
    )


def derived(memory: Facts) -> float:
    """GB/s of the populated channels."""
    return memory['channels'] * memory['mts'] * memory.get('bytes', BYTES) / 1000


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
