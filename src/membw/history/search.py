"""Searches rows of nights (a node's, or a fleet's level) for what changed in them."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy.special import ndtri

from membw.statistics import change_points as cp
from membw.statistics.bad_nights import BadNights, restless
from membw.statistics.robust import MAD_TO_SIGMA
from membw.statistics.splits import value_counts
from membw.statistics.step_or_drift import moves

# How often bad nights come is known less well than how noisy good ones are: a larger chance.
BAD_NIGHTS_ALPHA = 10
DEPTH = 4.0  # times the noise of one night (and the margin): a bad night
OVER = 0.01  # chance that an intermittent row has no bad night for so long
NOISIER, OF_MARGIN = 1.5, 0.5  # times the scatter before; share of the margin
LEAST_NOISY = 14  # nights: a few bad ones are no scatter
LEAST_NOISY_FLEET = 10  # ... which many nodes tell better


def each(work, what):
    """[work(x) for x in what], on all cores that there are: numpy lets go of Python's lock."""
    what = list(what)
    with ThreadPoolExecutor(max(1, min(len(what), len(os.sched_getaffinity(0))))) as pool:
        return list(pool.map(work, what))


class Search:
    """`values`: logarithms, rows x nights, NaN: no value; `scatter`: the least noise of each;
    `times`: as noisy as usual that all rows are in each night.

    How sure a change is, `rows` say, in which a night weighs less the noisier it is for all; how
    large it is, the nights as they are.
    """

    def __init__(self, values, questions, alpha, scatter=0.0, times=None):
        self.as_measured, count, self.columns = cp.pack(values)
        packed = self._steadied(times)
        self.rows = cp.Rows(packed, count, questions, alpha, scatter)
        self.suspects = self.rows.suspects()
        self.alpha, self.distances = alpha, packed - self.rows.levels
        self.bad_nights = BadNights(self.distances, self.suspects)
        self.questions = max(1, int(count.sum()))

    def _steadied(self, times):
        if times is None or (times == 1).all():
            return self.as_measured
        return steadied(self.as_measured, self.columns, times)

    def _nights(self, row):
        """As they are."""
        return self.as_measured[row, : self.rows.count[row]].astype(float)

    def moves(self, margin):
        """{row: its steps and drifts that are no clusters of bad nights}.

        How often bad nights come is first told by the rows that did not change, then by all,
        without what changed in them.
        """
        for _ in range(2):
            of_rows = {row: self._moves(row, margin) for row in self.suspects}
            for row, its_moves in of_rows.items():
                self._level_out(row, its_moves)
            self.bad_nights = BadNights(self.distances)
        return {row: self._judged(row, its_moves, margin) for row, its_moves in of_rows.items()}

    def _moves(self, row, margin):
        raw, values = self._nights(row), self.rows.values(row)
        steady, places = self.rows.nights(row), self.rows.places(row)
        reach = cp.OUTLIER * self.rows.sigma[row] * self.rows.grown[1][: cp.LEAST + 1].max()
        while True:
            places = self.rows.placed(row, places)
            its_moves = moves(raw, values, places, margin, reach, self.rows.sigma[row])
            chances = [self._chance(row, steady, places, m) for m in its_moves]
            if not its_moves or max(chances) <= BAD_NIGHTS_ALPHA * self.alpha:
                return its_moves
            doubtful = its_moves[int(np.argmax(chances))]
            after = len(raw[doubtful.after]) <= len(raw[doubtful.before])
            places.remove(doubtful.after.start if after else doubtful.before.stop)

    def _judged(self, row, its_moves, margin):
        raw = self._nights(row)
        now = np.median(raw[its_moves[-1].after]) if its_moves else 0
        for move in its_moves:
            move.came_from, move.to = (
                float(np.median(raw[part])) for part in (move.before, move.after)
            )
            beyond = (now - move.came_from) * np.sign(move.delta)
            move.recovered = bool(beyond < margin)
            move.p = self.rows.p_value(row, move.before, move.after)
            move.sure = self._sure(row, raw, move, margin)
        return [move for move in its_moves if move.p <= self.alpha]

    def _chance(self, row, raw, places, move):
        """That the shorter side of a step is but bad nights of the longer one."""
        usual, other = move.before, move.after
        if len(raw[usual]) < len(raw[other]):
            usual, other = other, usual
        level = np.median(raw[usual])
        reference = raw[usual] - level
        if not self.bad_nights.knows_others(row):
            # no row is like it: what it did between other steps tells how often it does so
            off = _from_levels(raw, [0, *places, len(raw)], self.distances[row])
            reference = np.concatenate([off[: other.start], off[other.stop :]])
        normal = self.rows.sigma[row] * self.rows.growth[: cp.LEAST + 1].max()
        chance = self.bad_nights.chance(row, reference, raw[other] - level, normal)
        return self.questions * chance

    def _sure(self, row, raw, move, margin):
        """The first place at which a step was both sure and large enough."""
        if move.shape == 'drift':
            return move.until
        start, level = move.after.start, np.median(raw[move.before])
        for end in range(start + cp.LEAST, move.after.stop):
            part = slice(start, end)
            if (
                abs(np.median(raw[part]) - level) >= margin
                and self.rows.p_value(row, move.before, part) <= self.alpha
            ):
                return end - 1
        return move.after.stop - 1

    def _level_out(self, row, its_moves):
        """Distances from the levels between steps; what was soon over stays a bad stretch."""
        steps = [m.first for m in its_moves if m.shape == 'step']
        count = self.rows.count[row]
        off = self.distances[row, :count]
        off[:] = _from_levels(self.rows.raw[row, :count], [0, *steps, count], off)

    def restless(self, margin):
        """(row, begin, end, shares, depth, recovered) of rows with more bad nights than before."""
        memory = self.rows.growth[: cp.LEAST + 1].max()
        depth = np.maximum(margin, DEPTH * self.rows.calm * memory)
        stretches = restless(self.distances, depth, self.questions, self.alpha)
        for row, begin, end, *shares in stretches:
            part = self.distances[row, begin:end]
            size = np.median(part[part < -depth[row]])
            over = (1 - shares[1]) ** (self.rows.count[row] - end) < OVER
            yield row, begin, end, shares, float(size), bool(over)


def steadied(packed, columns, times):
    """Packed rows, each night as much nearer to its level, or to those beside it, as it is
    noisier for all."""
    nearest = np.clip(packed, *cp.around(cp.levels(packed)))
    return nearest + (packed - nearest) / times.astype(packed.dtype)[columns]


def _from_levels(raw, edges, off):
    """Distances from the levels between `edges`; what was soon over stays far from them. `off`:
    those of a row without a step."""
    if len(edges) < 3:
        return off
    off, level = np.empty_like(raw), None
    for a, b in zip(edges, edges[1:], strict=False):
        part = raw[a:b]
        if level is None or b - a >= cp.BLOCK or b == edges[-1]:
            level = np.median(part)
        off[a:b] = part - (cp.levels(part[None, :])[0] if b - a > cp.AROUND else level)
    return off


def scatters(tables, questions, alpha, margin, times=None):
    """Rows whose nights scatter otherwise than before, in all `tables` (kernels) together.

    ({row: [(column, [before and after of each table], the column of its end or None)]}, the
    largest scatter of each row and table). Judged are ranks of the distances between neighbouring
    nights within a row: whatever their distribution, healthy rows have no change in them.
    `times`: as in Search.
    """
    packed = [cp.pack(table) for table in tables]
    if times is not None and (times > 1).any():
        packed = [(steadied(p, columns, times), n, columns) for p, n, columns in packed]
    distances = [np.abs(np.diff(values)) for values, _, _ in packed]
    scores = sum(each(_normal_scores, distances)) / len(distances)
    count, columns = np.maximum(packed[0][1] - 1, 0), packed[0][2]
    rows = cp.Rows(scores * cp.PRIOR_SPREAD, count, questions, alpha)
    noisier, largest = {}, np.zeros((len(tables), len(scores)))
    for row in rows.suspects():
        edges = [0, *rows.places(row), count[row]]
        spreads = np.array([
            [np.median(d[row, a:b]) for a, b in zip(edges, edges[1:], strict=False)]
            for d in distances
        ]) / MAD_TO_SIGMA / np.sqrt(2)  # fmt: skip
        largest[:, row] = spreads.max(axis=1)
        ends = columns[row, np.minimum(np.array(edges) + 1, count[row])]
        noisier[row] = list(_noisier(edges, ends, spreads, LEAST_NOISY, margin))
    return noisier, largest


def _noisier(edges, columns, spreads, least, margin):
    """The parts between `edges`, of at least so many nights, that are noisier than the one
    before: as scatters() says."""
    for i in range(len(edges) - 2):
        if edges[i + 2] - edges[i + 1] < least:
            continue
        if _is_noisier(spreads[:, i], spreads[:, i + 1], margin):
            calm = [j for j in range(i + 2, len(edges) - 1) if _is_over(spreads[:, [i, j]])]
            end = columns[calm[0]] if calm and _is_over(spreads[:, [i, -1]]) else None
            yield columns[i + 1], spreads[:, i : i + 2], end


def fleet_scatter(spreads, alpha, margin):
    """(column, [before and after of each kernel], its end or None) where a fleet becomes noisier.

    `spreads`: of each night and kernel, a standard deviation, kernels x nights; NaN: not known.
    """
    scores = sum(map(_normal_scores, spreads[:, None])) / len(spreads)
    packed, count, columns = cp.pack(scores)
    if count[0] < 2 * cp.LEAST:
        return
    rows = cp.Rows(packed * cp.PRIOR_SPREAD, count, count[0], alpha)
    for row in rows.suspects():
        edges = [*columns[row, [0, *rows.places(row)]].tolist(), spreads.shape[1]]
        of_parts = np.array([
            np.nanmedian(spreads[:, a:b], axis=1) for a, b in zip(edges, edges[1:], strict=False)
        ]).T  # fmt: skip
        yield from _noisier(edges, edges, of_parts, LEAST_NOISY_FLEET, margin)


def _normal_scores(distances):
    """B. van der Waerden, 1952; NaN stays NaN."""
    count, width = value_counts(distances), distances.shape[1]
    scores, of_row = np.full((width + 1, width), np.nan), np.empty_like(distances)
    for n in np.unique(count):
        scores[n, :n] = ndtri(np.arange(1, n + 1) / (n + 1.0))
    for rows in cp.chunks(np.arange(len(distances))):
        places = np.argsort(distances[rows], axis=1)
        of_row[rows[:, None], places] = scores[count[rows]]
    return of_row


def _is_noisier(before, after, margin):
    return np.median(after / before) >= NOISIER and np.median(after) >= OF_MARGIN * margin


def _is_over(before_and_now):
    before, now = before_and_now.T
    return bool(np.median(now / before) < NOISIER)
