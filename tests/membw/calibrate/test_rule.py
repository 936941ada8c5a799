"""The rule of `membw calibrate`, with figures that can be recomputed on paper."""

import random

import pytest

from membw.calibrate.rule import Refusal, is_few, reference
from membw.results.table import Figure, Measurement


def runs_of(values, nodes=20, nights=3):
    """A run for each value: on every node in turn, night after night."""
    return [
        run_of(f'n{i % nodes:03}', f'2026-11-{i // nodes % nights + 1:02}', value)
        for i, value in enumerate(values)
    ]


def run_of(node, night, value):
    return Figure(value=value, of=Measurement(node=node, night=night))


def test_the_reference_is_the_median_of_the_nodes_medians():
    often = [run_of('slow', f'night {i}', 90.0) for i in range(50)]
    found = reference([*often, *runs_of([100.0] * 60)])
    assert found.value == 100.0


@pytest.mark.parametrize('values, better, low, high', [
    ([100.0] * 30 + [100.1] * 30, 'higher', -0.02, 0.04),  # two percent, and twice that
    # median 100, median absolute deviation 1: 4 * 1.4826 %
    ([99.0, 100.0, 101.0] * 20, 'higher', -0.06, 0.119),
    ([99.0, 100.0, 101.0] * 20, 'lower', -0.119, 0.06),
])  # fmt: skip
def test_the_tolerance_is_four_robust_standard_deviations(values, better, low, high):
    found = reference([run.replace(better=better) for run in runs_of(values)])
    assert (found.low, found.high) == (low, high)
    assert low == -0.02 or found.spread == pytest.approx(0.014826)


@pytest.mark.parametrize('nodes, nights, is_so', [
    (20, 3, False), (19, 3, True), (20, 2, True), (1, 1, True),
])  # fmt: skip
def test_fewer_nights_or_nodes_double_the_tolerance(nodes, nights, is_so):
    runs = runs_of([100.0] * 60, nodes, nights)
    assert is_few(runs) == is_so
    assert reference(runs).low == (-0.04 if is_so else -0.02)


def test_five_runs_of_a_laptop_make_a_reference_and_four_do_not():
    assert reference(runs_of([20.0] * 5, 1, 1)).value == 20.0
    with pytest.raises(Refusal, match='4 valid runs, at least 5 are needed'):
        reference(runs_of([20.0] * 4, 1, 1))
    with pytest.raises(Refusal, match='the runs differ by 14.8%'):  # of two kinds
        reference(runs_of([90.0, 110.0] * 30 + [100.0]))


def test_one_broken_node_moves_nothing():
    broken = [run_of('broken', f'night {i}', 50.0) for i in range(3)]
    with_it = reference([*runs_of([99.9, 100.0, 100.1] * 20), *broken])
    assert with_it.value == 100.0 and with_it.low == -0.02


@pytest.mark.parametrize('noise', [0.005, 0.01, 0.03])
def test_of_healthy_runs_in_normal_noise_hardly_one_misses_the_tolerance(noise):
    random.seed(1)
    figures = [100 * random.gauss(1, noise) for _ in range(60 + 20_000)]
    found = reference(runs_of(figures[:60]))
    missed = sum(figure < found.value * (1 + found.low) for figure in figures[60:])
    assert missed < 40  # 0.2 %
