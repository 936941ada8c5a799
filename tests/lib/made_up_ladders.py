"""Made-up ladders with a known answer: what a cache of each size and policy would read."""

import math
import random
from collections.abc import Iterable
from typing import NamedTuple

KIB, MIB = 1024, 1024**2
ROUNDS = 5


class Cache(NamedTuple):
    bytes: float
    ns: float
    one: float  # GB/s of one thread
    all: float  # GB/s of all threads
    spread: float = 0.0  # of its edge, in octaves: 0: it is sharp


class Machine(NamedTuple):
    """Caches from the fastest on; memory is the last, of any size."""

    caches: list[Cache]
    declared: list[float]
    most: float  # bytes of the largest working set
    threads: int = 2
    walk_from: float = math.inf  # bytes beyond which each load has a page walk
    walk_ns: float = 0.0


def sizes(declared: list[float], most: float) -> list[int]:
    """As the ladder chooses them: 8 per octave near declared caches, else 4, 2 and 1, bytes."""
    chosen, at = [], 0
    while (size := 4096 * 2 ** (at / 8)) <= most * 1.001:
        near = any(0.7 * c < size < 1.5 * c for c in declared)
        last = declared[-1] if declared else 0
        step = 1 if near else 2 if size < 2 * MIB else 4 if size < 2 * last else 8
        chosen.append(round(size / 512) * 512)
        at = (at // step + 1) * step
    return chosen


def missing(cache: Cache, bytes_: float) -> float:
    """The part of the loads that miss the cache: none within it, all well beyond it."""
    if not cache.spread:
        return float(bytes_ > cache.bytes)
    at = math.log2(bytes_ / cache.bytes) / cache.spread + 0.5
    return min(max(at, 0.0), 1.0)


def figures(machine: Machine, caches: list[Cache], bytes_: float) -> tuple[float, float, float]:
    """(ns, GB/s of one thread, GB/s of all) of a working set of each thread."""

    def mixed(size: float, cost: dict[Cache, float]) -> float:
        total, part = 0.0, 1.0
        for cache in caches:
            missed = missing(cache, size) if cache is not caches[-1] else 0.0
            total += part * (1 - missed) * cost[cache]
            part *= missed
        return total

    ns = mixed(bytes_, {c: c.ns for c in caches})
    if bytes_ > machine.walk_from:
        ns += machine.walk_ns
    one = 1 / mixed(bytes_, {c: 1 / c.one for c in caches})
    private = bytes_ <= 2 * MIB
    together = bytes_ if private else bytes_ * machine.threads
    return ns, one, 1 / mixed(together, {c: 1 / c.all for c in caches})


def noisy(rng: random.Random, value: float, slower: float) -> float:
    """Within 2 %, and one in fifteen disturbed: up to three times as slow."""
    value *= 1 + rng.gauss(0, 0.02)
    if rng.random() < 1 / 15:
        value *= (1 + 2 * rng.random()) ** slower
    return value


def ladder(machine: Machine, rounds: list[list[Cache]], rng: random.Random) -> str:
    """The text that tests/probes/ladder_levels.c reads; ROUNDS has the caches of each round."""
    steps = sizes(machine.declared, machine.most)
    words: list[object] = [machine.threads, 1, len(machine.declared), *machine.declared]
    words += [len(steps), *steps, len(rounds)]
    points: list[list[list[float]]] = [[] for _ in range(6)]
    for caches in rounds:
        rows = [figures(machine, caches, step) for step in steps]
        points[0].append([noisy(rng, ns, 1) for ns, _, _ in rows])
        points[1].append([0.0] * len(rows))
        points[2].append([noisy(rng, one, -1) for _, one, _ in rows])
        points[3].append([noisy(rng, one, -1) for _, one, _ in rows])
        within = [step * machine.threads <= machine.most * 1.001 for step in steps]
        for kind in (4, 5):
            row = [
                noisy(rng, rate, -1) * ok for (_, _, rate), ok in zip(rows, within, strict=True)
            ]
            points[kind].append(row)
    words += flat(points)
    return ' '.join(str(word) for word in words)


def flat(points: list[list[list[float]]]) -> Iterable[str]:
    return (f'{value:.6g}' for kind in points for row in kind for value in row)
