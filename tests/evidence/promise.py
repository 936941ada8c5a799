"""What the words of rank promise, and their price: promise.csv, and a table of docs/judging.md.

python tests/evidence/promise.py FLEETS [--src FOLDER --rules NAME] >>tests/evidence/promise.csv

100 fleets (25 of 500 nodes) take five minutes. --src: the rules of another checkout, judged on
the same fleets: a fleet is its number. Each is measured, its low nodes three times more beside
three healthy ones. One standard deviation of a run in %, half of its variance common to its
kernels. Of the nights there is no further measurement: seven nights, the newest is judged.
"""

import argparse
import csv
import inspect
import sys
from pathlib import Path

import numpy as np

parser = argparse.ArgumentParser(usage=__doc__.split('\n\n')[1])
parser.add_argument('fleets', type=int)
parser.add_argument('--src', default=Path(__file__).parents[2] / 'src')
parser.add_argument('--rules', default='now')
given = parser.parse_args()
sys.path.insert(0, str(given.src))

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
    'rules noise nodes fleets wrong_fail_pct found_3_pct found_5_pct found_8_pct nights_wrong_pct '
    'nights_found_5_pct printed_pct printed_passes_pct healthy_pass_pct'
).split()


class Fleet:
    def __init__(self, number, shape, nodes):
        self.rng, self.nodes = np.random.default_rng(number), nodes
        self.noise, own, self.tails, self.hour = SHAPES[shape]
        self.share = 1 + own * self.rng.normal(size=nodes)

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
        earlier = {'before': [f for night in nights[1:] for f in night]}
        known = inspect.signature(judge).parameters  # older rules know of one night
        found = judge(nights[0], **{name: earlier[name] for name in earlier if name in known})
        return {v.node: v.verdict for v in found.verdicts}


def lost(number, shape, nodes, loss):
    fleet = Fleet(number, shape, nodes)
    fleet.share[0] = np.median(fleet.share) * (1 - loss)
    return fleet


def row(shape, nodes, fleets):
    wrong, wrong_nights, printed, passes, healthy = 0, 0, [], [], []
    for number in range(fleets):
        fleet = Fleet(number, shape, nodes)
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
            _, after = lost(number, shape, nodes, x).judged()
            passes.append(after['n0000'].verdict == 'PASS')
    found = [np.mean([[*lost(number, shape, nodes, loss).judged()][1]['n0000'].verdict == 'FAIL'
                      for number in range(fleets)]) for loss in LOSSES]  # fmt: skip
    nights = [lost(number, shape, nodes, 0.05).after_nights()['n0000'] == 'FAIL'
              for number in range(fleets)]  # fmt: skip
    shares = [wrong / fleets, *found, wrong_nights / fleets, np.mean(nights),
              np.median(printed) if printed else np.nan, np.mean(passes) if passes else np.nan,
              np.mean(healthy)]  # fmt: skip
    percent = [f'{100 * share:.3g}' if share == share else '' for share in shares]
    return [given.rules, shape, nodes, fleets, *percent]


def main(fleets):
    out = csv.writer(sys.stdout, lineterminator='\n')
    if given.rules == 'now':
        out.writerow(COLUMNS)
    for nodes in SIZES:
        for shape in SHAPES:
            count = fleets if nodes < 500 else max(fleets // 4, 1)
            out.writerow(row(shape, nodes, count))
            sys.stdout.flush()


if __name__ == '__main__':
    main(given.fleets)
