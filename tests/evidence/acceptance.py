"""How often an acceptance errs, and what --plan prints: acceptance.csv.

python tests/evidence/acceptance.py [acceptances] >tests/evidence/acceptance.csv     (400)

The median of 3 runs, a retest of 5. One node more than allowed is bad, or all are good: 9 of 10
runs of such a node miss the contract, or reach it. A run has a part that is its day's.
"""

import csv
import itertools
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'src'))

from membw.accept.plan import assess  # noqa: E402
from membw.accept.protocol import Line, Protocol  # noqa: E402
from membw.accept.rule import Decision  # noqa: E402
from membw.accept.runs import Run  # noqa: E402
from membw.results.figure import Measurement  # noqa: E402

FIRST, RETEST, RUN_SD = 3, 5, 0.003
NINE_OF_TEN = 1.28  # standard deviations: the normal distribution has a tenth beyond
CONTRACT = {'triad': Line('triad', 'GB/s', 'higher', 100.0, None)}
COLUMNS = (
    'nodes allowed day_sd_pct run_sd_pct runs_per_day accepted_pct printed_accepted_pct '
    'refused_pct printed_refused_pct'
)


def protocol_of(nodes: int, allowed: int) -> Protocol:
    content = {
        'nodes': {'count': nodes}, 'rule': {'allowed_failures': allowed}, 'parties': {},
        'retest': {'repetitions': RETEST}, 'period': {'to': ''},
        'runs': {'repetitions': FIRST, 'statistic': 'median'},
    }  # fmt: skip
    names = [f'n{i}' for i in range(nodes)]
    return Protocol(content, '', CONTRACT, names, {}, {}, {}, 0)


def verdict(
    rng: np.random.Generator, protocol: Protocol, day_sd: float, runs_per_day: int, bad: int
) -> str:
    deviation = float(np.hypot(day_sd, RUN_SD))
    runs = []
    for node in range(protocol.count):
        usual = 1 + (-1 if node < bad else 1) * NINE_OF_TEN * deviation
        # the first round and the retest begin on days of their own
        days = [n // runs_per_day for n in range(FIRST)]
        days += [FIRST + n // runs_per_day for n in range(RETEST)]
        of_day = rng.normal(0, day_sd, FIRST + RETEST)
        noise = rng.normal(0, RUN_SD, FIRST + RETEST)
        figures = 100 * (usual + of_day[days] + noise)
        count = FIRST if sorted(figures[:FIRST])[1] >= 100 else FIRST + RETEST
        runs += [
            Run(f'n{node}', Measurement(str(days[i]), float(i)), {'triad': float(figures[i])})
            for i in range(count)
        ]
    return Decision(protocol, runs).verdict


def main(acceptances: int) -> None:
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(COLUMNS.split())
    cells = itertools.product((8, 32), (0, 1), (0.0, 0.003, 0.01), (RETEST, 1))
    for nodes, allowed, day_sd, runs_per_day in cells:
        protocol = protocol_of(nodes, allowed)
        rng, risk, found = np.random.default_rng(1), assess(protocol), []
        for bad, word in ((allowed + 1, 'ACCEPTED'), (0, 'REFUSED')):
            each = [verdict(rng, protocol, day_sd, runs_per_day, bad) for _ in range(acceptances)]
            found.append(100 * sum(v == word for v in each) / acceptances)
        out.writerow([nodes, allowed, f'{100 * day_sd:g}', 100 * RUN_SD, runs_per_day, found[0],
                      f'{100 * risk.accepted:.2g}', found[1],
                      f'{100 * risk.refused:.2g}'])  # fmt: skip


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
