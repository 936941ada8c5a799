"""The tables of docs/judging.md, "history", made anew.

    MEMBW_HISTORY_FULL=1 python tests/lib/history_tables.py healthy power real

`real` wants MEMBW_REAL_HISTORY=FILE: one series a line, a name and the rates, night by night.
Without FULL: few seeds, some minutes.  The peer is e-divisive: D. Matteson, N. James, JASA 109
(2014), with the energy statistic and a permutation test, as in MongoDB's history of benchmarks.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import hard_histories as hard
import history_generator as gen
import numpy as np
from scipy.ndimage import median_filter

from membw.history.changes import judge
from membw.history.text import is_worse, merged

FULL = bool(os.environ.get('MEMBW_HISTORY_FULL'))
SEEDS = int(os.environ.get('MEMBW_SEEDS', 12 if FULL else 4))
LOOKS = 12
BEFORE = 60  # nights before what is planted


# the peer


def e_divisive(values, seed=0, permutations=199, alpha=0.005, least=3):
    """Places where the distribution of a series changes."""
    rng = np.random.default_rng(seed)
    found, todo = [], [(0, len(values))]
    while todo:
        begin, end = todo.pop()
        part = values[begin:end]
        if len(part) < 2 * least:
            continue
        place, size = _energy(part, least)
        larger = sum(_energy(rng.permutation(part), least)[1] >= size for _ in range(permutations))
        if (larger + 1) / (permutations + 1) <= alpha:
            found.append(begin + place)
            todo += [(begin, begin + place), (begin + place, end)]
    return sorted(found)


def _energy(part, least):
    """(place, size) of the split with the largest energy statistic, the right part whole."""
    distance = np.abs(part[:, None] - part[None, :])
    count = len(part)
    sums = np.cumsum(np.cumsum(distance, axis=0), axis=1)
    n = np.arange(least, count - least + 1)
    within = sums[n - 1, n - 1]
    across = sums[n - 1, -1] - within
    rest = sums[-1, -1] - within - 2 * across
    m = count - n
    size = (
        n
        * m
        / count
        * (
            2 * across / n / m
            - within / n / np.maximum(n - 1, 1)
            - rest / m / np.maximum(m - 1, 1)
        )
    )
    return int(n[size.argmax()]), float(size.max())


def peer_changes(series, kernel='triad', margin=0.02):
    """(node, night, change) with the fleet's median taken off, larger than the margin."""
    logs = np.log(series.rates[series.kernels.index(kernel)])
    if len(logs) > 1:
        logs = logs - np.nanmedian(logs, axis=0)
    for node, row in enumerate(logs):
        there = np.flatnonzero(~np.isnan(row))
        edges = e_divisive(row[there], seed=node)
        cuts = [0, *edges, len(there)]
        for i, edge in enumerate(edges):
            old, new = row[there[cuts[i] : edge]], row[there[edge : cuts[i + 2]]]
            change = np.median(new) - np.median(old)
            if abs(change) >= margin:
                yield node, int(there[edge]), change


# what is told


def events(series):
    return merged(judge([series]))


def healthy_row(noise, nodes=hard.NODES, nights=hard.NIGHTS, planted=()):
    """Alarms a fleet at the last night, share of fleets in any look, those red, the peer's."""
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(_healthy, [(noise, nodes, nights, s) for s in range(SEEDS)]))
    return np.mean(rows, axis=0)


def _healthy(job):
    name, nodes, nights, seed = job
    fleet = 0.0 if nodes < 5 else 0.001
    series = hard.history(NOISES[name], 1000 + seed, nodes, nights, fleet)
    told = events(series)
    looks = np.linspace(min(30, nights // 2), nights, LOOKS).astype(int)
    ever = any(events(gen.truncated(series, n)) for n in looks) if LOOKED else 0
    peer = len(list(peer_changes(series))) if PEER else 0
    kinds = [e[0].shape for e in told]
    return [
        len(told), bool(told), ever, sum(any(map(is_worse, e)) for e in told),
        sum(map(len, told)), kinds.count('scatter'), kinds.count('intermittent'), peer,
    ]  # fmt: skip


LOOKED = 'looks' in sys.argv
PEER = 'peer' in sys.argv
NOISES = {**hard.HEALTHY, **hard.HELD_OUT, **hard.SEALED, **hard.SEALED_2, **hard.SEALED_3,
          **hard.SEALED_4, **hard.SEALED_5}  # fmt: skip
SMALL = {
    '4 nodes, common AR .8, 1 %': (4, 180, hard.remembering(0.8, 0.01, common=True)),
    '1 node, 1 %': (1, 180, hard.normal(0.01)),
    '1 node, 3 %': (1, 180, hard.normal(0.03)),
    '1 node, AR .8, 1 % (held out)': (1, 180, hard.remembering(0.8, 0.01)),
    'first 12 nights at 3 %': (20, 12, hard.normal(0.03)),
}
NOISES |= {name: noise for name, (_, _, noise) in SMALL.items()}


def healthy(names):
    print('healthy: a fleet of 20 nodes x 180 nights; events told, P(any), in any look, red; '
          'changes (kernels), scatter, intermittent; e-divisive on triad')  # fmt: skip
    for name in names:
        nodes, nights, _ = SMALL.get(name, (hard.NODES, hard.NIGHTS, None))
        print(f'{name:42}', ' '.join(f'{x:6.2f}' for x in healthy_row(name, nodes, nights)),
              flush=True)  # fmt: skip


# power


def _step(share, night=BEFORE, kernels=slice(None)):
    def plant(series, seed):
        series.rates[kernels, 3, night:] *= 1 - share

    return plant


def _intermittent(share, size):
    def plant(series, seed):
        rng = np.random.default_rng([seed, 5])
        bad = rng.random(series.rates.shape[2]) < share
        bad[:BEFORE] = False
        series.rates[:, 3, bad] *= 1 - size

    return plant


def _missing(share):
    def plant(series, seed):
        gone = np.random.default_rng([seed, 6]).random(series.software.shape) < share
        series.rates[:, gone], series.software[gone] = np.nan, -1
        series.rates[:, 3, BEFORE:] *= 1 - 0.03

    return plant


def _drift(share, nights):
    return lambda series, seed: gen.drift(series, 3, BEFORE, nights, share)


def _down(nights, share=0.03):
    def plant(series, seed):
        series.rates[:, 3, BEFORE : BEFORE + nights] *= 1 - share

    return plant


def _rack(share, nodes):
    def plant(series, seed):
        series.rates[:, 3 : 3 + nodes, BEFORE:] *= 1 - share

    return plant


QUICK, SLOW = (3, 5, 10, 20), (20, 40, 60, 200)
POWER = {  # noise, what is planted, nodes, night, nights after
    'step -3 %': (hard.normal(0.005), _step(0.03), 20, BEFORE, QUICK),
    'step -2.5 %': (hard.normal(0.005), _step(0.025), 20, BEFORE, QUICK),
    '-5 %, noise 2 %': (hard.normal(0.02), _step(0.05), 20, BEFORE, QUICK),
    '-10 %, noise 3 %': (hard.normal(0.03), _step(0.10), 20, BEFORE, QUICK),
    '-3 %, t3 noise': (hard.student(3, 0.005), _step(0.03), 20, BEFORE, QUICK),
    '-3 %, AR .5': (hard.remembering(0.5, 0.005), _step(0.03), 20, BEFORE, QUICK),
    '-5 %, AR .8, 1 %': (hard.remembering(0.8, 0.01), _step(0.05), 20, BEFORE, QUICK),
    '10 % of nights missing': (hard.normal(0.005), _missing(0.1), 20, BEFORE, QUICK),
    '40 % of nights missing': (hard.normal(0.005), _missing(0.4), 20, BEFORE, QUICK),
    '18 nights before, -4 %': (hard.normal(0.005), _step(0.04, 18), 20, 18, QUICK),
    '-5 % at night 5': (hard.normal(0.005), _step(0.05, 5), 20, 5, QUICK),
    '-3 % at night 4': (hard.normal(0.005), _step(0.03, 4), 20, 4, QUICK),
    'one kernel alone -3 %': (hard.normal(0.005), _step(0.03, BEFORE, 1), 20, BEFORE, QUICK),
    'a fleet of 4': (hard.normal(0.005), _step(0.03), 4, BEFORE, QUICK),
    'a fleet of 1 (node 0)': (hard.normal(0.005), None, 1, BEFORE, QUICK),
    'weekly wave 1 %, -3 %': (hard.wave(0.01, 7), _step(0.03), 20, BEFORE, QUICK),
    'down 3 % for 6 nights': (hard.normal(0.005), _down(6), 20, BEFORE, QUICK),
    'bad in 35 % of nights by 6 %': (hard.normal(0.005), _intermittent(0.35, 0.06), 20, BEFORE,
                                     (*QUICK, 40, 60)),
    'bad in 60 % of nights by 6 %': (hard.normal(0.005), _intermittent(0.6, 0.06), 20, BEFORE,
                                     (*QUICK, 40, 60)),
    'drift -4 % in 60 nights': (hard.normal(0.005), _drift(0.04, 60), 20, BEFORE, SLOW),
    'drift -3 % in 180 nights': (hard.normal(0.005), _drift(0.03, 180), 20, BEFORE, SLOW),
    '-4 %, 5 % of nights -6 %': (hard.bad_nights(0.05, 0.06), _step(0.04), 20, BEFORE, QUICK),
    '-4 %, 20 % of nights -4 %': (hard.bad_nights(0.2, 0.04), _step(0.04), 20, BEFORE, QUICK),
    '-4 %, 10 % -8 % in runs of 3 (held out)': (hard.bad_nights(0.1, 0.08, stay=0.67),
                                                _step(0.04), 20, BEFORE, (5, 10, 20, 40)),
    # written on 22 November 2026 with hard.SEALED_4
    '-4 %, 15 % -10 % in runs of 2.5 (sealed)': (hard.bad_nights(0.15, 0.10, stay=0.6),
                                                 _step(0.04), 20, BEFORE, (5, 10, 20, 40)),
    '-4 %, t3 with a memory of .5, 1 % (sealed)': (hard.far_with_memory(0.5, 3, 0.01),
                                                   _step(0.04), 20, BEFORE, QUICK),
    '-5 %, AR .7, 1.2 % (sealed)': (hard.remembering(0.7, 0.012), _step(0.05), 20, BEFORE, QUICK),
    '-3 %, left lognormal .8 % (sealed)': (hard.left(0.008), _step(0.03), 20, BEFORE, QUICK),
    '-6 %, left gamma memory .5, 1.5 % (sealed)': (hard.gamma_with_memory(0.015, 0.5),
                                                   _step(0.06), 20, BEFORE, QUICK),
    # written on 23 November 2026 with hard.SEALED_5
    '-5 %, all 4x noisier for two weeks since (sealed)': (
        hard.restless_times(4, [(60, 74)]), _step(0.05), 20, BEFORE, (5, 10, 20, 40)),
    '-4 %, all 4x noisier for two weeks before (sealed)': (
        hard.restless_times(4, [(46, 60)]), _step(0.04), 20, BEFORE, QUICK),
    'a rack of 8, -4 %, 0.8 % (sealed)': (hard.normal(0.008), _rack(0.04, 8), 20, BEFORE, QUICK),
    'down 4 % for 25 nights (sealed)': (hard.normal(0.01), _down(25, 0.04), 20, BEFORE,
                                        (*QUICK, 40)),
    '-4 %, 8 % -6 % in runs of 6 (sealed)': (hard.bad_nights(0.08, 0.06, stay=0.83),
                                             _step(0.04), 20, BEFORE, (5, 10, 20, 40)),
    '-5 %, t3.5 with a memory of .75 (sealed)': (hard.far_with_memory(0.75, 3.5, 0.01),
                                                 _step(0.05), 20, BEFORE, QUICK),
}  # fmt: skip


def _power(job):
    name, seed = job
    noise, plant, nodes, night, after = POWER[name]
    series = hard.history(noise, 5000 + seed, nodes, night + max(after), 0.001 * (nodes >= 5))
    if plant:
        plant(series, seed)
    else:
        series.rates[:, 0, night:] *= 0.97
    who = 3 if plant else 0
    near = 4 if after != SLOW else 999
    hits, others = [], 0
    for k in after:
        told = [c for e in events(gen.truncated(series, night + k)) for c in e]
        first = gen.FIRST + night
        mine = [c for c in told if c.node == series.nodes[who] and c.direction == 'slower'
                and (abs(_day(c.night) - first) <= near or c.shape == 'intermittent')]  # fmt: skip
        hits.append(bool(mine))
        others = len({(c.node, c.shape) for c in told if c.node != series.nodes[who]})
    peer = [False]
    if PEER and (after == QUICK or name.startswith('real')):
        cut = gen.truncated(series, night + (20 if after == QUICK else 80))
        peer = [any(n == who and abs(t - night) <= 4 for n, t, _ in peer_changes(cut))]
    return [*hits, others, *peer]


def _day(text):
    from membw.history.series import as_day

    return as_day(text)


def power(names):
    print('power: % of histories told after so many nights; other alarms; e-divisive after 20')
    for name in names:
        with ProcessPoolExecutor(2) as pool:
            rows = np.mean(list(pool.map(_power, [(name, s) for s in range(SEEDS)])), axis=0)
        after = POWER[name][4]
        cells = ' '.join(f'+{k} {100 * r:3.0f}' for k, r in zip(after, rows, strict=False))
        print(f'{name:42} {cells} | {rows[-2]:.2f} | {100 * rows[-1]:3.0f}', flush=True)


# real histories


def real(file):
    for line in Path(file).read_text().splitlines():
        name, *rates = line.split()
        logs = np.log(np.array(rates, dtype=float))
        residuals = logs - median_filter(logs, 31, mode='nearest')
        NOISES[name] = POWER[name] = None
        noise = hard.bootstrapped(residuals)
        NOISES[f'real {name}'] = noise
        POWER[f'real {name}, -4 %'] = (noise, _step(0.04, 100), 20, 100, (3, 5, 10, 20, 40, 80))
        del NOISES[name], POWER[name]


if os.environ.get('MEMBW_REAL_HISTORY'):
    real(os.environ['MEMBW_REAL_HISTORY'])

if __name__ == '__main__':
    words = os.environ.get('MEMBW_ONLY', '').split('|')
    if 'healthy' in sys.argv:
        healthy([n for n in NOISES if any(w in n for w in words)])
    if 'power' in sys.argv:
        power([n for n in POWER if any(w in n for w in words)])
