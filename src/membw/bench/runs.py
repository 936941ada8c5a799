"""How well whole runs repeat: `membw run` several times in a row, quiet or beside a planted load.

A figure is right where its interval holds the median of the same figure in the other runs, in the
same state of the machine (the nearest pair of cores tells states apart); of a busy machine, the
median of the quiet runs that were kept before.
"""

import collections
import contextlib
import json
import os
import shlex
import statistics
import subprocess
import sys
import time
from itertools import combinations

from membw.arguments import count
from membw.bench.pairs import burning
from membw.bench.repeats import share
from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text
from membw.results import case as of_case
from membw.results import regimes
from membw.run import newest, ratios, rows, summary
from membw.run.judge import judge, measures
from membw.run.reframe_run import ended_with
from membw.site.topology import cores_here
from membw.tables import Cell, Column, Table, shown

RUNS = 10
VERDICTS = ('PASS', 'INVALID', 'FAIL')
UNKNOWN = -1  # the state of what did not measure the pair
MADE_BY = "give the file that 'membw bench --only runs' names as 'kept as ...', not what it prints"


def add_arguments(parser):
    parser.add_argument('--runs', type=count, default=RUNS, metavar='N',
                        help=f'of the part runs; default: {RUNS}')  # fmt: skip
    parser.add_argument(
        '--checks',
        default='',
        metavar='OPTIONS',
        help="of the part runs, for ReFrame, as in '-n stream -p gcc-o2'",
    )
    parser.add_argument('--held-to', metavar='FILE', help='in the part runs: the JSON that quiet '
                        'runs left; their medians are what is right')  # fmt: skip


def measured(say, runs, seconds=None, checks='', realtime=False, busy=False, held_to=None):
    """{'runs': [{'status', 'seconds', 'rows', 'ratios', 'load'}], 'busy', 'realtime', ...}.

    Args:
        seconds: begin no run that would end later; one is always made.
        checks: options of ReFrame, as text.
        busy: with a busy loop on each core.
        held_to: JSON of earlier runs, whose medians count.

    Raises MembwError where `held_to` holds no runs.
    """
    quiet, done, begun = kept(held_to) if held_to else None, [], time.monotonic()
    command = ['run', *(['--realtime'] if realtime else []), *shlex.split(checks)]
    with burning(cores_here()) if busy else contextlib.nullcontext():
        while len(done) < runs:
            last = done[-1]['seconds'] if done else 0
            if done and seconds and time.monotonic() - begun + last > seconds:
                break
            say(f'runs: {len(done) + 1} of {runs}', passing=True)
            try:
                done.append(one_run(command))
            except KeyboardInterrupt:
                if not done:
                    raise
                say(f'runs: interrupted after {len(done)} of {runs}, which are kept')
                break
            say(f'run {len(done)} of {runs}: exit status {done[-1]["status"]}, '
                f'{done[-1]["seconds"]:.0f} s')  # fmt: skip
    return {'command': shlex.join(['membw', *command]), 'asked': runs, 'busy': busy,
            'realtime': realtime, 'held_to': held_to, 'quiet': quiet, 'runs': done}  # fmt: skip


def kept(path):
    """The runs of a file that this part left."""
    try:
        kept_there = json.loads(read_text(path, MADE_BY))
    except (OSError, ValueError) as err:
        raise MembwError(f"cannot read '{path}': {err}", MADE_BY)
    try:
        return kept_there['runs']['runs']
    except (LookupError, TypeError):
        raise MembwError(f"'{path}' holds no runs", MADE_BY)


def one_run(command):
    before = newest.files_here()
    begun, load = time.monotonic(), os.getloadavg()[0]
    status, said = ended([sys.executable, '-m', 'membw', *command])
    took = time.monotonic() - begun
    new = newest.newest_first(newest.files_here() - before)
    if status == 2 or not new:
        said = (said.strip() or 'no report').splitlines()[0]
        raise MembwError(f"'membw {shlex.join(command)}' measured nothing: {said}")
    return {'status': status, 'seconds': round(took, 1), 'load': load,
            'report': str(new[0]), **told(summary.load(new[0]))}  # fmt: skip


def ended(words):
    """(exit status, stderr); told to end, it ends what it started and writes its report."""
    with (
        subprocess.Popen(words, cwd=root(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, start_new_session=True) as process,
        ended_with(process),
    ):  # fmt: skip
        said = process.communicate()[1]
    return process.returncode, said


def told(report):
    """{'rows': [{'row', 'verdict', 'reasons', 'nearest_ns', 'metrics'}], 'ratios': {...}}; of
    both, figures as (value, low, high)."""
    cases = [case for case in rows.of_report(report) if measures(case)]
    found = [row(case, state) for case in cases for state in rows.states(case)]
    pairs = {
        f'{group.test}: {name} to {base}, {metric}': tuple(ratio)
        for group in ratios.groups(report)
        for name, base, medians, _ in group.lines
        for metric, ratio in medians.items()
    }
    return {'rows': found, 'ratios': pairs}


def row(case, state):
    """Of a row, or of it in one state of the machine; no figure of what crossed from one to
    another, which repeats in none."""
    word, why = judge(case)
    ends = state.get('intervals') or {}
    data = of_case.record(state)
    nearest = regimes.latencies(data)
    counts = word in rows.BELIEVED and not regimes.crossed(nearest)
    figures = of_case.figures(state) if counts else {}
    return {
        'row': rows.title(case),
        'verdict': word,
        'reasons': rows.REASONS.findall(why) if word == 'INVALID' else [],
        'nearest_ns': regimes.latency(nearest),
        'metrics': {
            metric.name: (figures[metric.name].value, *ends[metric.name])
            for metric in of_case.metrics(state, data)
            if metric.name in figures and metric.name in ends
        },
    }


# --- what is said of them ----------------------------------------------------------------------


def series_of(runs, states):
    """{(row, state, metric): {number of the run: (value, low, high)}}"""
    series = collections.defaultdict(dict)
    for number, run in enumerate(runs):
        for line in run['rows']:
            state = regimes.number(line['nearest_ns'], states)
            for metric, figure in line['metrics'].items():
                series[line['row'], state, metric][number] = figure
    return series


def against_the_others(result):
    """[(row, (value, low, high), what is right)] of each figure that has an interval; on a machine
    of several states none of a test that does not say in which it was."""
    quiet = result['quiet'] or []
    lines = [line for run in (*quiet, *result['runs']) for line in run['rows']]
    states = regimes.groups(line['nearest_ns'] for line in lines)
    right = series_of(quiet, states)
    for key, figures in series_of(result['runs'], states).items():
        if key[1] == UNKNOWN and len(states) > 1:
            continue
        for number, figure in figures.items():
            others = right.get(key, {}) if quiet else {n: f for n, f in figures.items()
                                                       if n != number}  # fmt: skip
            if others:
                yield key[0], figure, statistics.median(v for v, *_ in others.values())


def by_test(result):
    """{test: [(held, half width, how far off beyond its interval)]}; parts of the figure."""
    found = collections.defaultdict(list)
    for name, (value, low, high), right in against_the_others(result):
        beyond = max(low - right, right - high, 0) / right if right else 0
        half = (high - low) / 2 / value if value else 0
        found[name.split()[0]].append((low <= right <= high, half, beyond))
    return found


def ratios_agree(runs):
    """Of each ratio of each two runs: whether the interval of one holds the other's median."""
    return [
        b[1] <= a[0] <= b[2] or a[1] <= b[0] <= a[2]
        for one, other in combinations(runs, 2)
        for a, b in ((one['ratios'][key], other['ratios'][key])
                     for key in one['ratios'] if key in other['ratios'])
    ]  # fmt: skip


def lost(runs):
    """Rows that were INVALID, how often, and why; most often first."""
    counts = collections.Counter(
        (line['row'], ', '.join(line['reasons']) or 'see its report')
        for run in runs
        for line in run['rows']
        if line['verdict'] == 'INVALID'
    )
    return [f'{row}: {count} times ({why})' for (row, why), count in counts.most_common()]


RUN_COLUMNS = tuple(Column(name, title, right=True) for name, title in
                    (('run', 'run'), ('status', 'exit status'), ('seconds', 's'),
                     ('load', 'load before'), ('rows', 'rows'),
                     *((word, word) for word in VERDICTS)))  # fmt: skip
TEST_COLUMNS = (Column('test', ''), *(Column(name, title, right=True) for name, title in
                (('figures', 'figures'), ('held', 'interval holds the median'),
                 ('half', 'half width'), ('beyond', 'most beyond it'))))  # fmt: skip


def blocks(result):
    """A line per run, a line per test, the ratios, and what had no figure."""
    runs = result['runs']
    weather = 'a busy loop on each core' if result['busy'] else 'no load planted'
    title = f'{len(runs)} of {result["asked"]} x {result["command"]}, {weather}'
    yield Table(title, RUN_COLUMNS, [line_of(i, run) for i, run in enumerate(runs, 1)])
    tests = by_test(result)
    if tests:
        of = f'the quiet runs of {result["held_to"]}' if result['quiet'] else 'the other runs'
        yield ''
        yield Table(f'figures beside the median of {of}, in the same state of the machine',
                    TEST_COLUMNS, [test_line(*item) for item in tests.items()])  # fmt: skip
    agree = ratios_agree([*(result['quiet'] or []), *runs])
    if agree:
        yield ''
        yield (f'ratios of two runs: {sum(agree)} of {len(agree)} agree ({share(agree):.0%}): the '
               'interval of one holds the other')  # fmt: skip
    words = sum(map(verdicts, runs), collections.Counter())
    yield ''
    yield f'INVALID: {words["INVALID"]} of {sum(words.values())} rows of all runs'
    yield from (f'  {line}' for line in lost(runs))


def verdicts(run):
    """How many rows have which; one that was measured in two states has two lines."""
    return collections.Counter({line['row']: line['verdict'] for line in run['rows']}.values())


def line_of(number, run):
    words = verdicts(run)
    return [number, run['status'], shown(run['seconds'], '.0f'), shown(run['load'], '.1f'),
            words.total(), *(words[word] for word in VERDICTS)]  # fmt: skip


def test_line(test, found):
    held, halves, beyond = zip(*found, strict=True)
    return [test, len(found), Cell(share(held), f'{share(held):.0%}'),
            shown(statistics.median(halves), '.1%'), shown(max(beyond), '.1%')]  # fmt: skip
