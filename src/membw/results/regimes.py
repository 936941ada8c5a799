"""The states of a virtual machine whose host moves its cores: figures of different ones differ.

The nearest pair of cores tells them apart (`core_pair` of a record, before and after the
repetitions): it answered in 28 or in 125 ns, and Triad read 43 or 65 GB/s with it.
"""

import math
from collections.abc import Iterable, Sequence

# of two latencies; src/stream/main.c warns of as much within one run
APART = 1.5


def latencies(data: dict) -> tuple[float, ...]:
    """(before, after) in ns of a record's JSON object, and the least and the most that was seen
    between; () where the pair was not measured."""
    pairs = [data.get(name) or {} for name in ('core_pair', 'core_pair_after')]
    times = tuple(float(pair['ns']) for pair in pairs if pair.get('ns'))
    if len(times) < 2 or min(times) <= 0:
        return ()
    between = data.get('core_pair_between') or {}
    return (*times, *(float(between[name]) for name in ('least_ns', 'most_ns') if between))


def crossed(pair: Sequence[float], apart: float = APART) -> bool:
    """Whether the machine changed its state between two latencies."""
    return bool(pair) and max(pair) >= apart * min(pair)


def latency(pair: Sequence[float], apart: float = APART) -> float:
    """One figure of both, ns; 0: not known, or of two states."""
    return math.sqrt(pair[0] * pair[1]) if pair and not crossed(pair, apart) else 0.0


def groups(values: Iterable[float], apart: float = APART) -> list[tuple[float, float]]:
    """[(least, most)] of latencies in ns, fastest first: those between which nothing was seen for
    a factor of `apart`.  0 is not known, and in none."""
    spans: list[tuple[float, float]] = []
    for value in sorted(v for v in values if v > 0):
        if spans and value < apart * spans[-1][1]:
            spans[-1] = spans[-1][0], value
        else:
            spans.append((value, value))
    return spans


def number(value: float, spans: Sequence[tuple[float, float]]) -> int:
    """Which of the groups; -1: not known."""
    return next((i for i, (low, high) in enumerate(spans) if low <= value <= high), -1)


def text(group: Sequence[float]) -> str:
    """'28 ns', or '26 to 33 ns'; of a group or of several latencies."""
    low, high = (f'{value:.0f}' for value in (min(group), max(group)))
    return f'{low} ns' if low == high else f'{low} to {high} ns'
