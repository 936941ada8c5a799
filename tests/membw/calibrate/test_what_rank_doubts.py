"""What `membw rank` would FAIL or call SUSPECT sets no tolerance, and nothing else is left out."""

import fleet_generator as gen
import numpy as np
import pytest

from membw.calibrate.samples import select
from membw.rank.fleet import judge
from membw.results.record import parse_record
from membw.statistics import tolerance
from membw.statistics.tolerance import Refusal, Rule, propose

CHOSEN = 'node', 'gcc-o2', 'likwid'
RNG = np.random.default_rng(11)


def noisy(draw, nodes=100, **options):
    """A fleet whose figures all differ as `draw` says, half of it alike in all kernels."""
    fleet = gen.healthy(nodes, 1, **options)
    shape = fleet.rates.shape
    noise = (draw((*shape[:2], 1)) + draw(shape)) / np.sqrt(2)
    fleet.rates = 320_000 / shape[1] * np.array(gen.RELATIVE) * np.exp(noise)
    return fleet


def left(shape):
    return -0.008 * RNG.lognormal(0, 0.7, shape)


def t3(shape):
    return 0.004 * RNG.standard_t(3, shape)


def planted(plant, *which, **options):
    fleet = gen.healthy(100, 3, **options)
    plant(fleet, *which)
    return fleet


def own_noise(nodes, spread, seed):
    """A fleet in which no two kernels have anything in common."""
    fleet = gen.healthy(nodes, 1, noise=0.0)
    fleet.rates = fleet.rates * (
        1 + np.random.default_rng(seed).normal(0, spread, fleet.rates.shape)
    )
    return fleet


def by_a_little():
    """A node low by less in each kernel than its noise allows, and surely in all together."""
    fleet = own_noise(100, 0.007, 1)
    fleet.rates[7] = np.median(fleet.rates, axis=0) * 0.976
    return fleet


def too_fast(fleet, nodes):
    fleet.rates[nodes] *= 1.3


FLEETS = {
    'clean': lambda: gen.healthy(100, 3),
    'mean of kernels': by_a_little,
    'slow': lambda: planted(gen.slow, [5, 6], 0.03),
    'one rank of four': lambda: planted(gen.domain_slow, [9], 0.05, ranks=4),
    'unsteady': lambda: planted(gen.unstable, [4], 0.3),
    'fast': lambda: planted(too_fast, [3]),
    'left tail': lambda: planted_in(noisy(left), [8, 9], 0.07),
    't3': lambda: planted_in(noisy(t3), [8], 0.08),
}


def planted_in(fleet, nodes, share):
    gen.slow(fleet, nodes, share)
    return fleet


@pytest.mark.parametrize('name', FLEETS)
def test_what_rank_doubts_is_left_out_and_nothing_else(name, monkeypatch):
    # how many false alarms there will be is not what is asked here
    monkeypatch.setattr(tolerance, 'DRAWS', 2)
    monkeypatch.setattr(tolerance, 'PARTS', 2)
    rows = gen.records(FLEETS[name]())
    records = [parse_record(row, 'made up') for row in rows]
    doubted = {n.name for n in judge(records).nodes if n.verdict != 'PASS'}
    (runs,), _ = select([(records, [])], 'thin', CHOSEN)
    found = propose(runs, Rule(widest=0.5))
    assert set(runs.nodes) - set(found.samples.nodes) == doubted
    assert bool(doubted) == (name != 'clean')
    assert len(found.notes) == len(doubted) + 1, found.notes  # and one of the one night


def test_two_halves_of_a_few_nodes_are_refused_where_rank_suspects_the_slower():
    fleet = gen.healthy(8, 1)
    gen.slow(fleet, [0, 1, 2, 3, 4], 0.06)
    records = [parse_record(row, 'made up') for row in gen.records(fleet)]
    assert {n.name for n in judge(records).nodes if n.verdict == 'SUSPECT'} == {
        gen.name(i) for i in range(5)
    }
    (runs,), _ = select([(records, [])], 'thin', CHOSEN)
    with pytest.raises(Refusal, match='5 of 8 nodes -[56]...  *to the others, and which'):
        propose(runs, Rule(all_nodes=True))


def test_a_part_that_only_the_mean_of_kernels_shows_is_refused_as_rank_suspects_it():
    fleet = own_noise(60, 0.009, 0)
    fleet.rates[:24] *= 0.965
    records = [parse_record(row, 'made up') for row in gen.records(fleet)]
    assert sum(n.verdict == 'SUSPECT' for n in judge(records).nodes) == 24
    (runs,), _ = select([(records, [])], 'thin', CHOSEN)
    with pytest.raises(Refusal, match='2 populations of the mean of kernels, % of the usual'):
        propose(runs, Rule())
