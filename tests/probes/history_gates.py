"""Where `membw history` loses a loss of 4 % in the noise of a real node: which rule drops it.

    MEMBW_REAL_HISTORY=FILE PYTHONPATH=src:tests/lib python tests/probes/history_gates.py 40

FILE as in tests/lib/history_tables.py, 40: seeds of that table. One kernel of its histories, as
the four there are nearly the same. For docs/judging.md, section history.
"""

import sys
from collections import Counter

import hard_histories as hard
import history_generator as gen
import history_tables as tables
import numpy as np

from membw.history import changes
from membw.history.search import Search
from membw.statistics import fleet_spread

NODE, NIGHT, NEAR, SINCE = 3, 100, 4, (10, 20, 40, 80)
MARGIN = np.log1p(changes.MARGIN)


def dropped_by(series):
    """The first of the rules, in their order, that the loss does not pass."""
    rest = changes._Kernel(series, 0).rest
    _, times = fleet_spread.of_nights([rest])
    search = Search(rest, changes._questions(series), changes.ALPHA, 0.0, times)
    places = search.rows.places(NODE)
    if not places:
        return 'not sure'
    moved = search.rows.placed(NODE, list(places))
    found = search.moves(MARGIN).get(NODE, [])  # as the rules that follow leave them
    if any(m.delta < 0 and abs(m.first - NIGHT) <= NEAR for m in found):
        return 'found'
    if not is_near(places):
        return 'led elsewhere by the means'
    if not is_near(moved):
        return 'placed elsewhere'
    if any(m.shape == 'drift' for m in found):
        return 'a drift that begins elsewhere'
    left = search._moves(NODE, MARGIN)  # without what may be bad nights
    return 'no longer sure there' if is_near([m.first for m in left]) else 'may be bad nights'


def is_near(places):
    return any(abs(place - NIGHT) <= NEAR for place in places)


def main(seeds):
    for name, (noise, plant, nodes, night, after) in tables.POWER.items():
        if not name.startswith('real'):
            continue
        known = {since: Counter() for since in SINCE}
        for seed in range(seeds):
            series = hard.history(noise, 5000 + seed, nodes, night + max(after), 0.001)
            plant(series, seed)
            for since in SINCE:
                known[since][dropped_by(gen.truncated(series, night + since))] += 1
        for since, counts in known.items():
            print(f'{name:24} +{since}', dict(counts.most_common()), flush=True)


if __name__ == '__main__':
    main(int(sys.argv[1]))
