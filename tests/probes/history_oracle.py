"""What a judge of `membw history` could find at best in the noise of a real node.

    MEMBW_REAL_HISTORY=FILE PYTHONPATH=src python tests/probes/history_oracle.py

FILE as in tests/lib/history_tables.py. The judge knows how the noise is distributed, the level
before, that a node lost 4 %, and in which night if it did. It takes the best of the scores below,
summed over the nights since: the ratio of the likelihoods, which is the best where nights do not
depend on each other (J. Neyman, E. Pearson, Phil. Trans. A 231 (1933)), alone or of five nights
at once, each night or block judged by the density of all others; and sums of clipped nights.
How often healthy nodes score as much is computed, not drawn: to any rate. For docs/judging.md,
section history.
"""

import os
from pathlib import Path

import numpy as np
from scipy.ndimage import median_filter

BLOCK = 5  # nights that are drawn together, as in hard_histories.bootstrapped
LOSS = -np.log(1 - 0.04)
NODES, NIGHTS, NEAR = 20, 180, 4  # of the fleet; a change is found within so many nights
SINCE = 10, 20, 40, 80  # nights since the loss
RATES = {  # events of healthy nodes in half a year, of so many nodes
    'one in a year of 20 nodes': (0.5, 20),
    'one in a year of 1,000 nodes': (0.5, 1000),
    'one in a year of 8,000 nodes': (0.5, 8000),
    "membw's --alpha, 0.1 %": (0.001, 20),
}
# ... and those of e-divisive at p .005, of NODES nodes
PEER = {'circuit2': 2.2, 'circuit10': 0.7, 'sparse10': 3.6, 'pennant10': 4.2}
WIDTHS = 0.05, 0.08, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0  # of the kernel of a density, tried
FREEDOM = 3  # of its tails: Student's
CLIPS = 0.5, 1, 2, 4, 100
GRID, DRAWN = 4000, 4000


def log_density(library, at, width, alike):
    """Of each row of `at`, by the kernels at all rows of `library` that are not `alike` it."""
    dimensions = library.shape[1]
    root = np.linalg.cholesky(np.atleast_2d(_covariance(library)))
    known, asked = (np.linalg.solve(root, x.T).T for x in (library, at))
    squares = ((asked[:, None] - known[None]) ** 2).sum(axis=-1) / width**2
    kernels = -(FREEDOM + dimensions) / 2 * np.log1p(squares / FREEDOM)
    kernels[alike] = -np.inf
    return (
        np.logaddexp.reduce(kernels, axis=1) - np.log((~alike).sum(1)) - dimensions * np.log(width)
    )


def _covariance(library):
    return np.cov(np.clip(library, *np.quantile(library, [0.03, 0.97])).T)


def likelihood_ratios(library, reach):
    """(of healthy rows, of rows that lost LOSS): rows nearer than `reach` share nights."""
    places = np.arange(len(library))
    alike = np.abs(places[:, None] - places[None]) < reach
    width = max(WIDTHS, key=lambda w: log_density(library, library, w, alike).mean())
    healthy, gained, lost = (
        log_density(library, library + by, width, alike) for by in (0, LOSS, -LOSS)
    )
    return gained - healthy, healthy - lost


def scores(residuals):
    """{name: (of each block of healthy nights, of each that lost LOSS)}, and those of nights."""
    blocks = np.arange(len(residuals) - BLOCK)[:, None] + np.arange(BLOCK)
    of_nights = likelihood_ratios(residuals[:, None], BLOCK)
    found = {'night by night': tuple(values[blocks].sum(axis=1) for values in of_nights)}
    found['five nights at once'] = likelihood_ratios(residuals[blocks], BLOCK)
    spread = np.median(np.abs(residuals)) / 0.6745
    for clip in CLIPS:
        found[f'clipped at {clip} spreads'] = tuple(
            -np.clip(residuals[blocks] + by, -clip * spread, clip * spread).sum(axis=1)
            for by in (LOSS / 2, -LOSS / 2)
        )
    return found, of_nights


def power(healthy, lost, blocks, chances):
    """Share found by the sum of so many blocks, at each chance that a healthy sum is as large."""
    low, high = min(healthy.min(), lost.min()), max(healthy.max(), lost.max())
    step = (high - low) / GRID
    tails = [_tail(_masses((values - low) / step), blocks) for values in (healthy, lost)]
    places = [int(np.searchsorted(-tails[0], -chance)) for chance in chances]
    return [_between(tails, place, chance) for place, chance in zip(places, chances, strict=True)]


def _masses(places):
    left = places.astype(int)
    right_share = places - left
    masses = np.bincount(left, 1 - right_share, GRID + 2)
    return (masses + np.bincount(left + 1, right_share, GRID + 2)) / len(places)


def _tail(masses, blocks):
    """Chance of each sum or more; no Fourier transform, whose rounding is larger than the tail."""
    sums = np.ones(1)
    for _ in range(blocks):
        sums = np.convolve(sums, masses)
    return np.cumsum(sums[::-1])[::-1]


def _between(tails, place, chance):
    """A test that tosses a coin at its limit has the chance exactly."""
    (above, here), (found_above, found) = (tail[place - 1 : place + 1] for tail in tails)
    share = (chance - here) / (above - here) if above > here else 0.0
    return found + share * (found_above - found)


def placed(of_nights, since, before=100):
    """Share of losses whose likeliest night, to a judge who knows their size, is near."""
    rng, healthy_lost = np.random.default_rng(1), np.array(of_nights)
    blocks = (before + since) // BLOCK
    starts = rng.integers(0, healthy_lost.shape[1] - BLOCK, (DRAWN, blocks, 1))
    nights = (starts + np.arange(BLOCK)).reshape(DRAWN, -1)
    ratios = np.where(np.arange(nights.shape[1]) < before, *healthy_lost[:, nights])
    sums = np.cumsum(ratios[:, ::-1], axis=1)[:, ::-1]
    return (np.abs(sums.argmax(axis=1) - before) <= NEAR).mean()


def chance_of(events, nodes):
    """Of one node and window of nights in which a change counts as found."""
    return events / nodes / (NIGHTS / (2 * NEAR + 1))


def main():
    for line in Path(os.environ['MEMBW_REAL_HISTORY']).read_text().splitlines():
        name, *rates = line.split()
        logs = np.log(np.array(rates, dtype=float))
        tried, of_nights = scores(logs - median_filter(logs, 31, mode='nearest'))
        rows = {"e-divisive's": (PEER[name], NODES)} if name in PEER else {}
        rows |= RATES
        chances = [chance_of(*rate) for rate in rows.values()]
        best = [
            np.max([power(*s, since // BLOCK, chances) for s in tried.values()], axis=0)
            for since in SINCE
        ]
        near = [placed(of_nights, since) for since in SINCE]
        print(
            name,
            'likeliest night near:',
            *(f'+{n} {x:.0%}' for n, x in zip(SINCE, near, strict=True)),
        )
        for i, (said, (events, nodes)) in enumerate(rows.items()):
            cells = ' '.join(f'+{n} {x[i]:4.0%}' for n, x in zip(SINCE, best, strict=True))
            print(f'  {said:30} {events:5.3f} events of {nodes:4} nodes: {cells}')


if __name__ == '__main__':
    main()
