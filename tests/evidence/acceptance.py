"""How often an acceptance errs where days have a memory: acceptance.csv.

python tests/evidence/acceptance.py [acceptances] >tests/evidence/acceptance.csv     (400)

8 nodes, the median of 3 runs, a retest of 5; none may fail. One node is bad, or all are good: 9 of
10 runs of such a node miss the contract, or reach it. A run has a part that is its day's.
"""

import csv
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / 'src'))

from membw.accept.plan import assess  # noqa: E402
from membw.accept.protocol import Line, Protocol  # noqa: E402
from membw.accept.rule import decide  # noqa: E402
from membw.accept.runs import Run  # noqa: E402

NODES, FIRST, RETEST, RUN_SD = 8, 3, 5, 0.003
NINE_OF_TEN = 1.28  # standard deviations: the normal distribution has a tenth beyond
CONTENT = {
    'nodes': {'count': NODES}, 'rule': {'allowed_failures': 0}, 'retest': {'repetitions': RETEST},
    'runs': {'repetitions': FIRST, 'statistic': 'median'}, 'parties': {}, 'period': {'to': ''},
}  # fmt: skip
CONTRACT = {'triad': Line('triad', 'GB/s', 'higher', 100.0, None)}
COLUMNS = (
    'day_sd_pct run_sd_pct runs_per_day accepted_pct printed_accepted_pct refused_pct '
    'printed_refused_pct'
)
PROTOCOL = Protocol(CONTENT, '', CONTRACT, NODES, 0, [f'n{i}' for i in range(NODES)], {}, {}, {})


def verdict(rng: np.random.Generator, day_sd: float, runs_per_day: int, bad: int) -> str:
    deviation = float(np.hypot(day_sd, RUN_SD))
    runs = []
    for node in range(NODES):
        usual = 1 + (-1 if node < bad else 1) * NINE_OF_TEN * deviation
        # the first round and the retest begin on days of their own
        days = [n // runs_per_day for n in range(FIRST)]
        days += [FIRST + n // runs_per_day for n in range(RETEST)]
        of_day = rng.normal(0, day_sd, FIRST + RETEST)
        noise = rng.normal(0, RUN_SD, FIRST + RETEST)
        figures = 100 * (usual + of_day[days] + noise)
        count = FIRST if sorted(figures[:FIRST])[1] >= 100 else FIRST + RETEST
        runs += [
            Run(f'n{node}', float(i), str(days[i]), {'triad': float(figures[i])})
            for i in range(count)
        ]
    return decide(PROTOCOL, runs).verdict


def main(acceptances: int) -> None:
    out, risk = csv.writer(sys.stdout, lineterminator='\n'), assess(PROTOCOL)
    out.writerow(COLUMNS.split())
    for day_sd in (0.0, 0.003, 0.01):
        for runs_per_day in (RETEST, 1):
            rng, found = np.random.default_rng(1), []
            for bad, word in ((1, 'ACCEPTED'), (0, 'REFUSED')):
                each = [verdict(rng, day_sd, runs_per_day, bad) for _ in range(acceptances)]
                found.append(100 * sum(v == word for v in each) / acceptances)
            out.writerow([f'{100 * day_sd:g}', 100 * RUN_SD, runs_per_day, found[0],
                          f'{100 * risk.accepted:.2g}', found[1],
                          f'{100 * risk.refused:.2g}'])  # fmt: skip


if __name__ == '__main__':
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
