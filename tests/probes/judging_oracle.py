"""What a judge of `membw rank`'s fleets could do at best, who knows noise and loss exactly.

    PYTHONPATH=src nice python tests/probes/judging_oracle.py

J. Neyman, E. Pearson, Phil. Trans. A 231 (1933): no other rule finds more at as many false alarms
than the ratio of the likelihoods. For docs/judging.md, section rank.
"""

from itertools import combinations

import numpy as np
from scipy.stats import exponnorm, norm

FLEETS, ALARMS = 20_000, 0.02
RNG = np.random.default_rng(1)
# exponential tail: a node's mean of four kernels, half of whose variance is common
CORE, SHARE, TAIL, LOSS = 0.003 * np.sqrt(0.5 + 0.5 / 4), 0.1, 0.01, 0.05


def tail_noise(shape):
    return RNG.normal(0, CORE, shape) - (RNG.random(shape) < SHARE) * RNG.exponential(TAIL, shape)


def tail_density(x):
    tail = exponnorm.pdf(-x, TAIL / CORE, 0, CORE)
    return (1 - SHARE) * norm.pdf(x, 0, CORE) + SHARE * tail


def ratios(x, loss=LOSS):
    grid = np.linspace(-0.25, 0.05, 60_001)
    log = np.log(np.maximum(tail_density(grid), 1e-300))
    return np.interp(x + loss, grid, log) - np.interp(x, grid, log)


def node_by_node(alarms):
    """Share of the bad nodes found with one limit of the ratio of each of 100 nodes."""
    clean, bad = ratios(tail_noise((FLEETS, 100))), ratios(tail_noise(FLEETS) - LOSS)
    return (bad > np.quantile(clean.max(axis=1), 1 - alarms)).mean()


def whole_fleet(alarms, bad=3, loss=LOSS):
    """... where it is known that none or so many are bad, and all by the same loss."""

    def score(fleet):
        order = np.sort(np.exp(np.minimum(ratios(fleet, loss), 200)), axis=1)[:, -12:]
        return sum(order[:, list(c)].prod(axis=1) for c in combinations(range(12), bad))

    clean, ill = tail_noise((FLEETS, 100)), tail_noise((FLEETS, 100))
    ill[:, :bad] -= loss
    named = np.argsort(-ratios(ill, loss), axis=1)[:, :bad] < bad
    sure = score(ill) > np.quantile(score(clean), 1 - alarms)
    return (named.mean(axis=1) * sure).mean()


def few(n, common, alarms=ALARMS, noise=(0.03, 0.005), loss=0.05):
    """One bad node of n at the lower noise, and clean fleets of the higher one."""

    def log_density(x, sd):  # nodes x kernels, their common level not known
        x = x - x.mean(axis=1, keepdims=True)
        node = x.mean(axis=2)
        rest = x - node[:, :, None]
        of_node, of_kernel = sd * np.sqrt(common + (1 - common) / 4), sd * np.sqrt(1 - common)
        free = 3 * (n - 1) if common < 1 else 0
        log = -((node / of_node) ** 2).sum(axis=1) / 2 - (n - 1) * np.log(of_node)
        if free:
            log += -((rest / of_kernel) ** 2).sum(axis=(1, 2)) / 2 - free * np.log(of_kernel)
        return log

    def score(x):
        each = []
        for i in range(n):
            healed = x.copy()
            healed[:, i] += loss
            each.append(log_density(healed, noise[1]))
        each = np.stack(each, axis=1)
        return np.logaddexp.reduce(each, axis=1) - log_density(x, noise[0]), each.argmax(axis=1)

    def drawn(sd):
        shape = FLEETS, n, 4
        own = RNG.normal(0, sd * np.sqrt(1 - common), shape)
        return own + RNG.normal(0, sd * np.sqrt(common), (*shape[:2], 1))

    ill = drawn(noise[1])
    ill[:, 0] -= loss
    value, named = score(ill)
    return ((value > np.quantile(score(drawn(noise[0]))[0], 1 - alarms)) & (named == 0)).mean()


def main():
    for alarms in (0.01, 0.02, 0.05, 0.11):
        print(f'exponential tail, 3 at -5 %, {alarms:.0%} of clean fleets alarm: node by node '
              f'{node_by_node(alarms):.0%}; the fleet as a whole {whole_fleet(alarms):.1%}; '
              f'one at -5 %: {whole_fleet(alarms, 1):.0%}')  # fmt: skip
    for n in (3, 4, 5, 6, 8):
        print(f'one of {n} at -5 %, noise .5 %, and 2 % of clean fleets at 3 % alarm: found '
              f'{few(n, 0.5):.1%}; kernels all common {few(n, 1.0):.1%}')  # fmt: skip


if __name__ == '__main__':
    main()
