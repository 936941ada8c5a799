"""What the words of rank promise, and their price: promise.csv, and a table of docs/judging.md.

python tests/evidence/promise.py FLEETS [NODES ...] >tests/evidence/promise.csv     (24; minutes)

Each fleet is measured, its low nodes three times more beside three healthy ones. One standard
deviation of a run in %, half of its variance common to its kernels. Of the nights there is no
further measurement: seven nights, the newest is judged.
"""

import csv
import sys
from pathlib import Path

import numpy as np

if __name__ == '__main__':
    sys.path.insert(0, str(Path(__file__).parents[2] / 'src'))

from membw.rank.judge import judge  # noqa: E402
from membw.results.table import Figure, Measurement  # noqa: E402

KERNELS = ('copy', 'scale', 'add', 'triad')
SIZES = (8, 16, 63, 500)
LOSSES = (0.03, 0.05, 0.08)
# (deviation of a run, own value of a node, degrees of freedom of the noise, of the hour)
SHAPES = {
    'normal 0.5 %': (0.005, 0, 0, 0),
    'normal 1 %': (0.01, 0, 0, 0),
    'normal 2 %': (0.02, 0, 0, 0),
    'heavy tails (t3) 1 %': (0.01, 0, 3, 0),
    'own value 0.7 %': (0.005, 0.007, 0, 0),
    'the retest 4 % slower': (0.005, 0, 0, 0.04),
}
COLUMNS = (
    'noise nodes fleets wrong_fail_pct found_3_pct found_5_pct found_8_pct nights_wrong_pct '
    'nights_found_5_pct printed_pct printed_passes_pct healthy_pass_pct'
).split()


class Fleet:
    def __init__(self, rng, shape, nodes):
        self.rng, self.nodes = rng, nodes
        self.noise, own, self.tails, self.hour = SHAPES[shape]
        self.share = 1 + own * rng.normal(size=nodes)

    def draw(self, size):
        if not self.tails:
            return self.rng.normal(size=size)
        return self.rng.standard_t(self.tails, size) / np.sqrt(self.tails / (self.tails - 2))

    def run(self, time, keep=None):
        values = (self.draw((self.nodes, 1)) + self.draw((self.nodes, 4))) / np.sqrt(2)
        rates = 100 * self.share[:, None] * (1 + self.noise * values)
        rates *= 1 - self.hour * (0 < time < 10)
        made = []
        for i, row in enumerate(rates):
            if keep is None or f'n{i:04d}' in keep:
                of = Measurement(f'{time:02.0f}', time, f'n{i:04d}')
                made += [Figure(k, float(v), 'GB/s', of=of, is_headline=k == 'triad')
                         for k, v in zip(KERNELS, row, strict=True)]  # fmt: skip
        return made

    def judged(self):
        """(the first verdicts, those after the further measurements), by node."""
        first = self.run(0.0)
        one = judge(first)
        keep = {n for of in (*one.low.values(), *one.controls.values()) for n in of}
        again = [f for time in (1.0, 2.0, 3.0) for f in self.run(time, keep)] if one.low else []
        two = judge(first, again) if again else one
        return ({v.node: v for v in found.verdicts} for found in (one, two))

    def after_nights(self):
        nights = [self.run(20.0 + night) for night in range(7)]
        found = judge(nights[0], before=[f for night in nights[1:] for f in night])
        return {v.node: v.verdict for v in found.verdicts}


def lost(rng, shape, nodes, loss):
    fleet = Fleet(rng, shape, nodes)
    fleet.share[0] = np.median(fleet.share) * (1 - loss)
    return fleet


def row(shape, nodes, fleets):
    rng, wrong, wrong_nights, printed, passes, healthy = np.random.default_rng(1), 0, 0, [], [], []
    for _ in range(fleets):
        fleet = Fleet(rng, shape, nodes)
        one, two = fleet.judged()
        is_sound = fleet.share / np.median(fleet.share) > 0.97
        sound = {f'n{i:04d}' for i in np.flatnonzero(is_sound)}
        wrong += any(two[n].verdict == 'FAIL' for n in sound)
        healthy.append(np.mean([two[n].verdict == 'PASS' for n in sound]))
        nights = fleet.after_nights()
        wrong_nights += any(nights[n] == 'FAIL' for n in sound)
        x = min((v.noticed for v in one.values()), default=1.0)
        if x < 1:
            printed.append(x)
            _, after = lost(rng, shape, nodes, x).judged()
            passes.append(after['n0000'].verdict == 'PASS')
    found = [np.mean([[*lost(rng, shape, nodes, loss).judged()][1]['n0000'].verdict == 'FAIL'
                      for _ in range(fleets)]) for loss in LOSSES]  # fmt: skip
    nights = [lost(rng, shape, nodes, 0.05).after_nights()['n0000'] == 'FAIL'
              for _ in range(fleets)]  # fmt: skip
    shares = [wrong / fleets, *found, wrong_nights / fleets, np.mean(nights),
              np.median(printed) if printed else np.nan, np.mean(passes) if passes else np.nan,
              np.mean(healthy)]  # fmt: skip
    percent = [f'{100 * share:.3g}' if share == share else '' for share in shares]
    return [shape, nodes, fleets, *percent]


def main(fleets, sizes):
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(COLUMNS)
    for nodes in sizes or SIZES:
        for shape in SHAPES:
            count = fleets if nodes < 500 else max(fleets // 4, 1)
            out.writerow(row(shape, nodes, count))
            sys.stdout.flush()


if __name__ == '__main__':
    main(int(sys.argv[1]), [int(word) for word in sys.argv[2:]])
