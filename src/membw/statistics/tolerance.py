"""A reference from runs: median, tolerances, how sure; or a refusal, and why."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from membw.statistics import robust
from membw.statistics.populations import find_populations

DRAWS = 1000  # of the bootstrap
PARTS = 100  # of the cross-validation
SEED = 1  # the same runs give the same words
MAX_INVALID = 0.10  # more: what is measured is not under control
MAX_SLOW = 0.10
LEAST_RUNS = 3  # before a node is called slow and left out
SLOW, SLOW_ALPHA = 0.02, 0.01  # rank.py's
FEW_CLUSTERS = 5
SHOWN = 8  # names


@dataclass(frozen=True)
class Rule:
    """What is asked of a reference."""

    coverage: float = 0.95  # share of healthy runs within it ...
    confidence: float = 0.95  # ... with this certainty
    margin: float = 0.02  # never closer below ...
    upper: float = 0.05  # ... or above: much faster is another measurement
    all_nodes: bool = False  # the nodes measured are all there are


@dataclass
class Proposal:
    """Of one partition, environment and pinning; fractions below and above the median."""

    samples: object
    kernels: dict  # kernel -> Kernel
    effective: int
    alarms: tuple  # share of healthy runs out of tolerance: mean, 2.5 %, 97.5 %
    notes: list = field(default_factory=list)


@dataclass
class Kernel:
    median: float  # GB/s
    interval: tuple
    low: float
    high: float


class Refusal(Exception):
    """These runs give no reference: a line that says why."""


def needed(coverage, confidence):
    """Runs for a one-sided tolerance limit without any assumption: 59 for 95/95, 299 for 99/95.

    S. Wilks, Ann. Math. Stat. 12 (1941).
    """
    return int(np.ceil(np.log(1 - confidence) / np.log(coverage) - 1e-9))


def tolerance_rank(count, coverage, confidence):
    """The r-th smallest of `count` lies below `coverage` of all, with `confidence`; 0: none."""
    ranks = np.arange(1, count + 1)
    sure = stats.binom.sf(ranks - 1, count, 1 - coverage) >= confidence - 1e-12
    return int(sure.sum())


def median_interval(values, effective, confidence=0.95):
    """Of the median, without assumptions, by order statistics: W. Conover, Practical
    Nonparametric Statistics, 1999, 3.2; for `effective` independent values among these."""
    rising = np.sort(values)
    place = stats.binom.ppf((1 - confidence) / 2, effective, 0.5) / effective
    first = max(int(np.floor(place * len(rising))) - 1, 0)
    return float(rising[first]), float(rising[len(rising) - 1 - first])


def effective_size(rates, clusters):
    """Independent runs that these are worth: L. Kish, Survey Sampling, 1965: n / (1 + (m-1) rho)
    with the largest intraclass correlation rho of any kernel."""
    count, sizes = len(rates), np.bincount(clusters)
    groups = len(sizes)
    if groups < 2 or groups == count:
        return count
    means = np.stack([np.bincount(clusters, column) / sizes for column in rates.T], axis=1)
    within = ((rates - means[clusters]) ** 2).sum(axis=0) / (count - groups)
    between = (sizes[:, None] * (means - rates.mean(axis=0)) ** 2).sum(axis=0) / (groups - 1)
    usual = (count - (sizes**2).sum() / count) / (groups - 1)
    spread = between + (usual - 1) * within
    rho = np.clip((between - within) / np.where(spread > 0, spread, 1), 0, 1).max()
    return int(count / (1 + (usual - 1) * rho))


def propose(samples, rule):
    """A Proposal; raises Refusal."""
    _refuse_invalid(samples)
    if samples.rates is None:
        raise Refusal('no run that may be believed')
    notes = []
    _refuse_populations(samples, _node_medians(samples), 'nodes')
    samples = _of(samples, _without_slow_nodes(samples, notes))
    _refuse_populations(samples, samples.rates, 'runs')
    rates, clusters = samples.rates, samples.clusters
    effective = _effective(samples, rates, clusters, rule, notes)
    limits = _limits(rates, effective, rule)
    kernels = {
        name: Kernel(
            round(float(limits[0][k]), 3), median_interval(rates[:, k], effective),
            float(limits[1][k]), float(limits[2][k]),
        )
        for k, name in enumerate(samples.kernels)
    }  # fmt: skip
    alarms = false_alarms(rates, clusters, effective, rule)
    return Proposal(samples, kernels, effective, alarms, notes)


def _refuse_invalid(samples):
    invalid = {why: n for why, n in samples.left.items() if why.startswith('INVALID')}
    total = sum(invalid.values()) + (0 if samples.rates is None else len(samples.rates))
    if sum(invalid.values()) > MAX_INVALID * total:
        reasons = ', '.join(f'{n} {why.removeprefix("INVALID: ")}' for why, n in invalid.items())
        raise Refusal(f'{sum(invalid.values())} of {total} runs are INVALID ({reasons})')


def _without_slow_nodes(samples, notes):
    """Runs of the nodes that rank.py would not call slow: a bad node must not widen the rule."""
    names, number = np.unique(samples.nodes, return_inverse=True)
    kept = np.ones(len(number), dtype=bool)
    if len(names) < 4:
        return kept
    ratio, _, p = robust.judge_low(_node_medians(samples))
    p = np.where(ratio < 1 - SLOW, np.minimum(1, p * p.shape[1]), 1.0).min(axis=1)
    low = robust.adjust(p) <= SLOW_ALPHA
    # fewer runs may have been bad runs of a good node: healthy ones have them, too
    slow = low & (np.bincount(number) >= LEAST_RUNS)
    for i in np.flatnonzero(low & ~slow):
        notes.append(f'{names[i]} is low ({ratio[i].min() - 1:+.1%}): measure it again')
    if slow.mean() > MAX_SLOW:
        raise Refusal(f'{slow.sum()} of {len(names)} nodes are slow: {_names(names[slow])}')
    for i in np.flatnonzero(slow):
        notes.append(f'{names[i]} is slow ({ratio[i].min() - 1:+.1%}) and left out')
    return ~slow[number]


def _names(names):
    more = f' and {len(names) - SHOWN} more' if len(names) > SHOWN else ''
    return ' '.join(names[:SHOWN]) + more


def _of(samples, kept):
    """The runs that are kept."""
    where = np.flatnonzero(kept)
    nodes, times = ([values[i] for i in where] for values in (samples.nodes, samples.times))
    return replace(samples, nodes=nodes, times=times, rates=samples.rates[kept])


def _node_medians(samples):
    """nodes x kernels; nodes by name."""
    names, number = np.unique(samples.nodes, return_inverse=True)
    return np.stack([np.median(samples.rates[number == i], axis=0) for i in range(len(names))])


def _refuse_populations(samples, figures, what):
    """`figures` are nodes or runs x kernels."""
    for kernel, column in zip(samples.kernels, figures.T, strict=True):
        labels = find_populations(column)
        if not labels.max():
            continue
        parts = [
            f'{(labels == i).sum()} {what} at {np.median(column[labels == i]):.1f}'
            for i in range(labels.max() + 1)
        ]
        text = f'{len(parts)} populations of {kernel}: {", ".join(parts)} GB/s'
        if what == 'nodes':
            text += f'; the slowest: {_names(np.unique(samples.nodes)[labels == labels.max()])}'
        raise Refusal(text)


def _effective(samples, rates, clusters, rule, notes):
    nodes, least = len(set(samples.nodes)), needed(rule.coverage, rule.confidence)
    if len(rates) < least:
        raise Refusal(
            f'too few runs: {len(rates)}, but {least} are needed to say of {rule.coverage:.0%} of '
            f'all runs with {rule.confidence:.0%} confidence'
        )
    effective = effective_size(rates, clusters)
    if nodes == 1 and clusters.max(initial=0) == 0:
        notes.append('all of one node and one day (UTC): what differs between nights is not in it')
    elif nodes == 1:
        notes.append('of one node: what differs between nodes is not in it')
    if effective >= least or rule.all_nodes or nodes == 1 and not clusters.max(initial=0):
        return max(effective, least)
    what = f'{nodes} nodes' if nodes > 1 else f'{clusters.max() + 1} nights'
    raise Refusal(
        f'{len(rates)} runs of {what} are worth {effective} independent ones, {least} are needed: '
        f'measure more {what.split()[1]}'
        + (', or say --all-nodes if the partition has no others' if nodes > 1 else '')
    )


def _limits(rates, effective, rule):
    """Medians, tolerances below and above: arrays, a figure a kernel."""
    rank = max(tolerance_rank(effective, rule.coverage, rule.confidence), 1) - 1
    rising = np.sort(rates, axis=0)
    median = np.median(rates, axis=0)
    low = np.minimum(rising[rank] / median - 1, -rule.margin)
    high = np.maximum(rising[-1 - rank] / median - 1, rule.upper)
    return median, np.floor(low * 1000) / 1000, np.ceil(high * 1000) / 1000


def false_alarms(rates, clusters, effective, rule):
    """Share of healthy runs that fail by any kernel: mean and 95 % interval.

    Each part of the nodes is held to tolerances set by the others (cross-validation, M. Stone,
    JRSS B 36 (1974)); the interval by drawing whole nodes with replacement, because runs of one
    node are no news (A. Davison, D. Hinkley, Bootstrap Methods, 1997, 3.8).  Where none fails,
    3 / n bounds it: J. Hanley, A. Lippman-Hand, JAMA 249 (1983).
    """
    random = np.random.default_rng(SEED)
    if clusters.max(initial=0) + 1 < FEW_CLUSTERS:
        clusters = np.arange(len(rates))
    count = clusters.max() + 1
    part = random.permutation(count)[clusters] % min(count, PARTS)
    failed = np.zeros(len(rates))
    for i in range(part.max() + 1):
        failed[part == i] = _outside(rates[part != i], rates[part == i], effective, rule)
    fails, sizes = np.bincount(clusters, failed), np.bincount(clusters)
    drawn = random.integers(count, size=(DRAWS, count))
    shares = fails[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(shares, [2.5, 97.5])
    return float(failed.mean()), float(low), float(high if failed.any() else 3 / effective)


def _outside(others, tested, effective, rule):
    """Which tested runs the others' tolerances fail."""
    median, low, high = _limits(others, effective, rule)
    ratio = tested / median - 1
    return ((ratio < low) | (ratio > high)).any(axis=1)
