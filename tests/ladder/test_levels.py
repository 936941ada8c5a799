"""Made-up ladders with a known answer: no level is made up, intervals hold the true sizes."""

import random
import subprocess
from collections.abc import Callable
from typing import NamedTuple

import pytest
from made_up_ladders import KIB, MIB, ROUNDS, Cache, Machine, ladder

CURVES = 80
L1, L2 = Cache(48 * KIB, 1.1, 290, 560, 0.3), Cache(1 * MIB, 3.8, 105, 200, 0.6)
L3, MEMORY = Cache(32 * MIB, 13, 50, 95, 0.6), Cache(0, 105, 24, 42)
PLAIN = Machine([L1, L2, L3, MEMORY], [48 * KIB, MIB, 32 * MIB], 256 * MIB)


class Level(NamedTuple):
    ns: float
    is_memory: float
    bytes: float
    low: float
    high: float
    varies: float


class Judged(list[Level]):
    by_rate = 0.0  # bytes of a cache that rates alone show


Judge = Callable[[Machine, Callable[[random.Random], list[list[Cache]]]], list[Judged]]


@pytest.fixture(scope='module')
def judge(build_program) -> Judge:
    """judge(machine, rounds): the levels of each of the noisy curves."""
    program = build_program('tests/probes/ladder_levels.c', '-O1')

    def of(machine: Machine, rounds: Callable[[random.Random], list[list[Cache]]]) -> list[Judged]:
        rng = random.Random(27)
        curves = [ladder(machine, rounds(rng), rng) for _ in range(CURVES)]
        done = subprocess.run(
            [str(program)],
            input=' '.join([str(CURVES), *curves]),
            text=True,
            capture_output=True,
            check=True,
            timeout=300,
        )
        return [read(line) for line in done.stdout.splitlines()]

    return of


def read(line: str) -> Judged:
    *levels, by_rate = line.split(';')
    judged = Judged(Level(*map(float, level.split())) for level in levels)
    judged.by_rate = float(by_rate)
    return judged


def steady(machine: Machine) -> Callable[[random.Random], list[list[Cache]]]:
    return lambda rng: [machine.caches] * ROUNDS


FOUND = {
    'three levels': PLAIN,
    'a cache of 260 MiB under a cap of 1 GiB':
        Machine([L1, L2, Cache(260 * MIB, 20, 50, 95, 0.6), MEMORY],
                [48 * KIB, MIB, 260 * MIB], 1024 * MIB),
    'a V-Cache that is declared as a third':
        Machine([L1, L2, Cache(96 * MIB, 15, 60, 500, 0.6), MEMORY],
                [48 * KIB, MIB, 32 * MIB], 1024 * MIB),
    'an undeclared cache before memory':
        Machine([L1, L2, L3, Cache(512 * MIB, 120, 22, 400, 0.6), Cache(0, 250, 12, 90)],
                [48 * KIB, MIB, 32 * MIB], 8192 * MIB),
    'without a third level': Machine([L1, L2, MEMORY], [48 * KIB, MIB], 256 * MIB),
    # page walks of no page size are taken for a level
    'walks from 8 MiB': PLAIN._replace(walk_from=8 * MIB, walk_ns=9.0),
    'walks from 64 MiB': PLAIN._replace(walk_from=64 * MIB, walk_ns=30.0),
    'walks from 4 GiB': PLAIN._replace(walk_from=4096 * MIB, walk_ns=9.0),
}  # fmt: skip


@pytest.mark.parametrize('machine', FOUND.values(), ids=FOUND)
def test_each_level_is_found_at_its_size_and_no_more(judge: Judge, machine: Machine) -> None:
    """In 95 % of the curves; its interval holds the size."""
    judged, caches = judge(machine, steady(machine)), machine.caches[:-1]
    right = [levels for levels in judged if len(levels) == len(machine.caches)]
    assert len(right) >= 0.95 * len(judged)
    for number, cache in enumerate(caches):
        within = sum(levels[number].low <= cache.bytes <= levels[number].high for levels in right)
        assert within >= 0.9 * len(right), (number, [x[number] for x in right[:5]])
    assert len(caches) > 2 or not any(levels.by_rate for levels in judged)


def test_a_share_that_changes_from_round_to_round_is_a_range(judge: Judge) -> None:
    def rounds(rng: random.Random) -> list[list[Cache]]:
        shares = [rng.choice([4, 8, 11, 16, 24]) * MIB for _ in range(ROUNDS - 2)]
        shares += [4 * MIB, 24 * MIB]
        rng.shuffle(shares)
        return [[L1, L2, L3._replace(bytes=share), MEMORY] for share in shares]

    judged = judge(PLAIN, rounds)
    assert sum(len(levels) == 4 for levels in judged) >= 0.95 * CURVES
    ranges = [levels[2] for levels in judged if len(levels) == 4]
    assert sum(level.varies for level in ranges) >= 0.95 * len(ranges)
    assert sum(level.low < 6 * MIB and level.high > 16 * MIB for level in ranges) >= 0.9 * CURVES
    assert all(not levels[0].varies for levels in judged)


@pytest.mark.parametrize('fourth, shown', [(50.0, 16 * MIB), (24.0, 0)])
def test_a_cache_that_latency_does_not_show_is_named_by_its_rates(
    judge: Judge, fourth: float, shown: float
) -> None:
    """Page walks made memory begin at 1 MiB, where one thread read 50 GB/s to 16 MiB."""
    walks = Cache(16 * MIB, 100, fourth, 95)
    machine = Machine([L1, L2, walks, MEMORY], [48 * KIB, MIB, 32 * MIB], 256 * MIB)
    found = [levels.by_rate for levels in judge(machine, steady(machine))]
    assert sum(0.7 * shown <= size <= 1.5 * shown for size in found) >= 0.95 * CURVES
