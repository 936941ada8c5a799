"""What other software did to the nodes that got it, by those that did not get it yet."""

from dataclasses import dataclass

import numpy as np

from membw.statistics.median_polish import LEAST_NODES
from membw.statistics.robust import MAD_EFFICIENCY, MAD_TO_SIGMA, median_mad

WINDOW = 7  # nights compared on each side
# An effect of less than this is not taken off: it would only add noise.
LEAST_EFFECT = 0.002


@dataclass
class Rollout:
    """Numbers of the software before and after; the effect in logarithms of the rate."""

    old: int
    new: int
    night: int  # column of the first node's first night with it
    nodes: int
    effect: float
    z: float
    freedom: float


def take_off(logs, software):
    """([Rollout], logs without their effects) of one kernel, nodes x nights.

    The difference of differences: a node's median after its switch less that before, less the
    same of the nodes that kept what they had.  Where all switch in one night nobody did, and the
    fleet's own level shows the change.
    """
    taken = []
    for (old, new), batches in _switches(software).items():
        rollout = _effect(logs, software, old, new, batches)
        if rollout:
            taken.append(rollout)
            if abs(rollout.effect) >= LEAST_EFFECT:
                switched = np.concatenate([nodes for _, nodes in batches])
                logs = _without(logs, software, switched, rollout)
    return taken, logs


def _switches(software):
    """{(old, new): [(night, nodes)]}, in order of time."""
    if ((software == software.max(initial=-1)) | (software < 0)).all():
        return {}
    last, nights_of = software[:, 0].copy(), {}
    for night in range(1, software.shape[1]):
        now = software[:, night]
        changed = np.flatnonzero((now >= 0) & (last >= 0) & (now != last))
        for pair in sorted(set(zip(last[changed].tolist(), now[changed].tolist(), strict=True))):
            nodes = changed[(last[changed] == pair[0]) & (now[changed] == pair[1])]
            nights_of.setdefault(pair, []).append((night, nodes))
        last = np.where(now >= 0, now, last)
    return nights_of


def _effect(logs, software, old, new, batches):
    """None where too few switched, or nobody was left to compare with."""
    pooled, controls = [], []
    for night, nodes in batches:
        span = slice(max(night - WINDOW, 0), night + WINDOW)
        kept = np.flatnonzero(_constant(software[:, span]))
        own, theirs = _steps(logs, nodes, night), _steps(logs, kept, night)
        if len(theirs) >= LEAST_NODES and len(own):
            pooled.append(own - np.median(theirs))
            controls.append(len(theirs))
    steps = np.concatenate(pooled) if pooled else np.zeros(0)
    if len(steps) < LEAST_NODES:
        return None
    effect, mad = median_mad(steps)
    # a median is less sure than a mean by pi / 2; the controls' median adds its own
    variance = (mad / MAD_TO_SIGMA) ** 2 * np.pi / 2 * (1 / len(steps) + 1 / min(controls))
    freedom = max(MAD_EFFICIENCY * (len(steps) + min(controls) - 2), 1)
    z = effect / np.sqrt(max(variance, 1e-12))
    return Rollout(old, new, batches[0][0], len(steps), float(effect), float(z), freedom)


def _constant(software):
    """Rows with one software, known on both sides."""
    high = software.max(axis=1)
    low = np.where(software < 0, high[:, None], software).min(axis=1)
    return (high >= 0) & (low == high)


def _steps(logs, nodes, night):
    """Each node's median after less that before; those without either are left out."""
    before, after = (
        logs[nodes, max(night - WINDOW, 0) : night],
        logs[nodes, night : night + WINDOW],
    )
    known = (~np.isnan(before)).sum(axis=1) * (~np.isnan(after)).sum(axis=1) > 0
    return np.nanmedian(after[known], axis=1) - np.nanmedian(before[known], axis=1)


def _without(logs, software, switched, rollout):
    rows = np.zeros(len(logs), dtype=bool)
    rows[switched] = True
    # what came after the new software keeps its effect: effects of later ones are relative to it
    later = np.maximum.accumulate(software == rollout.new, axis=1)
    return np.where(later & rows[:, None], logs - rollout.effect, logs)
