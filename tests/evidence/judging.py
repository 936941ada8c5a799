"""How often rank condemns a sound node, and what it finds, by the shape of the noise: judging.csv,
of which docs/evidence.md has a table; how often a sound run misses a calibrated reference:
calibrate.csv, of which docs/judging.md has a line.

python tests/evidence/judging.py [fleets]     (100: a quarter of an hour)

Noise is made up. Its scale is one standard deviation; half of a run's variance is common to its
kernels. Further measurements of a node are independent of the first. Of 500 nodes it is a tenth of
the fleets.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'src'))

from membw.calibrate.rule import reference  # noqa: E402
from membw.rank.judge import judge  # noqa: E402
from membw.results.table import Figure, Measurement  # noqa: E402

KERNELS = ('copy', 'scale', 'add', 'triad')
Draw = Callable[[np.random.Generator, tuple], np.ndarray]


def lower_tail(values: np.ndarray, middle: float, deviation: float) -> np.ndarray:
    """Noise of other work: it only makes slower."""
    return (middle - values) / deviation


# the rule was chosen with these
OWN: dict[str, Draw] = {
    'normal': lambda r, n: r.normal(0, 1, n),
    't3': lambda r, n: r.standard_t(3, n) / np.sqrt(3),
    'left Gumbel': lambda r, n: lower_tail(r.gumbel(0, 1, n), 0.37, 1.28),
    'left lognormal': lambda r, n: lower_tail(r.lognormal(0, 0.5, n), 1, 0.6),
    'tail of 2 in 10 %': lambda r, n: (
        r.normal(0, 1, n) - (r.random(n) < 0.1) * r.exponential(2, n)
    ),
    'Laplace': lambda r, n: r.laplace(0, 1 / np.sqrt(2), n),
    'left Weibull 1.2': lambda r, n: lower_tail(r.weibull(1.2, n), 0.74, 0.79),
    'two speeds, 30 % at -2': lambda r, n: r.normal(0, 0.4, n) - 2 * (r.random(n) < 0.3),
    'uniform': lambda r, n: r.uniform(-np.sqrt(3), np.sqrt(3), n),
    'one run of 50 at -10': lambda r, n: r.normal(0, 1, n) - 10 * (r.random(n) < 0.02),
}
# these were written when the rule stood, and nothing was changed after
AFTER: dict[str, Draw] = {
    'left gamma 2': lambda r, n: lower_tail(r.gamma(2, 1, n), 2, np.sqrt(2)),
    'left exponential': lambda r, n: lower_tail(r.exponential(1, n), 1, 1),
    'logistic': lambda r, n: r.logistic(0, np.sqrt(3) / np.pi, n),
    't5, lower half twice as wide': lambda r, n: skewed(r.standard_t(5, n)),
    'one run of 20 slow in all kernels, at -4': lambda r, n: (
        r.normal(0, 1, n) - 4 * np.sqrt(2) * (n[-1] != len(KERNELS)) * (r.random(n) < 0.05)
    ),
}


def skewed(values: np.ndarray) -> np.ndarray:
    """With one standard deviation, as both halves have 5/3 of Student's t5: 2.5 times that."""
    return np.where(values < 0, 2 * values, values) / np.sqrt(2.5 * 5 / 3)


def rates(draw: Draw, rng: np.random.Generator, scale: float, share: np.ndarray) -> np.ndarray:
    """nodes x kernels; `share` of the usual rate per node."""
    nodes = len(share)
    noise = (draw(rng, (nodes, 1)) + draw(rng, (nodes, len(KERNELS)))) / np.sqrt(2)
    return 100 * share[:, None] * np.maximum(1 + scale * noise, 0.01)


def figures(values: np.ndarray, nodes: list[str], time: float) -> list[Figure]:
    return [
        Figure(kernel, float(value), 'GB/s', of=of, is_headline=kernel == 'triad')
        for of, row in zip([Measurement(node=n, time=time) for n in nodes], values, strict=True)
        for kernel, value in zip(KERNELS, row, strict=True)
    ]


SIZES, LOSSES = (8, 16, 63, 500), (0.03, 0.05, 0.08)


def failed(draw: Draw, rng: np.random.Generator, scale: float, share: np.ndarray) -> set[str]:
    """Nodes that FAIL, measured again where they were low."""
    nodes = [f'n{i:04d}' for i in range(len(share))]
    first = figures(rates(draw, rng, scale, share), nodes, 0.0)
    screened = judge(first)
    low = [node for nodes in screened.low.values() for node in nodes]
    if not low:
        return set()
    again = [*low, *(node for nodes in screened.controls.values() for node in nodes)]
    those = share[[nodes.index(node) for node in again]]
    runs = [figures(rates(draw, rng, scale, those), again, time) for time in (1.0, 2.0, 3.0)]
    verdicts = judge(first, [f for run in runs for f in run]).verdicts
    return {v.node for v in verdicts if v.verdict == 'FAIL'}


def rank_cells(draw: Draw, scale: float, nodes: int, fleets: int) -> list[str]:
    """% of clean fleets with a FAIL; % found of one node, by its loss."""
    cells = []
    for loss in (0.0, *LOSSES):
        share, hits = np.ones(nodes), 0
        share[0] -= loss
        for seed in range(fleets):
            found = failed(draw, np.random.default_rng(seed), scale, share)
            hits += 'n0000' in found if loss else bool(found)
        cells.append(f'{100 * hits / fleets:.3g}')
    return cells


def calibrate_cell(draw: Draw, scale: float) -> str:
    """% of healthy runs that miss a reference of 20 nodes in 3 nights."""
    rng, missed = np.random.default_rng(1), []
    for _ in range(100):
        runs = 100 * (1 + scale * draw(rng, (60,)))
        every = [
            Figure(value=v, of=Measurement(node=f'n{i % 20}', night=str(i // 20)))
            for i, v in enumerate(runs)
        ]
        held = reference(every)
        ratio = 100 * (1 + scale * draw(rng, (1000,))) / held.value - 1
        missed.append(np.mean((ratio < held.low) | (ratio > held.high)))
    return f'{100 * np.mean(missed):.2g}'


COLUMNS = 'noise sd_pct nodes fleets wrong_fail_pct found_3_pct found_5_pct found_8_pct'.split()


def main(fleets: int) -> None:
    here = Path(__file__).parent
    with (here / 'judging.csv').open('w') as one, (here / 'calibrate.csv').open('w') as other:
        out, missed = (csv.writer(file, lineterminator='\n') for file in (one, other))
        out.writerow(COLUMNS)
        missed.writerow([*COLUMNS[:2], 'calibrate_miss_pct'])
        for name, draw in {**OWN, **AFTER}.items():
            for scale in (0.005, 0.01, 0.03) if name == 'normal' else (0.01,):
                about = [name, f'{100 * scale:g}']
                missed.writerow([*about, calibrate_cell(draw, scale)])
                for nodes in SIZES:
                    count = fleets if nodes < 500 else max(fleets // 10, 1)
                    cells = rank_cells(draw, scale, nodes, count)
                    out.writerow([*about, nodes, count, *cells])
                    one.flush()


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
