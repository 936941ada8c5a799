"""How well a figure repeats: runs of ours and of stream.c, in turn, as each is run by its users.

stream.c runs its ten repetitions; ours runs until its figure is there, and says how far the same
measurement, started again, would read.  Where the host of a virtual machine moved its cores
between two runs (the nearest pair of cores says so), that is another measurement: such pairs are
counted apart.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from functools import partial
from itertools import pairwise

from membw.bench import parse as bench_parse
from membw.bench.build import LINES, build, find_stream_c, own_sources
from membw.bench.programs import OURS, PINNED, PINNING_VARIABLES, THEIRS
from membw.bench.rounds import in_turn
from membw.errors import MembwError
from membw.results import regimes
from membw.results.metrics import intervals, of_record
from membw.site.topology import cores_here
from membw.tables import Cell, Column, Table, shown

RUNS = 30
AGREE = 0.03  # of the larger figure: what issues and acceptance tests call the same figure
METRIC = 'triad'
LIMIT_S = 300


def repeats(say, size, stream_c='', runs=RUNS, max_seconds=None):
    """`max_seconds` is of ours, else its own limit.

    {'rows': [...], 'left_out': [...], 'runs': {program: [{figure, low, high, ...}]}}."""
    commands, reasons = programs(size, stream_c)
    commands[OURS] += ['--max-seconds', f'{max_seconds}'] if max_seconds else []
    starts = {name: partial(run, name, words) for name, words in commands.items()}
    done = in_turn('repeats', starts, runs, say)
    runs_of = {name: [results[name] for results in done] for name in commands}
    return {
        'rows': [{'program': name, **summary(rows)} for name, rows in runs_of.items()],
        'left_out': reasons,
        'runs': runs_of,
        'load_average': os.getloadavg()[2],
    }


def programs(size, stream_c):
    """({name: path}, reasons why one is not there), by the line that all ratios are held to."""
    out, why = build(LINES[0], own_sources(), OURS, 0, 0)
    if not out:
        raise MembwError(why, "'membw bench' needs gcc")
    commands, reasons = {OURS: [str(out), '-n', str(size)]}, []
    path, where = find_stream_c(stream_c)
    theirs, why = build(LINES[0], [path], THEIRS, size, 10) if path else (None, where)
    if theirs:
        commands[THEIRS] = [str(theirs)]
    else:
        reasons.append(f'row of stream.c: {why}')
    return commands, reasons


def run(name, words):
    """One run: {'figure', 'low', 'high', 'valid', 'reasons', 'seconds'}; GB/s."""
    env = {k: v for k, v in os.environ.items() if k not in PINNING_VARIABLES}
    env |= {**PINNED, 'OMP_NUM_THREADS': str(len(cores_here()))}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'record.json')
        words = [*words, '--json', str(path)] if name == OURS else words
        begun = time.monotonic()
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=LIMIT_S)
        seconds = round(time.monotonic() - begun, 2)
        if done.returncode not in (0, 1):
            said = (done.stderr.strip() or 'nothing').splitlines()[-1]
            raise MembwError(f"'{name}' ended with exit status {done.returncode}: {said}")
        if name == OURS:
            return {**told(json.loads(path.read_text())), 'seconds': seconds}
    figure = bench_parse.stream(done.stdout, name)[METRIC]['best_mbs'] / 1000
    return {'figure': figure, 'low': None, 'high': None, 'valid': True, 'reasons': [],
            'seconds': seconds}  # fmt: skip


def told(record):
    """Of one record of ours; `metrics` has (figure, low, high) of each, GB/s."""
    ends, figures = intervals(record), of_record(record)[0]
    spans = {name: (value, *ends.get(name, (None, None))) for name, value in figures.items()}
    figure, low, high = spans[METRIC]
    return {
        'figure': figure,
        'low': low,
        'high': high,
        'metrics': spans,
        'nearest_ns': regimes.latencies(record),
        'valid': record['verdict'] == 'VALID',
        'reasons': [reason['reason'] for reason in record['reasons']],
    }


def moved(one, other):
    """Whether the machine changed its state in one of two runs or between them."""
    both = [*one.get('nearest_ns', ()), *other.get('nearest_ns', ())]
    return regimes.crossed(both)


def agree(one, other):
    return abs(one['figure'] - other['figure']) <= AGREE * max(one['figure'], other['figure'])


def holds(one, other):
    """The interval of one run holds the figure of the other."""
    return one['low'] is not None and one['low'] <= other['figure'] <= one['high']


def summary(rows):
    """Shares of the consecutive pairs that are both VALID and of one state of the machine; None
    where there is no such pair."""
    valid = [row for row in rows if row['valid']]
    pairs = [(a, b) for a, b in pairwise(rows) if a['valid'] and b['valid']]
    alike = [pair for pair in pairs if not moved(*pair)]
    within = [agree(a, b) for a, b in alike]
    either = [agree(a, b) or holds(a, b) or holds(b, a) for a, b in alike]
    figures = [row['figure'] for row in valid]
    return {
        'runs': len(rows),
        'valid': len(valid),
        'pairs': len(alike),
        'moved': len(pairs) - len(alike),
        'within': share(within),
        'within_or_interval': share(either),
        'next_in_interval': share(covered(alike)),
        'half_width': usual_half(valid),
        'least': min(figures, default=None),
        'median': statistics.median(figures) if figures else None,
        'most': max(figures, default=None),
        'seconds': round(statistics.median(row['seconds'] for row in rows), 2),
    }


def covered(pairs):
    """Of each metric of each pair: whether the interval of the first run holds the figure of the
    next."""
    return [
        low <= b['metrics'][name][0] <= high
        for a, b in pairs
        for name, (_, low, high) in a.get('metrics', {}).items()
        if low is not None
    ]


def usual_half(rows):
    """The median half width of all intervals, as a part of the figure."""
    spans = [span for row in rows for span in row.get('metrics', {}).values()]
    halves = [(high - low) / 2 / value for value, low, high in spans if low is not None]
    return statistics.median(halves) if halves else None


def share(yes):
    return sum(yes) / len(yes) if yes else None


SHARES = {
    'within': 'in 3 %',
    'within_or_interval': 'or interval',
    'next_in_interval': 'next in interval',
    'half_width': 'half width',
}
FIGURES = {'least': 'least', 'median': 'median', 'most': 'most', 'seconds': 's per run'}
TITLES = {'valid': 'VALID', 'pairs': 'pairs', 'moved': 'moved', **SHARES, **FIGURES}
COLUMNS = (Column('program', ''), *(Column(k, title, right=True) for k, title in TITLES.items()))


def blocks(result):
    """A line per program: what of its consecutive pairs agrees."""
    title = f'repeated runs, {METRIC} in GB/s (load average {result["load_average"]:.1f})'
    left_out = [f'left out: {reason}' for reason in result['left_out']]
    return [Table(title, COLUMNS, [cells(row) for row in result['rows']]), *left_out]


def cells(row):
    valid = Cell(row['valid'], f'{row["valid"]} of {row["runs"]}')
    shares = [shown(row[name], '.0%') for name in SHARES]
    return [row['program'], valid, row['pairs'], row['moved'], *shares,
            *(shown(row[name], '.1f') for name in FIGURES)]  # fmt: skip
