"""OpenMP's overheads by src/overheads and by EPCC's syncbench, in turn, as their users run them.

EPCC's suite is Apache-2 and built by whom it belongs to; the user names its program.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from membw.bench.build import LINES, build
from membw.bench.programs import PINNED
from membw.bench.rounds import in_turn
from membw.checkout import root
from membw.errors import MembwError
from membw.site.topology import cores_here
from membw.tables import Cell, Column, Table, shown

# ours -> as EPCC's suite v3.1 prints it
CONSTRUCTS = {
    'parallel': 'PARALLEL',
    'for': 'FOR',
    'parallel_for': 'PARALLEL FOR',
    'barrier': 'BARRIER',
    'single': 'SINGLE',
    'critical': 'CRITICAL',
    'lock': 'LOCK/UNLOCK',
    'atomic': 'ATOMIC',
    'ordered': 'ORDERED',
    'reduction': 'REDUCTION',
}
LINE = re.compile(r'^(\S.*?) overhead = +(\S+) microseconds \+/- +(\S+)$', re.M)
LIMIT_S = 600


def epcc_overheads(text):
    """{construct of ours: (us, half width)} of what syncbench printed."""
    overheads = {name: (float(us), float(half)) for name, us, half in LINE.findall(text)}
    return {ours: overheads[theirs] for ours, theirs in CONSTRUCTS.items() if theirs in overheads}


def measured(say, epcc, rounds):
    """{'rows': [...], 'left_out': [...], 'runs': {program: [{construct: us}]}}."""
    if epcc and not os.access(epcc, os.X_OK):
        raise MembwError(f"no program '{epcc}'", "give the path of EPCC's syncbench")
    source = pathlib.Path(root(), 'src', 'overheads', 'overheads.c')
    ours, why = build(LINES[0], [source], 'overheads')
    if not ours:
        raise MembwError(why, "'membw bench' needs gcc")
    threads = len(cores_here())
    programs = {'overheads': lambda: run_ours(ours, threads)}
    if epcc:
        programs['EPCC'] = lambda: run_epcc(epcc, threads)
    done = in_turn('overheads', programs, rounds, say)
    runs_of = {name: [results[name] for results in done] for name in programs}
    return {
        'rows': [row(name, runs_of) for name in CONSTRUCTS],
        'left_out': [] if epcc else ["rows of EPCC: no '--epcc PATH' of its syncbench"],
        'runs': runs_of,
        'threads': threads,
        'load_average': os.getloadavg()[2],
    }


def start(words, threads):
    env = {**os.environ, **PINNED, 'OMP_NUM_THREADS': str(threads)}
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=LIMIT_S)


def run_ours(program, threads):
    """{construct: us}; of an INVALID run those that it has, since a round is not repeated."""
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder, 'record.json')
        names = ','.join(CONSTRUCTS)
        words = [program, '--threads', str(threads), '--constructs', names, '--json', record]
        done = start(list(map(str, words)), threads)
        if not record.is_file():
            raise MembwError(f'overheads measured nothing: {done.stderr.strip()}')
        data = json.loads(record.read_text())
    return {o['construct']: o['overhead_us'] for o in data['overheads'] if o['steady']}


def run_epcc(program, threads):
    done = start([program], threads)
    overheads = epcc_overheads(done.stdout)
    if done.returncode or not overheads:
        raise MembwError(f"'{program}' printed no overheads", 'it is to be syncbench of EPCC')
    return {name: us for name, (us, _) in overheads.items()}


def row(construct, runs_of):
    """Median and spread (largest over smallest) of each program's runs; None: no figure."""
    line = {'construct': construct}
    for name, runs in runs_of.items():
        values = [run[construct] for run in runs if construct in run]
        apart = max(values) / min(values) if values and min(values) > 0 else None
        line[name] = {'median': statistics.median(values) if values else None, 'apart': apart,
                       'runs': len(values)}  # fmt: skip
    return line


def blocks(result):
    """The table, and whose rows are left out."""
    title = (f"OpenMP's overheads, us, {result['threads']} threads: median, and how far runs lie "
             f'apart (load {result["load_average"]:.1f})')  # fmt: skip
    columns, rows = [Column('construct', 'construct')], [[r['construct']] for r in result['rows']]
    for name in result['runs']:
        columns += [Column(name, name, right=True), Column(f'{name}_apart', 'apart', right=True)]
        for cells, row in zip(rows, result['rows'], strict=True):
            median, apart = row[name]['median'], row[name]['apart']
            times = None if apart is None else f'x{apart:.2f}'
            cells += [shown(median, '.3g'), Cell(apart, times or '-')]
    return [Table(title, tuple(columns), rows), *result['left_out']]
