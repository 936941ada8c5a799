"""Made-up ladders with a known answer: no level is made up, intervals hold the true sizes."""

import random
import subprocess
from collections.abc import Callable
from typing import NamedTuple

import pytest
from made_up_ladders import KIB, MIB, ROUNDS, Cache, Machine, ladder
from places import ROOT

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
def judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """judge(machine, rounds): the levels of each of the noisy curves."""
    program = tmp_path_factory.mktemp('probe') / 'ladder_levels'
    probe = ROOT / 'tests/probes/ladder_levels.c'
    line = ['gcc', '-O1', '-fopenmp', '-w', str(probe), '-o', str(program)]
    subprocess.run(line, check=True, timeout=300)

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


def check_sizes(machine: Machine, judged: list[Judged]) -> None:
    """Each level is found, no more, in 95 % of the curves, and its interval holds the size."""
    caches = machine.caches[:-1]
    right = [levels for levels in judged if len(levels) == len(machine.caches)]
    assert len(right) >= 0.95 * len(judged)
    for number, cache in enumerate(caches):
        within = sum(levels[number].low <= cache.bytes <= levels[number].high for levels in right)
        assert within >= 0.9 * len(right), (number, [x[number] for x in right[:5]])


def test_three_levels_are_found(judge: Judge) -> None:
    judged = judge(PLAIN, steady(PLAIN))
    check_sizes(PLAIN, judged)


def test_a_cache_of_260_mib_is_found_under_a_cap_of_1_gib(judge: Judge) -> None:
    large = Cache(260 * MIB, 20, 50, 95, 0.6)
    machine = Machine([L1, L2, large, MEMORY], [48 * KIB, MIB, 260 * MIB], 1024 * MIB)
    judged = judge(machine, steady(machine))
    check_sizes(machine, judged)


def test_a_v_cache_that_is_declared_as_a_third_is_found_at_its_size(judge: Judge) -> None:
    stacked = Cache(96 * MIB, 15, 60, 500, 0.6)
    machine = Machine([L1, L2, stacked, MEMORY], [48 * KIB, MIB, 32 * MIB], 1024 * MIB)
    judged = judge(machine, steady(machine))
    check_sizes(machine, judged)


def test_an_undeclared_cache_before_memory_is_a_level(judge: Judge) -> None:
    side = Cache(512 * MIB, 120, 22, 400, 0.6)
    far = Cache(0, 250, 12, 90)
    machine = Machine([L1, L2, L3, side, far], [48 * KIB, MIB, 32 * MIB], 8192 * MIB)
    judged = judge(machine, steady(machine))
    check_sizes(machine, judged)


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


def test_without_a_third_level_none_is_made_up(judge: Judge) -> None:
    machine = Machine([L1, L2, MEMORY], [48 * KIB, MIB], 256 * MIB)
    judged = judge(machine, steady(machine))
    check_sizes(machine, judged)
    assert not any(levels.by_rate for levels in judged)


@pytest.mark.parametrize(
    'walk_from,walk_ns', [(8 * MIB, 9.0), (64 * MIB, 30.0), (4096 * MIB, 9.0)]
)
def test_page_walks_of_no_page_size_are_taken_for_a_level(
    judge: Judge, walk_from: float, walk_ns: float
) -> None:
    machine = PLAIN._replace(walk_from=walk_from, walk_ns=walk_ns)
    check_sizes(machine, judge(machine, steady(machine)))
