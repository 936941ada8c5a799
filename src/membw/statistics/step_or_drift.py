"""From change points to what a reader calls a change: a step, or a drift that takes its time."""

from dataclasses import dataclass

import numpy as np

GRID = 24  # places tried for the begin and the end of a drift
FEW, AGREE = 10, 0.8  # nights; share of them
LEAST_DRIFT = 10  # values; what happens faster is a step


@dataclass
class Move:
    """Indices into the values; `delta` in their unit (logarithm of the rate)."""

    first: int  # the first value that differs
    until: int  # where a drift ends; a step's first
    before: slice  # the level it comes from
    after: slice  # ... and goes to
    delta: float
    shape: str  # step or drift
    came_from: float = 0.0  # the level before ...
    to: float = 0.0  # ... and after
    recovered: bool = False  # later values are back where it began, or beyond
    p: float = 1.0  # chance that any healthy row shows as much
    sure: int = 0  # the value with which it became sure


def moves(raw, values, places, margin, reach, sigma):
    """Every Move of at least `margin`; `places` are the change points of `values`.

    `values` are `raw` without outliers; a level is the median of the raw ones: a few bad nights
    among good ones, which the filter may have taken for the rule, do not make one. `reach`: how
    far a night may lie off and still speak for a step or for a drift; a drift has to be likelier
    than steps also were the noise Cauchy's with the scale `sigma`, of which far nights say little.
    """
    edges = [0, *places, len(values)]
    levels = np.array([np.median(raw[a:b]) for a, b in zip(edges, edges[1:], strict=False)])
    changes = []
    for first, last in _runs(np.sign(np.diff(levels))):
        changes += _moves_of_run(
            values, edges[first : last + 2], levels[first : last + 1], margin, (reach, sigma)
        )
    return [m for m in changes if abs(m.delta) >= margin and _agrees(raw, m)]


def _agrees(raw, move):
    """A level of few nights is one only if nearly all of them have it: no cluster of outliers."""
    if move.shape == 'drift':
        return True
    before, after = raw[move.before], raw[move.after]
    middle = (np.median(before) + np.median(after)) / 2
    up = np.sign(move.delta)
    shares = ((before - middle) * up < 0).mean(), ((after - middle) * up > 0).mean()
    return all(
        share >= AGREE or len(part) >= FEW
        for share, part in zip(shares, (before, after), strict=True)
    )


def _runs(signs):
    """(first, last) level of each stretch that only rises or only falls."""
    start = 0
    for i in range(1, len(signs) + 1):
        if i == len(signs) or signs[i] != signs[start]:
            yield start, i
            start = i


def _moves_of_run(values, edges, levels, margin, scales):
    part = values[edges[0] : edges[-1]]
    cuts = [e - edges[0] for e in edges]
    drift = _drift(part, *scales)
    steps = np.diff(levels)
    small = abs(steps).max(initial=0) < margin and len(steps) > 1
    whole = slice(edges[0], edges[1]), slice(edges[-2], edges[-1])
    if drift and (small or (drift[0] < _costs_of_steps(part, cuts, *scales)).all()):
        _, begin, end, delta = drift
        return [Move(edges[0] + begin, edges[0] + end, *whole, delta, 'drift')]
    if small:
        return [Move(edges[1], edges[-2], *whole, float(levels[-1] - levels[0]), 'drift')]
    return [
        Move(edges[i + 1], edges[i + 1], slice(edges[i], edges[i + 1]),
             slice(edges[i + 1], edges[i + 2]), float(step), 'step')
        for i, step in enumerate(steps)
    ]  # fmt: skip


def _costs(off, parameters, reach, sigma):
    """Bayesian information criteria, smaller is better, of what is off, a row or several: of
    squares, of no night more than if it lay at `reach`; of Cauchy's noise.

    G. Schwarz, Ann. Statist. 6 (1978).
    """
    count = off.shape[-1]
    squares = np.minimum(off**2, reach**2).sum(axis=-1)
    unlikely = 2 * np.log1p((off / sigma) ** 2).sum(axis=-1)
    both = count * np.log(np.maximum(squares, 1e-12) / count), unlikely
    return np.array(both) + parameters * np.log(count)


def _costs_of_steps(part, cuts, reach, sigma):
    off = np.concatenate(
        [part[a:b] - np.median(part[a:b]) for a, b in zip(cuts, cuts[1:], strict=False)]
    )
    return _costs(off, 2 * (len(cuts) - 2) + 1, reach, sigma)


def _drift(part, reach, sigma):
    """(costs, begin, end, height) of the best level - ramp - level, the height as fitted."""
    count = len(part)
    grid = np.unique(np.linspace(0, count - 1, GRID).astype(int))
    begin, end = (g.ravel() for g in np.meshgrid(grid, grid, indexing='ij'))
    long = end - begin >= LEAST_DRIFT
    begin, end = begin[long], end[long]
    if not len(begin):
        return None
    ramp = np.clip((np.arange(count) - begin[:, None]) / (end - begin)[:, None], 0, 1)
    centred = ramp - ramp.mean(axis=1, keepdims=True)
    height = centred @ (part - part.mean()) / (centred**2).sum(axis=1)
    off = part - part.mean() - height[:, None] * centred
    off -= np.median(off, axis=1, keepdims=True)
    costs = _costs(off, 4, reach, sigma)
    best = int(costs[0].argmin())
    return costs.min(axis=1), int(begin[best]), int(end[best]), float(height[best])
