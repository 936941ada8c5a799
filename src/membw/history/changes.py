"""Judges series: one node changed, the whole fleet did, or the software was another one."""

import dataclasses

import numpy as np

from membw.history.rollouts import take_off
from membw.results.provenance import SOFTWARE, difference
from membw.statistics import change_points as cp
from membw.statistics.median_polish import LEAST_NODES, row_medians, split
from membw.statistics.step_or_drift import moves

MARGIN = 0.02  # practical, of a node: rank.py's
FLEET_MARGIN = 0.01  # ... of a fleet: its median is steadier than any node
ALPHA = 0.001  # statistical: chance of any false alarm in all that is judged, were all healthy
# A change of software explains a change of the rate that begins this many nights around it.
NEAR = 2
AROUND = 5  # nights before and after
STAYED = 0.25  # a node that moved by less of what it differs by now stayed where it was


@dataclasses.dataclass
class Change:
    """One change of one kernel."""

    scope: str  # node, fleet or software
    node: str | None  # None: the whole fleet
    group: str
    kernel: str
    night: str
    until: str  # where a drift ends, else the night
    direction: str  # slower or faster
    percent: float  # of the figure
    confidence: float  # 1 - chance that any healthy series shows as much
    shape: str  # step or drift
    before: float
    after: float
    recovered: bool  # later back within the margin of where it was
    field: str | None = None  # the first that differs in the provenance
    fields: dict = dataclasses.field(default_factory=dict)  # field -> [before, after]
    nodes: int = 1  # that the fleet has
    unit: str = 'GB/s'

    def as_figures(self, metric):
        """The same, of figures in place of rates."""
        before, after = metric.figure(self.before), metric.figure(self.after)
        percent = 100 * (metric.figure(1 + self.percent / 100) - 1)
        return dataclasses.replace(
            self, before=round(before, 3), after=round(after, 3), percent=round(percent, 2),
            unit=metric.unit,
        )  # fmt: skip


def judge(every, margin=MARGIN, fleet_margin=FLEET_MARGIN, alpha=ALPHA):
    """Changes in a list of Series, the oldest first."""
    questions = max(1, sum(s.rates.size for s in every))
    of_fleets = max(1, sum(s.rates.shape[0] * s.rates.shape[2] for s in every))
    changes = []
    for series in every:
        for k, metric in enumerate(series.metrics):
            judged, of_kernel = _Kernel(series, k), []
            if judged.is_fleet:
                of_kernel += judged.rollout_changes(fleet_margin, alpha, of_fleets)
                of_kernel += judged.fleet_changes(fleet_margin, alpha, of_fleets)
            of_kernel += judged.node_changes(margin, alpha, questions)
            changes += [change.as_figures(metric) for change in of_kernel]
    return sorted(changes, key=lambda c: (c.night, c.scope, c.node or '', c.group))


class _Kernel:
    """One kernel of one group, taken apart."""

    def __init__(self, series, k):
        self.series, self.kernel, self.rates = series, series.kernels[k], series.rates[k]
        with np.errstate(invalid='ignore', divide='ignore'):
            logs = np.log(self.rates)
        self.is_fleet = len(series.nodes) >= LEAST_NODES
        if self.is_fleet:
            self.rollouts, logs = take_off(logs, series.software)
            self.level, self.majority, self.rest = split(logs, series.software)
        else:
            self.rest = logs - row_medians(logs)[:, None]

    def fleet_changes(self, margin, alpha, questions):
        rows = _Rows(self.level[None, :], questions, alpha)
        for row in rows.suspects():
            for place, move, p in rows.changes(row, np.log1p(margin)):
                rates = np.exp(self.level)
                yield self._change(None, place, move, p, rates, self.majority, margin)

    def rollout_changes(self, margin, alpha, questions):
        for r in self.rollouts:
            p = cp.p_value(r.z, r.freedom, questions)
            fields = self._between(r.old, r.new)
            if p <= alpha and abs(r.effect) >= np.log1p(margin) and fields:
                yield self._rollout(r, p, fields)

    def _rollout(self, r, p, fields):
        column = r.night
        level = float(np.exp(np.nanmedian(self.level[max(column - NEAR, 0) : column + NEAR])))
        named = next(iter(fields))
        return Change(
            scope='software' if named in SOFTWARE else 'fleet',
            node=None,
            group=self.series.label,
            kernel=self.kernel,
            night=self.series.night(column),
            until=self.series.night(column),
            direction='slower' if r.effect < 0 else 'faster',
            percent=100 * float(np.expm1(r.effect)),
            confidence=1 - float(p),
            shape='step',
            before=level,
            after=level * float(np.exp(r.effect)),
            recovered=False,
            field=named,
            fields={f: list(pair) for f, pair in fields.items()},
            nodes=r.nodes,
        )

    def node_changes(self, margin, alpha, questions):
        rows = _Rows(self.rest, questions, alpha)
        for row in rows.suspects():
            for place, move, p in rows.changes(row, np.log1p(margin)):
                if self._moved_itself(row, place, move):
                    rates, made = self.rates[row], self.series.software[row]
                    yield self._change(row, place, move, p, rates, made, margin)

    def _moved_itself(self, row, place, move):
        """Not so where the others changed and this node alone stayed as it was."""
        if not self.is_fleet or move.shape == 'drift':
            return True
        night = place[move.first]
        before, after = self.level[max(night - AROUND, 0) : night], self.level[night:][:AROUND]
        if np.isnan(before).all() or np.isnan(after).all():
            return True
        others = np.nanmedian(after) - np.nanmedian(before)
        return abs(move.delta + others) > STAYED * abs(move.delta)

    def _change(self, row, place, move, p, rates, made, margin):
        series = self.series
        differs = self._differs(row, place, move, made)
        named = next(iter(differs), None)
        whose = 'fleet' if row is None else 'node'
        before, after = (float(np.nanmedian(rates[place[s]])) for s in _sides(move))
        return Change(
            scope='software' if named in SOFTWARE else whose,
            node=None if row is None else series.nodes[row],
            group=series.label,
            kernel=self.kernel,
            night=series.night(place[move.first]),
            until=series.night(place[move.until]),
            direction='slower' if move.delta < 0 else 'faster',
            percent=100 * float(np.expm1(move.delta)),
            confidence=1 - float(p),
            shape=move.shape,
            before=before,
            after=after,
            recovered=move.recovered,
            field=named,
            fields={f: list(pair) for f, pair in differs.items()},
            nodes=len(series.nodes) if row is None else 1,
        )

    def _differs(self, row, place, move, made):
        """What changed in the provenance at the time; for a node, what did not for the fleet."""
        if move.shape == 'drift':
            return {}
        old, new = place[max(move.first - NEAR - 1, 0)], place[move.first]
        new = place[min(move.first + NEAR, len(place) - 1)] if made[new] == made[old] else new
        found = self._between(made[old], made[new])
        if row is None or not self.is_fleet:
            return found
        others = self._between(self.majority[old], self.majority[new])
        return {f: pair for f, pair in found.items() if others.get(f) != pair}

    def _between(self, old, new):
        if old < 0 or new < 0 or old == new:
            return {}
        made = self.series.provenances
        return difference(made[old], made[new])


def _sides(move):
    return move.before, move.after


class _Rows:
    """Rows of values with gaps: which of them change, and where."""

    def __init__(self, values, questions, alpha):
        self.sigma, self.freedom = cp.noise(values)
        self.raw, self.values = values, cp.without_outliers(values, self.sigma)
        self.questions = questions
        self.limit = cp.limit_for(alpha, self.freedom, questions)

    def suspects(self):
        enough = (~np.isnan(self.values)).sum(axis=1) >= 2 * cp.LEAST
        z = cp.strongest(np.where(enough[:, None], self.values, np.nan), self.sigma)
        return np.flatnonzero(z > self.limit)

    def changes(self, row, margin):
        """(columns of the values, move, p) of each change of one row."""
        place = np.flatnonzero(~np.isnan(self.values[row]))
        raw, values, sigma = self.raw[row, place], self.values[row, place], self.sigma[row]
        found = moves(raw, values, cp.segment(values, sigma, self.limit[row]), margin)
        now = np.median(raw[found[-1].after]) if found else 0
        for move in found:
            old = np.median(raw[move.before])
            move.recovered = bool(abs(now - old) < margin)
            z = self._z(values, move, sigma)
            yield place, move, cp.p_value(z, self.freedom[row], self.questions)

    @staticmethod
    def _z(values, move, sigma):
        one, two = values[move.before], values[move.after]
        return (two.mean() - one.mean()) / sigma / np.sqrt(1 / len(one) + 1 / len(two))
