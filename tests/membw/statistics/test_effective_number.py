"""How many questions figures that move together are."""

import numpy as np
import pytest

from membw.statistics.effective_number import effective_number


def rates(common, nodes=20, nights=180, fleet=0.0, bad=0.0):
    """Four kernels; `common`: share of the variance that a node's kernels have in common."""
    rng = np.random.default_rng(1)
    logs = np.sqrt(common) * rng.normal(0, 0.01, (1, nodes, nights))
    logs = logs + np.sqrt(1 - common) * rng.normal(0, 0.01, (4, nodes, nights))
    logs = logs + rng.normal(0, 1, (1, 1, nights)) * fleet
    return np.exp(logs - 0.1 * (rng.random((nodes, nights)) < bad))


@pytest.mark.parametrize(('common', 'number'), [(0, 4), (0.5, 3.5), (0.99, 1.3)])
def test_kernels_that_do_the_same_are_one_question(common, number):
    alike = effective_number(rates(common))
    assert alike == pytest.approx(number, abs=0.15)
    # what the whole fleet does, which is taken off, and a few bad nights make none alike
    assert effective_number(rates(common, fleet=0.05)) == pytest.approx(alike, abs=0.15)
    assert effective_number(rates(common, bad=0.02)) == pytest.approx(alike, abs=0.25)


def test_a_few_nights_do_not_tell_that_kernels_are_alike():
    assert effective_number(rates(0.99, nodes=1, nights=6)) > 3
    assert effective_number(rates(0.99, nodes=1)) < 2
    assert effective_number(np.full((4, 6, 9), np.nan)) == pytest.approx(4)
    assert effective_number(rates(0.5)[:1]) == 1
