"""The states of a virtual machine whose host moves its cores: figures of different ones differ.

The nearest pair of cores tells them apart (`core_pair` of a record, before and after the
repetitions): it answered in 28 or in 125 ns, and Triad read 43 or 65 GB/s with it.
"""

import math
from collections.abc import Iterable, Sequence

# of two latencies; src/stream/main.c warns of as much within one run
APART = 1.5


def latency(data: dict) -> float:
    """Of the nearest cores during the run of a record's JSON object, ns; 0: not measured, or of
    two states."""
    before, after = (
        float((data.get(name) or {}).get('ns') or 0) for name in ('core_pair', 'core_pair_after')
    )
    between = data.get('core_pair_between') or {}
    seen = [before, after, *(float(between[name]) for name in ('least_ns', 'most_ns') if between)]
    is_one = min(before, after) > 0 and max(seen) < APART * min(seen)
    return math.sqrt(before * after) if is_one else 0.0


def states(latencies: Iterable[float]) -> list[tuple[float, float]]:
    """[(least, most)] of latencies in ns, fastest first: those between which nothing was seen for
    a factor of APART. [] where there is one state; 0 is not known, and in none."""
    spans: list[tuple[float, float]] = []
    for value in sorted(v for v in latencies if v > 0):
        if spans and value < APART * spans[-1][1]:
            spans[-1] = spans[-1][0], value
        else:
            spans.append((value, value))
    return spans if len(spans) > 1 else []


def state(value: float, spans: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """That of the states which holds the latency; (): not known."""
    return next((span for span in spans if span[0] <= value <= span[1]), ())


def text(span: Sequence[float]) -> str:
    """'28 ns', or '26 to 33 ns'."""
    low, high = (f'{value:.0f}' for value in (min(span), max(span)))
    return f'{low} ns' if low == high else f'{low} to {high} ns'
