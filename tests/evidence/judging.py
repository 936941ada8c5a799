"""How often rank, history and calibrate alarm without a cause, and what they find: judging.csv, of
which docs/judging.md has a line.

python tests/evidence/judging.py [fleets] >tests/evidence/judging.csv     (200; minutes)

Noise is made up. Its scale is one standard deviation; half of a run's variance is common to its
kernels. Further measurements of a node are independent of the first.
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
from membw.statistics.now_and_before import Row, find_steps  # noqa: E402

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


def one_fleet(draw: Draw, rng: np.random.Generator, scale: float, share: np.ndarray) -> set[str]:
    """Nodes that FAIL, or stay low."""
    nodes = [f'n{i:04d}' for i in range(len(share))]
    first = figures(rates(draw, rng, scale, share), nodes, 0.0)
    screened = judge(first)
    low = [node for nodes in screened.low.values() for node in nodes]
    again = [*low, *(node for nodes in screened.controls.values() for node in nodes)]
    those = share[[nodes.index(node) for node in again]]
    runs = [figures(rates(draw, rng, scale, those), again, time) for time in (1.0, 2.0, 3.0)]
    verdicts = judge(first, [f for run in runs for f in run]).verdicts
    return {v.node for v in verdicts if v.verdict != 'PASS' and v.metric}


def rank_cells(draw: Draw, scale: float, fleets: int) -> list[str]:
    """% of clean fleets with an alarm, by size; % found of 100 nodes, by nodes and loss."""
    rng = np.random.default_rng(1)
    clean, found = [], []
    for nodes in (5, 20, 100, 1000):
        runs = fleets if nodes < 1000 else max(fleets * 3 // 10, 1)
        bad = [bool(one_fleet(draw, rng, scale, np.ones(nodes))) for _ in range(runs)]
        clean.append(f'{100 * np.mean(bad):.3g}')
    for bad, loss in ((1, 0.03), (1, 0.05), (1, 0.1), (5, 0.05), (10, 0.1)):
        share = np.ones(100)
        share[:bad] -= loss
        slow = {f'n{i:04d}' for i in range(bad)}
        hits = [len(slow & one_fleet(draw, rng, scale, share)) for _ in range(fleets * 3 // 10)]
        found.append(f'{100 * np.mean(hits) / bad:.0f}')
    return clean + found


def judged(nights: np.ndarray) -> list[Row]:
    """nodes x nights, with their steps."""
    rows = [Row(row, np.arange(len(row))) for row in nights]
    find_steps(rows, 0.02)
    return rows


def history_cells(draw: Draw, scale: float, nodes: int, memory: float = 0.0) -> list[str]:
    """Events per 1,000 clean node-years; % of nodes found that fall by 5 %, by nights after."""
    rng = np.random.default_rng(1)

    def nights() -> np.ndarray:
        noise = draw(rng, (nodes, 365))
        for t in range(1, 365):
            noise[:, t] = memory * noise[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
        return 100 * np.maximum(1 + scale * noise, 0.01)

    clean, fallen = nights(), nights()
    fallen[: nodes // 5, 200:] *= 0.95
    events = sum(len(row.steps) for row in judged(clean))
    found = []
    for night in (3, 7, 14):
        rows = judged(fallen[:, : 200 + night])[: nodes // 5]
        hits = np.mean(
            [any(c.size < 0 and abs(c.first - 200) < 8 for c in row.steps) for row in rows]
        )
        found.append(f'{100 * hits:.0f}')
    return [f'{1000 * events / nodes:.0f}', *found]


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


COLUMNS = (
    'noise sd_pct clean_5_pct clean_20_pct clean_100_pct clean_1000_pct found_1_at_3_pct '
    'found_1_at_5_pct found_1_at_10_pct found_5_at_5_pct found_10_at_10_pct events_per_1000_years '
    'found_after_3_pct found_after_7_pct found_after_14_pct calibrate_miss_pct'
).split()


def main(fleets: int) -> None:
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(COLUMNS)
    for name, draw in {**OWN, **AFTER}.items():
        for scale in (0.005, 0.01, 0.03) if name == 'normal' else (0.01,):
            cells = [*rank_cells(draw, scale, fleets), *history_cells(draw, scale, fleets)]
            out.writerow([name, f'{100 * scale:g}', *cells, calibrate_cell(draw, scale)])
            sys.stdout.flush()
    for memory in (0.5, 0.8, 0.95):
        cells = history_cells(OWN['normal'], 0.01, fleets, memory)
        out.writerow([f'normal, nights correlate by {memory}', '1', *[''] * 9, *cells, ''])


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
