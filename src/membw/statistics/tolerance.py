"""A reference from runs: median, tolerances, how sure; or a refusal, and why."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from membw.statistics import doubtful_nodes, nodes_apart
from membw.statistics.margin import MARGIN
from membw.statistics.populations import find_populations

DRAWS = 1000  # of the bootstrap
PARTS = 100  # of the cross-validation
SHIFTS = 199  # normal quantiles that stand for nights to come
SEED = 1  # the same runs give the same words
MAX_INVALID = 0.10  # more: what is measured is not under control
MAX_SLOW = 0.10
FEW_CLUSTERS = 5
USUAL = 0.95, 0.95  # coverage and confidence
SHIFT_ALPHA = 0.05
SHOWN = 8  # names
ONE_ONLY = 'give the results of one, or say by --since from when on it is one'


@dataclass(frozen=True)
class Rule:
    """What is asked of a reference."""

    coverage: float = 0.95  # share of healthy runs within it ...
    confidence: float = 0.95  # ... with this certainty
    margin: float = MARGIN  # never closer below ...
    upper: float = 0.05  # ... or above: much faster is another measurement
    all_nodes: bool = False  # the nodes measured are all there are
    widest: float = 0.10  # a tolerance beyond it has to be agreed to


@dataclass
class Proposal:
    """Of one partition, environment and pinning; fractions below and above the median."""

    samples: object
    kernels: dict  # kernel -> Kernel
    effective: int
    alarms: tuple  # share of healthy runs out of tolerance: mean, 2.5 %, 97.5 % (None: not known)
    notes: list = field(default_factory=list)


@dataclass
class Kernel:
    """Of rates: larger is better, whatever was measured."""

    median: float
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


def effective_size(rates, *groupings):
    """Independent runs that these are worth: L. Kish, Survey Sampling, 1965: n / (1 + (m-1) rho)
    with the largest intraclass correlation rho of any kernel; of groupings that cross each other
    (nodes, nights) each adds its (m-1) rho."""
    return int(len(rates) / (1 + sum(_excess(rates, groups) for groups in groupings)))


def _excess(rates, clusters):
    """(m - 1) rho of one grouping; 0 where it cannot be told."""
    count, sizes = len(rates), np.bincount(clusters)
    groups = len(sizes)
    if groups < 2 or groups == count:
        return 0.0
    means = np.stack([np.bincount(clusters, column) / sizes for column in rates.T], axis=1)
    within = ((rates - means[clusters]) ** 2).sum(axis=0) / (count - groups)
    between = (sizes[:, None] * (means - rates.mean(axis=0)) ** 2).sum(axis=0) / (groups - 1)
    usual = (count - (sizes**2).sum() / count) / (groups - 1)
    spread = between + (usual - 1) * within
    rho = np.clip((between - within) / np.where(spread > 0, spread, 1), 0, 1).max()
    return float((usual - 1) * rho)


def night_factor(nights, coverage, confidence):
    """So many standard deviations below the mean of `nights` normal ones: W. Hahn, G. Meeker,
    Statistical Intervals, 1991, 4.4 (7.66 for three, 4.20 for five, 2.91 for ten at 95/95)."""
    distance = stats.norm.ppf(coverage) * np.sqrt(nights)
    return float(stats.nct.ppf(confidence, nights - 1, distance) / np.sqrt(nights))


def propose(samples, rule):
    """A Proposal; raises Refusal."""
    if samples.mixed:
        raise Refusal(f'runs of different {samples.mixed}: {ONE_ONLY}')
    _refuse_invalid(samples)
    if samples.rates is None:
        raise Refusal('no run that may be believed')
    notes = []
    _refuse_populations(samples, _node_medians(samples), 'nodes')
    _refuse_populations_of_mean(samples, _node_medians(samples))
    healthy = _of(samples, ~_is_apart(samples, notes)[_numbers(samples.nodes)])
    _refuse_populations(healthy, healthy.rates, 'runs')
    left = _nodes(samples) - _nodes(healthy), len(samples.nodes) - len(healthy.nodes)
    effective, shift = _effective(healthy, rule, notes)
    limits = _limits(healthy.rates, effective, rule, left[1], shift)
    kernels = {
        name: Kernel(
            float(limits[0][k]), median_interval(healthy.rates[:, k], effective),
            float(limits[1][k]), float(limits[2][k]),
        )
        for k, name in enumerate(samples.kernels)
    }  # fmt: skip
    _refuse_wide(kernels, rule)
    alarms = _stated(healthy, effective, rule, left, limits, shift)
    return Proposal(healthy, kernels, effective, alarms, notes)


def _numbers(labels):
    """Of each label its place among them, sorted."""
    place = {label: i for i, label in enumerate(sorted(set(labels)))}
    return np.fromiter((place[label] for label in labels), int, len(labels))


def _nodes(samples):
    return len(set(samples.nodes))


def _refuse_invalid(samples):
    invalid = {why: n for why, n in samples.left.items() if why.startswith('INVALID')}
    total = sum(invalid.values()) + (0 if samples.rates is None else len(samples.rates))
    if sum(invalid.values()) > MAX_INVALID * total:
        reasons = ', '.join(f'{n} {why.removeprefix("INVALID: ")}' for why, n in invalid.items())
        raise Refusal(f'{sum(invalid.values())} of {total} runs are INVALID ({reasons})')


def _is_apart(samples, notes):
    """Nodes, by name, that must not set a tolerance, however few their runs, by the medians of
    these."""
    names, number = np.array(sorted(set(samples.nodes))), _numbers(samples.nodes)
    ranks, steady = (
        None if table is None else _medians_of(table, number)
        for table in (samples.ranks, samples.steady)
    )
    totals = _medians_of(samples.rates, number)
    _refuse_halves(totals, names)
    why = nodes_apart.find(
        samples.metrics, totals, ranks, np.ones(len(names)) if steady is None else steady
    )
    apart = np.isin(np.arange(len(names)), list(why))
    if apart.mean() > MAX_SLOW:
        raise Refusal(
            f'{apart.sum()} of {len(names)} nodes are slow or not to be believed: '
            f'{_names(names[apart])}; `membw rank` says what is wrong with them'
        )
    for i in np.flatnonzero(apart):
        runs = np.bincount(number)[i]
        of = 'its only run is' if runs == 1 else f'its {runs} runs are'
        notes.append(f'{names[i]} {why[i]}: {of} left out')
    return apart


def _refuse_halves(totals, names):
    parts = doubtful_nodes.slower_half(totals, MARGIN)
    if parts is not None:
        slower = names[np.sort(parts[0])]
        raise Refusal(
            f'{len(slower)} of {len(names)} nodes {doubtful_nodes.loss(totals, parts):+.1%} to '
            f'the others, and which are right cannot be told: {_names(slower)}'
        )


def _names(names):
    more = f' and {len(names) - SHOWN} more' if len(names) > SHOWN else ''
    return ' '.join(names[:SHOWN]) + more


def _of(samples, kept):
    """The runs that are kept."""
    where = np.flatnonzero(kept)
    nodes, times = ([values[i] for i in where] for values in (samples.nodes, samples.times))
    ranks, steady = (
        None if table is None else table[kept] for table in (samples.ranks, samples.steady)
    )
    return replace(
        samples, nodes=nodes, times=times, rates=samples.rates[kept], ranks=ranks, steady=steady
    )


def _node_medians(samples):
    """nodes x kernels; nodes by name."""
    return _medians_of(samples.rates, _numbers(samples.nodes))


def _medians_of(rates, number):
    """A row a group, of rows with the number of their group."""
    order = np.argsort(number, kind='stable')
    ends = np.cumsum(np.bincount(number))[:-1]
    return np.stack([np.median(part, axis=0) for part in np.split(rates[order], ends)])


def _refuse_populations(samples, figures, what):
    """`figures` are nodes or runs x kernels."""
    for metric, column in zip(samples.metrics, figures.T, strict=True):
        _refuse_parts(samples, column, what, f'{metric.name}, {metric.unit}', metric.figure)


def _refuse_populations_of_mean(samples, figures):
    """As `membw rank` does: what each kernel shows a little, all together may show."""
    speed = np.exp(np.log(figures / np.median(figures, axis=0)).mean(axis=1))
    _refuse_parts(samples, speed, 'nodes', 'the mean of kernels, % of the usual node',
                  lambda ratio: 100 * ratio)  # fmt: skip


def _refuse_parts(samples, column, what, of, figure):
    labels = find_populations(column)
    if not labels.max():
        return
    parts = [
        f'{(labels == i).sum()} {what} at {figure(np.median(column[labels == i])):.1f}'
        for i in range(labels.max() + 1)
    ]
    text = f'{len(parts)} populations of {of}: {", ".join(parts)}'
    if what == 'runs':
        raise Refusal(
            f'{text}: a node in two states, two nodes of one name, or a change: {ONE_ONLY}'
        )
    slowest = _names(np.unique(samples.nodes)[labels == labels.max()])
    raise Refusal(
        f'{text}; the slowest: {slowest}: `membw rank` says what differs; nodes of two kits are '
        'two partitions'
    )


def _effective(samples, rule, notes):
    """(independent runs that these are worth, how nights shift all of them or None).

    Nodes that are too few give no reference. Nights that are too few for order statistics are
    taken to shift the fleet normally, and what K nights leave open of that widens the tolerance.
    """
    rates, least = samples.rates, needed(rule.coverage, rule.confidence)
    if len(rates) < least:
        raise Refusal(
            f'too few runs: {len(rates)}, but {least} are needed to say of {rule.coverage:.0%} of '
            f'all runs with {rule.confidence:.0%} confidence'
        )
    nodes, nights = _numbers(samples.nodes), samples.nights
    if not nodes.max():
        return _of_one_node(rates, nights, least, notes), None
    by_nodes = effective_size(rates, nodes)
    if by_nodes < least and not rule.all_nodes:
        raise Refusal(
            f'{len(rates)} runs of {nodes.max() + 1} nodes are worth {by_nodes} independent ones, '
            f'{least} are needed: measure more nodes, '
            f'or say --all-nodes if the partition has no others'
        )
    by_nodes = max(by_nodes, least)
    if not nights.max():
        notes.append(
            f'all of one night: {nodes.max() + 1} nodes, but what nights do to all of them is '
            f'not in the tolerances: measure on more nights'
        )
        return by_nodes, None
    both, shift = effective_size(rates, nodes, nights), Shift(nights)
    # nights few enough for a low coverage would give the lowest runs as its limit: wider than
    # that of a higher coverage, whose nights are too few
    enough = max(least, needed(*USUAL))
    if both >= enough or not shift.is_sure(rates):
        return max(both, enough), None
    notes.append(
        f'{shift.count} nights differ (by {shift.spread(rates).max():.2%}) and are too few: '
        f'the tolerances are wider for it; more nights narrow them'
    )
    return by_nodes, shift


def _of_one_node(rates, nights, least, notes):
    if not nights.max():
        notes.append('all of one node and one night: measure on more nights, and more nodes')
        return max(effective_size(rates, np.zeros(len(rates), dtype=int)), least)
    notes.append('of one node: what differs between nodes is not in the tolerances')
    effective = effective_size(rates, nights)
    if effective < least:
        raise Refusal(
            f'{len(rates)} runs of {nights.max() + 1} nights are worth {effective} independent '
            f'ones, {least} are needed: measure more nights'
        )
    return effective


class Shift:
    """What a night does to all nodes alike."""

    def __init__(self, nights):
        self.nights, self.count = nights, int(nights.max()) + 1

    def medians(self, rates):
        """nights x kernels."""
        return _medians_of(rates, self.nights)

    def spread(self, rates):
        """Standard deviation between nights, a fraction, by kernel."""
        medians = self.medians(rates)
        return (medians / np.median(medians, axis=0)).std(axis=0, ddof=1)

    def is_sure(self, rates):
        """Whether nights differ by more than their runs' noise explains (analysis of variance)."""
        groups = [rates[self.nights == i] for i in range(self.count)]
        p = stats.f_oneway(*groups).pvalue
        return bool(np.nanmin(p) * len(p) < SHIFT_ALPHA)

    def within(self, rates):
        """Runs to their night's median."""
        return rates / self.medians(rates)[self.nights]

    def wider(self, below, above, rates, rule):
        """Tolerances within a night, widened by what so few nights leave open."""
        part = night_factor(self.count, rule.coverage, rule.confidence) * self.spread(rates)
        return -np.hypot(below, part), np.hypot(above, part)


def _limits(rates, effective, rule, left=0, shift=None):
    """Medians, tolerances below and above: arrays, a figure a kernel.

    `left` low runs that are left out may have been healthy ones: they count as the lowest, but
    the tolerance is a figure of a node that is not low.
    """
    rank = max(tolerance_rank(effective, rule.coverage, rule.confidence), 1) - 1
    median = np.median(rates, axis=0)
    ratio = shift.within(rates) if shift else rates / median
    lowest, highest = max(rank - left, 0), len(ratio) - 1 - rank
    # of a million runs these two are told in a sixth of the time of a sort
    rising = np.partition(ratio, sorted({lowest, highest}), axis=0)
    low, high = rising[lowest] - 1, rising[highest] - 1
    if shift:
        low, high = shift.wider(low, high, rates, rule)
    low, high = np.minimum(low, -rule.margin), np.maximum(high, rule.upper)
    return median, np.floor(low * 1000) / 1000, np.ceil(high * 1000) / 1000


def _refuse_wide(kernels, rule):
    for name, kernel in kernels.items():
        if -kernel.low > max(rule.widest, rule.margin) + 1e-9:
            raise Refusal(
                f'the lower tolerance of {name} would be {kernel.low:+.1%}: find out which runs '
                f'are so low, or agree to it by --widest {np.ceil(-kernel.low * 100):.0f}'
            )


def _stated(samples, effective, rule, left, limits, shift):
    """Share of healthy runs that fail: mean, and limits that hold for nights and nodes to come."""
    nodes, nights = _numbers(samples.nodes), samples.nights
    clusters = nodes if nodes.max() else nights
    mean, low, high = false_alarms(samples.rates, clusters, effective, rule, left[1], shift)
    if not nodes.max() or not nights.max():
        return mean, low, None
    least, usual, most = _with_shifts(samples.rates, limits, Shift(nights))
    mean, low, high = max(mean, usual if shift else 0.0), min(low, least), max(high, most)
    if left[0]:  # they may be healthy after all; Clopper, Pearson, Biometrika 26 (1934)
        all_nodes = left[0] + nodes.max() + 1
        share = stats.beta.ppf(0.975, left[0] + 1, all_nodes - left[0])
        high += (1 - high) * share
    return mean, low, float(high)


def _with_shifts(rates, limits, shift):
    """Share of runs outside the limits in nights to come: with the spread of the nights at its
    lower 97.5 % limit (chi squared), as measured, and at its upper one."""
    median, low, high = limits
    spread, freedom = shift.spread(rates), shift.count - 1
    within = shift.within(rates)
    # a run fails in nights that shift it by less than this, or by more
    least, most = (1 + low) / within - 1, (1 + high) / within - 1
    quantiles = stats.norm.ppf((np.arange(SHIFTS) + 0.5) / SHIFTS)
    shares = []
    lower, upper = np.sqrt(freedom / stats.chi2.ppf([0.975, 0.025], freedom))
    # the median is of nights, too: it lies off by 1 / sqrt(K) of their spread
    for factor in (lower, np.sqrt(1 + 1 / shift.count), upper * np.sqrt(1 + 1 / shift.count)):
        with np.errstate(divide='ignore', invalid='ignore'):
            below = np.fmax.reduce(least / (factor * spread), axis=1)
            above = np.fmin.reduce(most / (factor * spread), axis=1)
        below = np.searchsorted(quantiles, below, side='left')
        above = SHIFTS - np.searchsorted(quantiles, above, side='right')
        shares.append(float(np.minimum(below + above, SHIFTS).mean() / SHIFTS))
    return shares


def false_alarms(rates, clusters, effective, rule, left=0, shift=None):
    """Share of healthy runs that fail by any kernel: mean and 95 % interval.

    Each part of the nodes is held to tolerances set by the others (cross-validation, M. Stone,
    JRSS B 36 (1974)); the interval by drawing whole nodes with replacement, because runs of one
    node are no news (A. Davison, D. Hinkley, Bootstrap Methods, 1997, 3.8), and no narrower than
    the binomial one of as many independent runs (C. Clopper, E. Pearson, Biometrika 26 (1934)).
    """
    random = np.random.default_rng(SEED)
    if clusters.max(initial=0) + 1 < FEW_CLUSTERS:
        clusters = np.arange(len(rates))
    count = clusters.max() + 1
    part = random.permutation(count)[clusters] % min(count, PARTS)
    failed = np.zeros(len(rates))
    for i in range(part.max() + 1):
        rest, tested = part != i, part == i
        others = Shift(_numbers(shift.nights[rest])) if shift else None
        limits = _limits(rates[rest], effective, rule, left, others)
        failed[tested] = _outside(limits, rates[tested])
    fails, sizes = np.bincount(clusters, failed), np.bincount(clusters)
    drawn = random.integers(count, size=(DRAWS, count))
    shares = fails[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(shares, [2.5, 97.5])
    mean = float(failed.mean())
    k, n = mean * effective, effective
    low = min(low, stats.beta.ppf(0.025, k, n - k + 1) if k else 0.0)
    high = max(high, stats.beta.ppf(0.975, k + 1, n - k) if k < n else 1.0)
    return mean, float(low), float(high)


def _outside(limits, tested):
    """Which tested runs the limits fail."""
    median, low, high = limits
    ratio = tested / median - 1
    return ((ratio < low) | (ratio > high)).any(axis=1)
