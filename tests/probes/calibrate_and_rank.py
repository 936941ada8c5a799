"""Which nodes of one night `membw rank` doubts, and which `membw calibrate` leaves out.

    PYTHONPATH=src nice python tests/probes/calibrate_and_rank.py 40

A table in Markdown, which docs/judging.md shows; PYTHONPATH of an older checkout gives its rule.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / 'lib'))

from judging_rank import after, kits, planted
from stated_alarms import samples

from membw.statistics import tolerance
from membw.statistics.tolerance import Refusal, Rule, propose

STEADY = 0.996  # the usual rate to the best one, of every node
ROWS = {
    'normal .5 %, 1 at -3 %': planted(1, 0.03),
    'normal .5 %, 3 at -2.2 %': planted(3, 0.022),
    'normal .5 %, 1 at -5 %': planted(1, 0.05),
    'normal 1 %, 3 at -5 %': planted(3, 0.05, noise=0.01),
    'normal 2 %': planted(noise=0.02),
    'normal 3 %': planted(noise=0.03),
    't3 1 %, 1 at -5 %': planted(1, 0.05, noise=0.01, kind='t3'),
    'left lognormal 1 %, 1 at -6 %': planted(1, 0.06, noise=0.01, kind='lognormal'),
    'exponential tail of 1 % in 10 %': planted(noise=0.003, tail=(0.1, 0.01)),
    'left Gumbel 1 %, 2 at -8 %': planted(2, 0.08, noise=0.01, kind='gumbel'),
    'kits 30/70, 4 %, noise 1 %': kits(0.3, 0.04, noise=0.01),
}


def left_out(rates):
    """Which nodes; None where the runs are refused."""
    try:
        kept = propose(samples(rates[:, 0], len(rates), 1), Rule(widest=0.9)).samples.nodes
    except Refusal:
        return None
    return ~np.isin([f'n{i:03}' for i in range(len(rates))], kept)


def row_of(name, make, fleets):
    refused = doubts = kept = others = passed = 0
    for seed in range(fleets):
        rates, _ = make(np.random.default_rng([77, seed]))
        out = left_out(rates)
        if out is None:
            refused += 1
            continue
        fail, _, suspect = after(rates, np.full(len(rates), STEADY))
        doubted = fail | suspect
        doubts, kept = doubts + doubted.sum(), kept + (doubted & ~out).sum()
        passed, others = passed + (~doubted).sum(), others + (out & ~doubted).sum()
    besides = 100 * others / max(passed, 1)
    return f'| {name} | {refused} | {doubts} | {kept} | {others} ({besides:.2g} %) |'


def main(fleets=40):
    tolerance.DRAWS = tolerance.PARTS = 2  # how many false alarms there will be is not asked
    print('| fleets | refused | doubted by rank | of these kept | left out besides |')
    print('|---|---|---|---|---|')
    for name, make in ROWS.items():
        print(row_of(name, make, int(fleets)), flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
