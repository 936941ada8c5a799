"""Made-up curves with a known knee, through the pure function of src/loaded/curve.c."""

import statistics
import subprocess

import pytest


@pytest.fixture(scope='module')
def curves(build_program):
    """curves(service, noise, wave) -> [(knee, low, high, saturated)]: 200 measurements."""
    program = build_program('tests/probes/loaded_curves.c')

    def run(service, noise, wave):
        words = [program, service, noise, wave, 7, 200, 5]
        text = subprocess.check_output(list(map(str, words)), text=True)
        return [tuple(map(float, line.split())) for line in text.splitlines()]

    return run


def true_knee(service):
    """GB/s where 100 + service * load / (1 - load) is 200; the capacity is 100 GB/s."""
    return 100 * 100 / (100 + service)


@pytest.mark.parametrize('service', [10, 30, 60])
@pytest.mark.parametrize('wave', [0, 1])
def test_the_knee_of_a_queue_is_found_within_3_percent(curves, service, wave):
    knees = [knee for knee, *_ in curves(service, 0.01, wave)]
    assert statistics.median(knees) == pytest.approx(true_knee(service), rel=0.03)


@pytest.mark.parametrize('service', [30, 60])
def test_the_range_of_five_rounds_holds_the_knee_in_nine_of_ten(curves, service):
    truth = curves(service, 0, 0)[0][0]  # what the points give without noise
    held = [low <= truth <= high for _, low, high, _ in curves(service, 0.02, 0)]
    assert sum(held) >= 180


def test_a_curve_that_never_doubles_has_no_knee(curves):
    assert not any(saturated for *_, saturated in curves(1, 0.01, 0))
