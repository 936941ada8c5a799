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

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import stats

from membw.statistics.nights import nights_of

RESAMPLES = 20_000
SEED = 20261121  # a report that is made again says the same
HARDLY = 1e-4
TAIL_KURTOSIS, TAIL_SKEWNESS = 1.0, 0.5  # from here on the runs are said to have a tail
HANDFUL = 5  # runs: so few tell nothing of the tail that they lie in
ENOUGH = 20  # residuals; with fewer the tails are not known at all
LEVELS = (-0.05, -0.04, -0.03, -0.02, -0.01, -0.005, 0.0, 0.005, 0.01, 0.02, 0.03, 0.05)
STATISTICS = {'median': np.median, 'worst': np.min, 'best': np.max}


@dataclass
class Noise:
    """Relative deviations of runs from their node's level, night by night of each node."""

    nights: np.ndarray  # nights x kernels: of a night's runs from the node's
    runs: np.ndarray  # nights x runs x kernels: of a run from its night's; NaN where there is none
    source: str
    kernels: tuple = ()
    freedom: float = 0  # 0: assumed, not measured
    one_night: bool = False  # what a night does to all its runs is not in it
    assumed: bool = False
    diluted: float = 1.0  # so much larger a deviation from the true level may be than these
    apart: bool = False  # no night has two runs: whether they would share more is not known

    @cached_property
    def residuals(self):
        """Of each run: runs x kernels."""
        every = self.nights[:, None, :] + self.runs
        return every[~np.isnan(every).any(axis=2)]

    @cached_property
    def smoothing(self):
        """Width of the normal kernel, in spreads (Silverman's rule)."""
        return 1.06 * len(self.residuals) ** -0.2

    @cached_property
    def spreads(self):
        """(of nights, of runs within theirs), by kernel; asked for a hundred times."""
        return self.nights.std(axis=0), np.nanstd(self.runs, axis=(0, 1))

    @cached_property
    def sizes(self):
        """Runs of each night."""
        return (~np.isnan(self.runs[:, :, 0])).sum(axis=1)

    def times(self, factor):
        return replace(self, nights=self.nights * factor, runs=self.runs * factor)

    def limits(self):
        """The noise as small, and as large, as it may be: 95 % limits of the spread by chi
        squared, with fewer degrees of freedom the longer the tails (M. O'Neill, The American
        Statistician 68 (2014)); larger still as a node's level, known from its few runs only,
        hides some of a tail: by half of what it may hide, by all where the runs show a tail."""
        if not self.freedom:
            return [self]
        kurtosis = max(0.0, float(stats.kurtosis(self.residuals, axis=0).max()))
        skewness = float(stats.skew(self.residuals, axis=0).min())
        freedom = max(1.0, self.freedom / (1 + kurtosis / 2))
        least, most = np.sqrt(freedom / stats.chi2.ppf([0.95, 0.05], freedom))
        tail = np.clip(max(kurtosis / TAIL_KURTOSIS, -skewness / TAIL_SKEWNESS), 0.5, 1)
        most *= 1 + (self.diluted - 1) * tail
        every = [self.times(least), self, self.times(most)]
        return every + [replace(noise, apart=False) for noise in every if noise.apart]

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
    limits: tuple | None = None  # (buyer, vendor) at most; None: one night cannot tell
    again: float | None = None  # P(this machine, measured again, is accepted)


def measured_noise(protocol, nodes):
    """Noise of the believed runs, or what the protocol assumes, or None."""
    kernels = tuple(protocol['contract'])
    several = protocol['runs'].get('nights', 1) > 1
    parts = [part for node in nodes if (part := _deviations(node, kernels, several))]
    count = sum(len(run) for _, runs in parts for run in runs)
    if count >= ENOUGH:
        nights = np.concatenate([nights for nights, _ in parts])
        runs = [run for _, of_node in parts for run in of_node]
        units = len(nights) if several else count  # what deviates independently
        freedom = units - len(parts)
        return Noise(
            nights, _padded(runs), f'{count} runs of {len(parts)} nodes', kernels, freedom,
            one_night=not several, diluted=np.sqrt(units / freedom), apart=units == count,
        )  # fmt: skip
    assumed = protocol['risk'].get('noise')
    if assumed is None:
        return None
    quantiles = stats.norm.ppf((np.arange(2000) + 0.5) / 2000) * assumed
    text = f'assumed: normal, {assumed:.2%} (fewer than {ENOUGH} runs tell)'
    shape = len(quantiles), len(kernels)
    nights = np.broadcast_to(quantiles[:, None], shape)
    return Noise(nights, np.zeros((shape[0], 1, shape[1])), text, kernels, assumed=True)


def _deviations(node, kernels, several):
    """(of each night from the node, [of its runs from the night]); a night is a run of its own
    where the protocol asks for one night only.  None: too few to tell."""
    runs = [r for r in node.runs if not r.invalid and not r.outside]
    nights = [r.night if several else i for i, r in enumerate(runs)]
    if len(set(nights)) < 2:
        return None
    values = np.array([[run.rates[k] for k in kernels] for run in runs])
    groups = [values[np.array(nights) == night] for night in sorted(set(nights))]
    means = np.stack([group.mean(axis=0) for group in groups])
    level = means.mean(axis=0)
    widen = np.sqrt(len(groups) / (len(groups) - 1))
    within = [(group - mean) / level for group, mean in zip(groups, means, strict=True)]
    return (means / level - 1) * widen, within


def _padded(runs):
    """Arrays of runs x kernels as one, NaN where a night has fewer."""
    nights = np.full((len(runs), max(map(len, runs)), runs[0].shape[1]), np.nan)
    for row, of_night in zip(nights, runs, strict=True):
        row[: len(of_night)] = of_night
    return nights


def node_fails(protocol, noise, level, resamples=RESAMPLES, alike=True):
    """P(a node whose true rates are contract x (1 + level) fails for good).

    `level` is a number, or one a kernel.  The retest rounds draw anew, so they multiply.
    Where the noise is assumed, `alike` says whether the kernels of a run err alike.
    """
    rng, rounds = np.random.default_rng(SEED), protocol['retest']['rounds']
    rest = resamples, rng, alike or not noise.assumed
    first = _test_fails(protocol, noise, level, protocol['runs']['repetitions'], *rest)
    if not rounds or not first:
        return first
    repetitions = protocol['retest']['repetitions']
    return first * _test_fails(protocol, noise, level, repetitions, *rest) ** rounds


def _test_fails(protocol, noise, level, repetitions, resamples, rng, alike):
    of = STATISTICS[protocol['runs']['statistic']]
    drawn = _drawn(protocol, noise, (resamples, repetitions), rng, alike)
    reached = of((1 + np.asarray(level)) * (1 + drawn), axis=1)  # resamples x kernels
    return float((reached < 1).any(axis=1).mean())


def _drawn(protocol, noise, shape, rng, alike):
    """Deviations of so many tests of so many runs: tests x runs x kernels.

    Nights are drawn whole, with runs of theirs, so that what a night's runs share stays shared;
    smoothed, kernels alike: a few runs have no tails; shrunk, so that the spread stays.
    """
    tests, repetitions = shape
    nights = nights_of(protocol, repetitions)
    if nights == 1 or noise.apart:  # each run is drawn by itself
        nights = repetitions
    of_run = np.arange(repetitions) * nights // repetitions
    night = rng.integers(0, len(noise.nights), (tests, nights))
    run = (rng.random(shape) * noise.sizes[night[:, of_run]]).astype(int)
    shared, own = noise.nights[night], noise.runs[night[:, of_run], run]
    (h, columns), (of_nights, of_runs) = (noise.smoothing, 1), noise.spreads
    if not alike:
        columns = shared.shape[2]
        shared = np.stack([rng.permuted(shared[:, :, k]) for k in range(columns)], axis=2)
    shared = shared + h * of_nights * rng.standard_normal((tests, nights, columns))
    own = own + h * of_runs * rng.standard_normal((*shape, columns))
    return (shared[:, of_run] + own) / np.sqrt(1 + h * h)


def accepted(protocol, bad, fails_bad, fails_good):
    """P(accepted) of a machine with `bad` bad nodes, exactly."""
    tested, allowed = protocol['nodes']['count'], protocol['rule']['allowed_failures']
    total = protocol['nodes'].get('of', tested)
    among = np.arange(max(0, tested - (total - bad)), min(bad, tested) + 1)
    weights = stats.hypergeom.pmf(among, total, bad, tested)
    chances = [_at_most(allowed, k, tested - k, fails_bad, fails_good) for k in among.tolist()]
    return float(np.clip(np.dot(weights, chances), 0, 1))


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
    risk = Risk(noise)
    risk.node = [(level, node_fails(protocol, noise, level)) for level in LEVELS]
    risk.bad_node, risk.good_node = _both(protocol, noise)
    risk.machine = list(_machine(protocol, risk.bad_node, risk.good_node))
    risk.buyer, risk.vendor = _two_risks(protocol, risk.bad_node, risk.good_node)
    if not noise.one_night:
        # more noise is not always the worse: the lowest of five runs is lower with more of it
        every = [_two_risks(protocol, *_both(protocol, limit)) for limit in noise.limits()]
        every.append(_two_risks(protocol, risk.bad_node, _fails_by_count(protocol, noise)))
        risk.limits = tuple(map(max, zip(*every, strict=True)))
    risk.again = _again(protocol, noise, nodes)
    return risk


def _both(protocol, noise):
    """P(a bad node fails for good), P(a good one does), both as bad for who bears the risk as
    assumed noise may be: kernels that err alike save a bad node, and each by itself fails a good
    one."""
    return (
        node_fails(protocol, noise, -protocol['risk']['bad_node']),
        node_fails(protocol, noise, protocol['risk']['good_node'], alike=False),
    )


def _fails_by_count(protocol, noise):
    """P(a good node fails for good), at most, where hardly a run was so low that it decides.

    What is drawn from a handful of runs says little of a tail; how many they are is exact,
    whatever the distribution (C. Clopper, E. Pearson, Biometrika 26 (1934)). Counted are the
    nights of nodes, with any run that low: whatever a night's runs share.  0: enough were low.
    """
    if noise.assumed:
        return 0.0
    good = protocol['risk']['good_node']
    # one run far off is as far from its node's mean as this says; NaN is not low
    every = noise.nights[:, None, :] + noise.runs
    low = ((1 + good) * (1 + every * noise.diluted) < 1).any(axis=(1, 2))
    count = int(low.sum())
    if count > HANDFUL:
        return 0.0
    p, tests = float(stats.beta.ppf(0.95, count + 1, len(low) - count)), protocol['retest']
    runs = noise.runs.shape[1]
    first = _test_fails_by(protocol, p, runs, protocol['runs']['repetitions'])
    return first * _test_fails_by(protocol, p, runs, tests['repetitions']) ** tests['rounds']


def _test_fails_by(protocol, p, runs, repetitions):
    """P(a test fails), at most, of a chance `p` that a night of so many `runs` has one too low."""
    decide = {'worst': 1, 'median': (repetitions + 1) // 2, 'best': repetitions}
    nights = nights_of(protocol, repetitions)
    most = -(-repetitions // nights)  # runs of a night
    least = -(-decide[protocol['runs']['statistic']] // most)  # nights that are low
    return float(stats.binom.sf(least - 1, nights, min(1.0, p * -(-most // runs))))


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
