"""Judges series: one node changed, the whole fleet did, or the software was another one."""

import dataclasses
from functools import partial

import numpy as np

from membw import processes
from membw.history import spells
from membw.history.rollouts import take_off
from membw.history.search import Search, each, fleet_scatter, scatters
from membw.history.series import as_day
from membw.results.provenance import SOFTWARE, difference
from membw.statistics import change_points as cp
from membw.statistics import fleet_spread
from membw.statistics.effective_number import effective_number
from membw.statistics.margin import MARGIN
from membw.statistics.median_polish import LEAST_NODES, row_medians, split

FLEET_MARGIN = 0.01  # ... of a fleet: its median is steadier than any node
ALPHA = 0.001  # statistical: chance of any false alarm in all that is judged, were all healthy
# A change of software explains a change of the rate that begins this many nights around it.
NEAR = 2
AROUND = 5  # nights before and after
FAR = 14  # nights between the kernels' dates of what has no sharp beginning
STAYED = 0.25  # a node that moved by less of what it differs by now stayed where it was
# A drift that takes so many days may be a season: a node's has to be larger than the margin by
# this, a fleet's is held against the same nights of the year before.
SEASON, SEASON_MARGIN, YEAR, SAME_SEASON = 45, 1.25, 365, 14
# In the first year it is one unless the fleet outruns the largest season that we allow for: a sine
# of 5 % from its best to its worst night. Medians of the nights so many days around are compared.
SWING, SMOOTH = 0.05, 7
GONE = 90  # days without a figure: whatever a node was, it is no longer measured
MANY = 1 / 3  # of the nodes: what so many show in their own rows is the fleet's


@dataclasses.dataclass
class Change:
    """One change of one kernel."""

    scope: str  # node, fleet or software
    node: str | None  # None: the whole fleet
    group: str
    kernel: str
    night: str
    until: str  # where a drift ends, or the last bad night; else the night
    sure: str  # the night in which it became sure
    direction: str  # slower, faster or noisier
    percent: float  # of the figure
    confidence: float  # 1 - chance that any healthy series shows as much
    shape: str  # step, drift, intermittent (some nights are bad) or scatter (all are noisier)
    before: float
    after: float
    recovered: bool  # later back within the margin of where it was
    field: str | None = None  # the first that differs in the provenance
    fields: dict = dataclasses.field(default_factory=dict)  # field -> [before, after]
    nodes: int = 1  # that it concerns
    season: bool = False  # of a fleet: may be one, there is no year before to tell
    share: list | None = None  # of bad nights, before and after
    scatter: list | None = None  # of one night, in percent, before and after
    last: str = ''  # the node's last night
    gone: bool = False  # ... was long ago
    unit: str = 'GB/s'
    now: float = 0.0  # of the last nights
    back: str = ''  # the first night in which it was back where it was (spells.py)
    back_sure: str = ''  # ... and in which that became sure
    acknowledged: str = ''  # why somebody lives with it, and who (acknowledged.py)

    def as_figures(self, metric):
        """The same, of figures in place of rates."""
        before, after = metric.figure(self.before), metric.figure(self.after)
        percent = 100 * (metric.figure(1 + self.percent / 100) - 1)
        percent = self.percent if self.shape == 'scatter' else percent
        return dataclasses.replace(
            self, before=round(before, 3), after=round(after, 3), percent=round(percent, 2),
            now=round(metric.figure(self.now), 3), unit=metric.unit,
        )  # fmt: skip


def judge(every, margin=MARGIN, fleet_margin=FLEET_MARGIN, alpha=ALPHA):
    """Changes in a list of Series, the oldest first."""
    questions = max(1, sum(map(_questions, every)))
    of_fleets = max(1, sum(s.rates.shape[0] * s.rates.shape[2] for s in every))
    changes = []
    for series in every:
        kernels = each(lambda k, of=series: _Kernel(of, k), range(len(series.kernels)))
        tables = [k.rest for k in kernels]
        spreads, times = fleet_spread.of_nights(tables)
        noisier, scatter = scatters(tables, questions, alpha, margin, times)
        noisy = list(fleet_scatter(spreads, alpha, margin))

        def search_one(pair, noisier=noisier, times=times, noisy=noisy):
            judged, least = pair  # what is searched is gone with the answer
            search = Search(judged.rest, questions, alpha, least, times)
            of_fleet = judged.of_fleet(fleet_margin, alpha, of_fleets, noisy)
            return [*of_fleet, *judged.of_nodes(search, noisier, margin)]

        jobs = [partial(search_one, pair) for pair in zip(kernels, scatter, strict=True)]
        jobs.append(partial(MeanOfKernels, kernels, scatter, questions, alpha, margin, times))
        # one more than there are cores: five rows of work are done by two in two and a half turns
        *searched, common = processes.each(lambda job: job(), jobs, processes.cores() + 1)
        known = [c for of_kernel in searched for c in of_kernel if c.node]
        for judged, of_kernel, metric in zip(kernels, searched, series.metrics, strict=True):
            more = common.changes(judged, known, margin)
            changes += [change.as_figures(metric) for change in (*of_kernel, *more)]
    return sorted(changes, key=lambda c: (c.night, c.scope, c.node or '', c.group))


def _questions(series):
    """Figures that are looked at, with those of the kernels' mean; kernels that do the same are
    one question, not four."""
    kernels, figures = len(series.kernels), series.rates[0].size
    of_mean = 1 + 1 / kernels if kernels > 1 else 1
    return figures * of_mean * effective_number(series.rates)


class MeanOfKernels:
    """What shows in all kernels of a node together, and in none of them alone: the mean of their
    logarithms is as noisy only in what they share."""

    def __init__(self, kernels, scatter, questions, alpha, margin, times):
        self.moves = {}
        if len(kernels) > 1:
            rest = sum(kernel.rest for kernel in kernels) / len(kernels)
            search = Search(rest, questions, alpha, np.mean(scatter, axis=0), times)
            self.moves = {
                row: (search.columns[row], moves)
                for row, moves in search.moves(np.log1p(margin)).items()
            }

    def changes(self, kernel, known, margin):
        """Of one kernel, those of at least `margin` in it that are not among the `known`."""
        for row, (place, moves) in self.moves.items():
            of_node = [c for c in known if c.node == kernel.series.nodes[row]]
            days = kernel.series.nights[place]
            unknown = [m for m in moves if not any(_is_told(c, days, m) for c in of_node)]
            pairs = [p for m in unknown for p in kernel.change_of(row, place, m, margin)]
            yield from spells.join(pairs, days, np.log1p(margin))


def _is_told(change, days, move):
    """Whether a change of the node, or its end, lies where the mean of its kernels moves."""
    begin, end = days[move.first] - FAR, days[move.until] + FAR
    spans = [(change.night, change.until), *[(change.back,) * 2] * bool(change.back)]
    return any(as_day(first) <= end and as_day(last) >= begin for first, last in spans)


def _of_the_fleet(changes, series):
    """One change in place of those of many nodes."""
    changes = list(changes)
    if len(changes) < max(LEAST_NODES, MANY * len(series.nodes)):
        return changes
    typical = sorted(changes, key=lambda c: c.night)[len(changes) // 2]
    whole = {'scope': 'fleet', 'node': None, 'nodes': len(changes)}
    return [dataclasses.replace(typical, **whole, recovered=all(c.recovered for c in changes))]


def _now(rates):
    there = rates[~np.isnan(rates)]
    return float(np.median(there[-AROUND:])) if len(there) else 0.0


class _Kernel:
    """One kernel of one group, taken apart."""

    def __init__(self, series, k):
        self.series, self.number, self.kernel = series, k, series.kernels[k]
        self.rates = series.rates[k]
        usual = row_medians(self.rates)
        usual[usual == 0] = 1
        with np.errstate(invalid='ignore', divide='ignore'):
            # of ratios near 1: single precision is then far finer than any noise
            logs = np.log(self.rates / usual[:, None], dtype=np.float32, casting='same_kind')
        self.is_fleet = len(series.nodes) >= LEAST_NODES
        if self.is_fleet:
            self.rollouts, logs = take_off(logs, series.software)
            parts = split(logs, series.software, np.log(usual))
            self.level, self.majority, self.rest = parts
        else:
            self.rest = logs - row_medians(logs)[:, None]

    def of_fleet(self, margin, alpha, questions, noisy):
        if self.is_fleet:
            yield from self.rollout_changes(margin, alpha, questions)
            yield from self.fleet_changes(margin, alpha, questions)
            yield from self.fleet_noisier(noisy, alpha)

    def of_nodes(self, search, noisier, margin):
        yield from self.node_changes(search, margin)
        intermittent = list(self.intermittent_changes(search, margin))
        yield from _of_the_fleet(intermittent, self.series)
        nodes = {c.node for c in intermittent}
        of_scatter = self.noisier_changes(noisier, nodes, search.alpha)
        yield from _of_the_fleet(of_scatter, self.series)

    def fleet_changes(self, margin, alpha, questions):
        search = Search(self.level[None, :], questions, alpha)
        for row, moves in search.moves(np.log1p(margin)).items():
            place, pairs = search.columns[row], []
            for move in moves:
                season = self._season(place, move, margin)
                if season != 'yes':
                    change = self._change(None, place, move, np.exp(self.level), self.majority)
                    pairs.append((move, dataclasses.replace(change, season=season == 'unknown')))
            yield from spells.join(pairs, self.series.nights[place], np.log1p(margin))

    def _season(self, place, move, margin):
        """Whether a year before the end of a slow drift it was as it is now: yes, no, unknown."""
        nights = self.series.nights
        begin, end = nights[place[move.first]], nights[place[move.until]]
        if move.shape != 'drift' or end - begin < SEASON:
            return 'no'
        now = self.level[np.abs(nights - end) <= SAME_SEASON]
        then = self.level[np.abs(nights - end + YEAR) <= SAME_SEASON]
        if np.isnan(then).all():
            return 'no' if self._outruns_a_season(begin, end) else 'unknown'
        return 'yes' if abs(np.nanmedian(now) - np.nanmedian(then)) < margin else 'no'

    def _outruns_a_season(self, begin, end):
        """Whether the fleet moved further within SEASON days than a season of SWING does."""
        nights, most = self.series.nights, SWING * np.sin(np.pi * SEASON / YEAR)
        there = ~np.isnan(self.level)
        around = [
            np.median(near) if len(near) else np.nan
            for near in (self.level[there & (np.abs(nights - day) <= SMOOTH)]
                         for day in range(begin - SEASON, end + SEASON))
        ]  # fmt: skip
        return bool((np.abs(np.subtract(around[SEASON:], around[:-SEASON])) > most).any())

    def rollout_changes(self, margin, alpha, questions):
        for r in self.rollouts:
            p = cp.p_value(r.z, r.freedom, questions)
            fields = self._between(r.old, r.new)
            if p <= alpha and abs(r.effect) >= np.log1p(margin) and fields:
                yield self._rollout(r, p, fields)

    def _rollout(self, r, p, fields):
        column = r.night
        level = float(np.exp(np.nanmedian(self.level[max(column - NEAR, 0) : column + NEAR])))
        named, night = next(iter(fields)), self.series.night(column)
        return Change(
            scope='software' if named in SOFTWARE else 'fleet',
            node=None,
            group=self.series.label,
            kernel=self.kernel,
            night=night,
            until=night,
            sure=night,
            direction='slower' if r.effect < 0 else 'faster',
            percent=100 * float(np.expm1(r.effect)),
            confidence=1 - float(p),
            shape='step',
            before=level,
            after=level * float(np.exp(r.effect)),
            now=_now(np.exp(self.level)),
            recovered=False,
            field=named,
            fields={f: list(pair) for f, pair in fields.items()},
            nodes=r.nodes,
        )

    def node_changes(self, search, margin):
        for row, moves in search.moves(np.log1p(margin)).items():
            place, left_behind, pairs = search.columns[row], 0.0, []
            for move in moves:
                if self._may_be_season(place, move, margin):
                    continue
                if self._moved_itself(row, place, move, left_behind):
                    rates, made = self.rates[row], self.series.software[row]
                    pairs.append((move, self._change(row, place, move, rates, made)))
                else:
                    left_behind += move.delta
            yield from spells.join(pairs, self.series.nights[place], np.log1p(margin))

    def _may_be_season(self, place, move, margin):
        days = np.ptp(self.series.nights[place[[move.first, move.until]]])
        return days >= SEASON and abs(move.delta) < SEASON_MARGIN * np.log1p(margin)

    def change_of(self, row, place, move, margin):
        """The change of this kernel in a move of the mean of all, with the kernel's own levels."""
        parts = [float(np.nanmedian(self.rest[row, place[s]])) for s in (move.before, move.after)]
        move = dataclasses.replace(
            move, delta=parts[1] - parts[0], came_from=parts[0], to=parts[1]
        )
        if abs(move.delta) < np.log1p(margin) or self._may_be_season(place, move, margin):
            return
        if self._moved_itself(row, place, move, 0.0):
            made = self.series.software[row]
            yield move, self._change(row, place, move, self.rates[row], made)

    def _moved_itself(self, row, place, move, left_behind):
        """Not so where the others changed and this node alone stayed as it was.

        A node that did not gain what the others gained stayed only if it did not get what they
        got, or if it had not lost what they lost before (`left_behind`).
        """
        if not self.is_fleet or move.shape == 'drift':
            return True
        night = place[move.first]
        before, after = self.level[max(night - AROUND, 0) : night], self.level[night:][:AROUND]
        if np.isnan(before).all() or np.isnan(after).all():
            return True
        others = np.nanmedian(after) - np.nanmedian(before)
        if abs(move.delta + others) > STAYED * abs(move.delta):
            return True
        like_the_others = self.series.software[row, night] == self.majority[night]
        returns = abs(move.delta + left_behind) <= 2 * STAYED * abs(move.delta)
        return bool(move.delta < 0 and like_the_others and not returns)

    def intermittent_changes(self, search, margin):
        for row, begin, end, shares, depth, recovered in search.restless(np.log1p(margin)):
            columns = search.columns[row, begin:end]
            usual = float(np.nanmedian(self.rates[row, columns]))
            yield self._unsteady(
                row, columns, 'intermittent', recovered, search.alpha,
                direction='slower',
                percent=100 * float(np.expm1(depth)),
                before=usual, after=usual * float(np.exp(depth)),
                share=[round(s, 3) for s in shares],
            )  # fmt: skip

    def noisier_changes(self, noisier, but, alpha):
        """`but`: nodes of which is told that some of their nights are bad."""
        for row, spans in noisier.items():
            for column, spreads, end in spans if self.series.nodes[row] not in but else ():
                yield self._noisier(row, column, spreads, end, alpha)

    def fleet_noisier(self, stretches, alpha):
        for column, spreads, end in stretches:
            change = self._noisier(None, column, spreads, end, alpha)
            whole = {'scope': 'fleet', 'nodes': len(self.series.nodes)}
            yield dataclasses.replace(change, **whole)

    def _noisier(self, row, column, spreads, end, alpha):
        back = '' if end is None else self.series.night(end)
        percents = [round(100 * float(s), 2) for s in spreads[self.number]]
        rates = self._rates_of(row)
        return self._unsteady(
            row, [column], 'scatter', bool(back), alpha,
            direction='noisier', back=back, back_sure=back,
            percent=round(percents[1] - percents[0], 2),
            before=float(np.nanmedian(rates[:column])),
            after=float(np.nanmedian(rates[column:])),
            scatter=percents,
        )  # fmt: skip

    def _unsteady(self, row, columns, shape, recovered, alpha, **known):
        series = self.series
        return Change(
            scope='node', node=None if row is None else series.nodes[row], group=series.label,
            kernel=self.kernel,
            night=series.night(columns[0]), until=series.night(columns[-1]),
            sure=series.night(columns[-1]), confidence=1 - alpha, shape=shape,
            recovered=recovered, now=_now(self._rates_of(row)), **self._last(row), **known,
        )  # fmt: skip

    def _rates_of(self, row):
        """Of a node; None: of the fleet."""
        return np.exp(self.level) if row is None else self.rates[row]

    def _last(self, row):
        if row is None:
            return {}
        last = np.flatnonzero(self.series.software[row] >= 0)[-1]
        nights = self.series.nights
        return {'last': self.series.night(last), 'gone': bool(nights[-1] - nights[last] > GONE)}

    def _change(self, row, place, move, rates, made):
        series = self.series
        differs = self._differs(row, place, move, made)
        named = next(iter(differs), None)
        whose = 'fleet' if row is None else 'node'
        before, after = (float(np.nanmedian(rates[place[s]])) for s in (move.before, move.after))
        return Change(
            scope='software' if named in SOFTWARE else whose,
            node=None if row is None else series.nodes[row],
            group=series.label,
            kernel=self.kernel,
            night=series.night(place[move.first]),
            until=series.night(place[move.until]),
            sure=series.night(place[move.sure]),
            direction='slower' if move.delta < 0 else 'faster',
            percent=100 * float(np.expm1(move.delta)),
            confidence=1 - float(move.p),
            shape=move.shape,
            before=before,
            after=after,
            now=_now(rates),
            recovered=move.recovered,
            field=named,
            fields={f: list(pair) for f, pair in differs.items()},
            nodes=len(series.nodes) if row is None else 1,
            **self._last(row),
        )

    def _differs(self, row, place, move, made):
        """What changed in the provenance at the time; for a node, what did not for the fleet."""
        if move.shape == 'drift':
            return {}
        old, new = place[max(move.first - NEAR - 1, 0)], place[move.first]
        new = place[min(move.first + NEAR, len(place) - 1)] if made[new] == made[old] else new
        fields = self._between(made[old], made[new])
        if row is None or not self.is_fleet:
            return fields
        others = self._between(self.majority[old], self.majority[new])
        return {f: pair for f, pair in fields.items() if others.get(f) != pair}

    def _between(self, old, new):
        if old < 0 or new < 0 or old == new:
            return {}
        made = self.series.provenances
        return difference(made[old], made[new])
