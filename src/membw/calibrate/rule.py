"""The rule of `membw calibrate`: a reference and its tolerances from the runs of a system.

Reference: the median of the nodes' medians. Tolerance: the larger of 2 % and 4 robust standard
deviations (1.4826 MAD) of all runs; twice that with fewer than 3 nights or 20 nodes, as far as
`widest`. It holds on the worse side; on the better side the limit is twice as far, since a figure
far too good is another measurement.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from membw.printable import plural
from membw.results.figure import Figure
from membw.results.record import HIGHER
from membw.results.verdict import CHANNEL
from membw.statistics import MAD_TO_SIGMA

LEAST_RUNS = 5
ENOUGH_NIGHTS, ENOUGH_NODES = 3, 20
LEAST_TOLERANCE = 0.02
DEVIATIONS = 4
WIDER = 2  # with fewer nights or nodes
WIDEST = 0.25  # runs further apart than this are not of one kind


class Refusal(Exception):
    """These runs give no reference; the text says why."""


class Reference(NamedTuple):
    """`value` in `unit`; `low` and `high`, fractions of it, are the limits of a run that passes;
    `spread`, a fraction, too, is the robust standard deviation of the runs."""

    value: float
    low: float
    high: float
    spread: float
    unit: str


def widest(run: Figure, channels: int) -> float:
    """The largest tolerance: of the memory's rates half of what a lost channel takes, so that its
    loss shows; `channels`: of a node, 0: not known."""
    if (run.setting.program, run.unit) != ('stream', 'GB/s'):
        return WIDEST
    return min(WIDEST, max(CHANNEL, 1 / channels if channels else 0.0) / 2)


def reference(runs: Sequence[Figure], channels: int = 0) -> Reference:
    """The reference of one metric. Raises Refusal where the runs are too few or too far apart."""
    if len(runs) < LEAST_RUNS:
        raise Refusal(f'{plural(len(runs), "valid run")}, at least {LEAST_RUNS} are needed')
    nodes, most = {run.node for run in runs}, widest(runs[0], channels)
    value = median(median(r.value for r in runs if r.node == node) for node in nodes)
    middle = median(run.value for run in runs)
    spread = MAD_TO_SIGMA * median(abs(run.value - middle) for run in runs) / value
    tolerance = max(LEAST_TOLERANCE, DEVIATIONS * spread)
    if tolerance > most:
        seen = '' if most == WIDEST else f'wider than half a memory channel ({most:.1%}): '
        raise Refusal(
            f'the runs differ by {spread:.1%} (robust standard deviation), for '
            f'a tolerance of {tolerance:.1%}: {seen}find out why'
        )
    tolerance = min(tolerance * (WIDER if is_few(runs) else 1), most)
    worse, good = (
        min(math.ceil(1000 * t - 1e-9), math.floor(1000 * n * most)) / 1000
        for n, t in ((1, tolerance), (2, 2 * tolerance))
    )
    low, high = (-worse, good) if runs[0].better == HIGHER else (-good, worse)
    return Reference(float(f'{value:.6g}'), low, high, spread, runs[0].unit)


def counts(runs: Sequence[Figure]) -> dict[str, int]:
    nodes, nights = {run.node for run in runs}, {run.night for run in runs}
    return {'runs': len(runs), 'nodes': len(nodes), 'nights': len(nights)}


def is_few(runs: Sequence[Figure]) -> bool:
    of = counts(runs)
    return of['nights'] < ENOUGH_NIGHTS or of['nodes'] < ENOUGH_NODES
