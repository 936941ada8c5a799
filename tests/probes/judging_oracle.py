"""What a judge of `membw rank`'s fleets could do at best, who knows noise and loss exactly.

    PYTHONPATH=src nice python tests/probes/judging_oracle.py

J. Neyman, E. Pearson, Phil. Trans. A 231 (1933): no other rule finds more at as many false alarms
than the ratio of the likelihoods. For docs/judging.md, section rank.
"""

from itertools import combinations

import numpy as np
from scipy.stats import exponnorm, norm, t

FLEETS, ALARMS = 20_000, 0.02
ALARMED = 0.01, 0.02, 0.05, 0.06, 0.11  # shares of clean fleets
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


# t3: all four kernels of a node, half of the variance common; what none has in common is known to
# the judge as well, so that a node is more than its mean
T3 = 0.01 / np.sqrt(3) / np.sqrt(2)
COMMON = np.arange(-0.4, 0.05, 0.0007)  # of a node's kernels


def t3_noise(shape):
    return T3 * (t.rvs(3, size=(*shape, 1), random_state=RNG)
                 + t.rvs(3, size=(*shape, 4), random_state=RNG))  # fmt: skip


def t3_density(x):
    """log, nodes x kernels: whatever they have in common."""
    common = t.logpdf(COMMON / T3, 3)
    of_kernels = t.logpdf((x[:, :, None] - COMMON) / T3, 3).sum(axis=1)
    return np.logaddexp.reduce(common + of_kernels, axis=1)


def t3_ratios(x, loss=LOSS):
    """Of nodes as far down as a bad one may be; no other looks like one."""
    low, found = x.mean(axis=-1) < -0.4 * loss, np.full(x.shape[:-1], -30.0)
    parts = np.array_split(x[low], max(1, low.sum() // 2000))
    found[low] = np.concatenate([t3_density(p + loss) - t3_density(p) for p in parts])
    return found


NOISES = {'exponential tail': (tail_noise, ratios), 't3, 1 %': (t3_noise, t3_ratios)}


def best(name, bad=3, loss=LOSS):
    """(of each share of ALARMED the share of the bad nodes found with one limit of the ratio of
    each of 100 nodes; the same where it is known that none or so many are bad, by that loss)."""
    noise, ratio = NOISES[name]
    clean, ill = noise((FLEETS, 100)), noise((FLEETS, 100))
    ill[:, :bad] -= loss
    clean, ill = ratio(clean, loss), ratio(ill, loss)

    def score(fleet):
        order = np.sort(np.exp(np.minimum(fleet, 200)), axis=1)[:, -12:]
        return sum(order[:, list(c)].prod(axis=1) for c in combinations(range(12), bad))

    limits = [np.quantile(values, [1 - a for a in ALARMED])
              for values in (clean.max(axis=1), score(clean))]  # fmt: skip
    named = (np.argsort(-ill, axis=1)[:, :bad] < bad).mean(axis=1)
    whole = score(ill)
    return [(ill[:, :bad] > limit).mean() for limit in limits[0]], [
        (named * (whole > limit)).mean() for limit in limits[1]
    ]


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
    print('of 100 nodes, some at -5 %: found where so many clean fleets alarm:', ALARMED)
    for name in NOISES:
        for bad in (1, 3):
            single, whole = (' '.join(f'{x:4.0%}' for x in row) for row in best(name, bad))
            print(f'{name}, {bad} bad: node by node {single}; the fleet as a whole {whole}')
    for n in (3, 4, 5, 6, 8):
        print(f'one of {n} at -5 %, noise .5 %, and 2 % of clean fleets at 3 % alarm: found '
              f'{few(n, 0.5):.1%}; kernels all common {few(n, 1.0):.1%}')  # fmt: skip


if __name__ == '__main__':
    main()
