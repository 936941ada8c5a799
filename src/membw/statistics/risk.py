"""The risks of an acceptance rule: that a bad machine passes, that a good one fails.

How often one node fails for good is found by resampling the measured noise (B. Efron, Ann.
Statist. 7 (1979); residuals widened by sqrt(n / (n - 1)), smoothed: A. Davison, D. Hinkley,
Bootstrap Methods, 1997, ch. 2, 3.4 and 6). From there to the machine it is exact: every node
fails by itself, so failures are binomial, and the bad nodes in a sample of a larger machine are
hypergeometric (acceptance sampling: D. Montgomery, Introduction to Statistical Quality Control,
ch. 15). That both parties know both risks beforehand is the idea of two-party acceptance testing
(A Statistical Framework for Two-Party Acceptance Testing of HPC Systems for Reliability, FTXS at
SC21).
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

RESAMPLES = 20_000
SEED = 20261121  # a report that is made again says the same
HARDLY = 1e-4
ENOUGH = 20  # residuals; with fewer the tails are not known at all
LEVELS = (-0.05, -0.04, -0.03, -0.02, -0.01, -0.005, 0.0, 0.005, 0.01, 0.02, 0.03, 0.05)
STATISTICS = {'median': np.median, 'worst': np.min, 'best': np.max}


@dataclass
class Noise:
    """Relative deviations of runs from their node's mean: runs x kernels."""

    residuals: np.ndarray
    source: str
    kernels: tuple = ()
    freedom: int = 0  # runs less nodes; 0: assumed, not measured

    @property
    def smoothing(self):
        """Width of the normal kernel, in spreads (Silverman's rule)."""
        return 1.06 * len(self.residuals) ** -0.2

    def at_its_limit(self):
        """The noise, as large as it may be: upper 95 % limit of the spread, by chi squared."""
        factor = np.sqrt(self.freedom / stats.chi2.ppf(0.05, self.freedom)) if self.freedom else 1
        return Noise(self.residuals * factor, self.source, self.kernels)

    @property
    def spread(self):
        """{kernel: standard deviation, a fraction}."""
        return dict(zip(self.kernels, self.residuals.std(axis=0).tolist(), strict=True))


@dataclass
class Risk:
    """What a report says; `node` and `machine` are the operating characteristics."""

    noise: Noise
    node: list = field(default_factory=list)  # (level to the contract, P(fails for good))
    machine: list = field(default_factory=list)  # (bad nodes, P(accepted))
    bad_node: float = 0.0  # P(a bad node fails for good)
    good_node: float = 0.0  # P(a good node does)
    buyer: float = 0.0  # P(accepted), one bad node more than allowed
    vendor: float = 0.0  # P(refused), no bad node
    limits: tuple = ()  # (buyer, vendor) where the noise is at its upper limit
    again: float | None = None  # P(this machine, measured again, is accepted)


def measured_noise(protocol, nodes):
    """Noise of the believed runs, or what the protocol assumes, or None."""
    kernels = tuple(protocol['contract'])
    parts = [_residuals(node, kernels) for node in nodes]
    residuals = np.concatenate([p for p in parts if p is not None] or [np.empty((0, 1))])
    if len(residuals) >= ENOUGH:
        count = sum(p is not None for p in parts)
        text = f'{len(residuals)} runs of {count} nodes'
        return Noise(residuals, text, kernels, len(residuals) - count)
    assumed = protocol['risk'].get('noise')
    if assumed is None:
        return None
    # normal, all kernels of a run alike: the worst case for a rule that asks for every kernel
    quantiles = stats.norm.ppf((np.arange(2000) + 0.5) / 2000) * assumed
    text = f'assumed: normal, {assumed:.2%} (fewer than {ENOUGH} runs tell)'
    return Noise(np.repeat(quantiles[:, None], len(kernels), axis=1), text, kernels)


def _residuals(node, kernels):
    runs = [r.rates for r in node.runs if not r.invalid and not r.outside]
    if len(runs) < 2:
        return None
    values = np.array([[run[k] for k in kernels] for run in runs])
    widen = np.sqrt(len(runs) / (len(runs) - 1))
    return (values / values.mean(axis=0) - 1) * widen


def node_fails(protocol, noise, level, resamples=RESAMPLES):
    """P(a node whose true rates are contract x (1 + level) fails for good).

    `level` is a number, or one a kernel.  The retest rounds draw anew, so they multiply.
    """
    rng, rounds = np.random.default_rng(SEED), protocol['retest']['rounds']
    first = _test_fails(protocol, noise, level, protocol['runs']['repetitions'], resamples, rng)
    if not rounds or not first:
        return first
    repetitions = protocol['retest']['repetitions']
    return first * _test_fails(protocol, noise, level, repetitions, resamples, rng) ** rounds


def _test_fails(protocol, noise, level, repetitions, resamples, rng):
    of = STATISTICS[protocol['runs']['statistic']]
    drawn = noise.residuals[rng.integers(0, len(noise.residuals), (resamples, repetitions))]
    # smoothed, kernels alike: a few runs have no tails; shrunk, so that the spread stays
    h = noise.smoothing
    shift = h * rng.standard_normal((resamples, repetitions, 1)) * noise.residuals.std(axis=0)
    drawn = (drawn + shift) / np.sqrt(1 + h * h)
    reached = of((1 + np.asarray(level)) * (1 + drawn), axis=1)  # resamples x kernels
    return float((reached < 1).any(axis=1).mean())


def accepted(protocol, bad, fails_bad, fails_good):
    """P(accepted) of a machine with `bad` bad nodes, exactly."""
    tested, allowed = protocol['nodes']['count'], protocol['rule']['allowed_failures']
    total = protocol['nodes'].get('of', tested)
    among = np.arange(max(0, tested - (total - bad)), min(bad, tested) + 1)
    weights = stats.hypergeom.pmf(among, total, bad, tested)
    found = [_at_most(allowed, k, tested - k, fails_bad, fails_good) for k in among.tolist()]
    return float(np.clip(np.dot(weights, found), 0, 1))


def _at_most(allowed, bad, good, fails_bad, fails_good):
    """P(no more than `allowed` failures), two binomials added."""
    of_bad = np.arange(min(allowed, bad) + 1)
    left = stats.binom.cdf(allowed - of_bad, good, fails_good)
    return float(np.dot(stats.binom.pmf(of_bad, bad, fails_bad), left))


def at_most_of(allowed, probabilities):
    """P(no more than `allowed` of independent events): Poisson's binomial, by convolution."""
    counts = np.zeros(allowed + 1)
    counts[0] = 1
    for p in probabilities:
        counts[1:] = counts[1:] * (1 - p) + counts[:-1] * p
        counts[0] *= 1 - p
    return float(counts.sum())


def assess(protocol, nodes=()):
    """A Risk, or None where neither runs nor protocol tell the noise."""
    noise = measured_noise(protocol, nodes)
    if noise is None:
        return None
    found = Risk(noise)
    found.node = [(level, node_fails(protocol, noise, level)) for level in LEVELS]
    found.bad_node, found.good_node = _both(protocol, noise)
    found.machine = list(_machine(protocol, found.bad_node, found.good_node))
    found.buyer, found.vendor = _two_risks(protocol, found.bad_node, found.good_node)
    found.limits = _two_risks(protocol, *_both(protocol, noise.at_its_limit()))
    found.again = _again(protocol, noise, nodes)
    return found


def _both(protocol, noise):
    """P(a bad node fails for good), P(a good one does)."""
    levels = (-protocol['risk']['bad_node'], protocol['risk']['good_node'])
    return tuple(node_fails(protocol, noise, level) for level in levels)


def _two_risks(protocol, fails_bad, fails_good):
    """P(accepted with one bad node more than allowed), P(refused without any)."""
    too_many = min(protocol['rule']['allowed_failures'] + 1, _total(protocol))
    return (
        accepted(protocol, too_many, fails_bad, fails_good),
        1 - accepted(protocol, 0, fails_bad, fails_good),
    )


def _total(protocol):
    return protocol['nodes'].get('of', protocol['nodes']['count'])


def _machine(protocol, fails_bad, fails_good):
    """From no bad node until the machine is hardly ever accepted."""
    allowed, total = protocol['rule']['allowed_failures'], _total(protocol)
    steps = {0, 1, allowed, *range(allowed + 1, allowed + 6)}
    steps |= {round(total * share) for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)}
    for bad in sorted(s for s in steps if s <= total):
        passes = accepted(protocol, bad, fails_bad, fails_good)
        yield bad, passes
        if bad > allowed and passes < HARDLY:
            return


def _again(protocol, noise, nodes):
    """Each node taken to be what its runs said on average."""
    contract = np.array(list(protocol['contract'].values()))
    levels = []
    for node in nodes:
        rates = [r.rates for r in node.runs if not r.invalid and not r.outside]
        if rates:
            values = np.array([[run[k] for k in protocol['contract']] for run in rates])
            levels.append(values.mean(axis=0) / contract - 1)
    if len(levels) < protocol['nodes']['count']:
        return None
    largest = float(np.abs(noise.residuals).max() + 5 * noise.smoothing * noise.residuals.std())
    far = largest / (1 - largest)  # no draw brings a node from there below the contract
    fails = [0.0 if (lv > far).all() else node_fails(protocol, noise, lv, 4000) for lv in levels]
    return at_most_of(protocol['rule']['allowed_failures'], fails)
