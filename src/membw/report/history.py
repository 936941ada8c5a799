"""The section on history: every series of nights in the results database, with its changes."""

import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field

import altair as alt
import numpy as np

from membw.report import charts
from membw.report.model import Cell, Picture, Section, Table
from membw.report.rows import KERNELS

PICTURES = 12
BAND = 5  # nodes, from which on a band of their spread says more than single lines
HOW_TO_READ = (
    'How to read: one line a kernel, a mark each run (the median of the nodes; the band holds '
    '90 % of them). A dotted line: from here on another binary ran. Triangles: a change '
    'that `membw history` is sure of.'
)
LEAD = 'Only what was valid is in the database as a figure; the axis does not begin at zero.'


@dataclass
class Series:
    """One test, partition, preset and pinning over time."""

    where: str
    test: str
    preset: str
    pinning: str
    nights: dict = field(default_factory=dict)  # time -> {kernel: {node: GB/s}}
    binaries: dict = field(default_factory=dict)  # time -> checksum
    cases: dict = field(default_factory=dict)  # time -> the case behind it

    @property
    def id(self):
        return f'{self.test}-{self.where}-{self.preset}-{self.pinning}'.replace(':', '-')

    @property
    def title(self):
        return f'{self.test} on {self.where}, {self.preset}, pinning {self.pinning}'


@dataclass
class Past:
    series: list = field(default_factory=list)
    changes: list = field(default_factory=list)
    databases: list = field(default_factory=list)


def read(databases):
    """All series of the databases; a file that is none of ReFrame's is passed over."""
    series = {}
    for database in databases:
        for session in _sessions(database):
            for case in (c for run in session.get('runs', []) for c in run['testcases']):
                _add(series, case)
    return Past(sorted(series.values(), key=lambda s: s.id), [], list(map(str, databases)))


def _sessions(database):
    try:
        with closing(sqlite3.connect(f'file:{database}?mode=ro', uri=True)) as base:
            for (blob,) in base.execute('SELECT json_blob FROM sessions'):
                yield json.loads(blob)
    except (sqlite3.DatabaseError, ValueError):
        return


def _add(series, case):
    values = {k.split(':')[-1]: v[0] for k, v in (case.get('perfvalues') or {}).items()}
    values = {k: values[k] for k in KERNELS if values.get(k)}
    if case.get('fixture') or not values or not case.get('job_completion_time_unix'):
        return
    key = (f'{case["system"]}:{case["partition"]}', case['name'].split()[0], case['environ'],
           case.get('pinning') or '')  # fmt: skip
    one = series.setdefault(key, Series(*key))
    time = int(case['job_completion_time_unix'])
    for kernel, gbs in values.items():
        one.nights.setdefault(time, {}).setdefault(kernel, {})[case.get('node', '')] = gbs
    one.binaries[time] = case.get('binary_sha256') or ''
    one.cases[time] = case


def section(past):
    found = Section('history', 'History', LEAD)
    long = [one for one in past.series if len(one.nights) > 1]
    if not past.databases:
        found.empty = (
            'No results database is among the results: ReFrame writes results/results.db.'
        )
    elif not long:
        found.empty = 'The database holds one run of each test: a second one begins a history.'
    else:
        long.sort(key=lambda one: (not _changes_of(past, one), -len(one.nights), one.id))
        found.pictures = [_picture(one, _changes_of(past, one)) for one in long[:PICTURES]]
    if len(long) > PICTURES:
        found.notes.append(f'{len(long) - PICTURES} series of fewer runs have no picture.')
    return found


def provenance(past):
    """Nothing yet beyond what the table of each picture says."""
    return {}


def _changes_of(past, one):
    return []


def _picture(one, changes):
    points = [
        {'t': time * 1000, 'k': kernel, **_spread(list(nodes.values()))}
        for time, kernels in sorted(one.nights.items()) for kernel, nodes in kernels.items()
    ]  # fmt: skip
    title = one.title
    said = f'{title}: {len(one.nights)} runs'
    chart = charts.as_dict(_chart(points, _new_binaries(one)), 280, said)
    return Picture(f'history-{one.id}', title, HOW_TO_READ, chart, _table(points, one))


def _spread(values):
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    spread = {'low': round(low, 2), 'high': round(high, 2)} if len(values) >= BAND else {}
    return {'g': round(float(median), 2), 'c': len(values), **spread}


def _new_binaries(one):
    """Times from which on another binary ran."""
    times = sorted(one.binaries)
    return [b * 1000 for a, b in zip(times, times[1:]) if one.binaries[a] != one.binaries[b]]


def _chart(points, new_binaries):
    base = alt.Chart(charts.data(points)).encode(
        x=alt.X('t:T', title=None, axis=alt.Axis(grid=False, format='%d %b', labelOverlap=True)),
        y=alt.Y('g:Q', title='GB/s', scale=alt.Scale(zero=False)),
        color=charts.color('k', KERNELS, 'kernel'),
    )
    tip = charts.tips(kernel='k:N', nodes='c:Q', **{'GB/s': 'g:Q'})
    tip.append(alt.Tooltip('t:T', title='run', format='%Y-%m-%d %H:%M'))
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(
        shape=charts.shape('k', KERNELS, 'kernel'), tooltip=tip
    )
    layers = [base.mark_line(strokeWidth=1.5), dots]
    if any('low' in point for point in points):
        layers.insert(0, base.mark_area(opacity=0.2).encode(y='low:Q', y2='high:Q'))
    if new_binaries:
        rules = alt.Chart(charts.data([{'t': t} for t in new_binaries]))
        layers.append(rules.mark_rule(strokeDash=[2, 3], color='@muted').encode(x='t:T'))
    return alt.layer(*layers)


def _table(points, one):
    heads = [('kernel', False), ('runs', True), ('median', True), ('lowest', True),
             ('highest', True), ('latest', True)]  # fmt: skip
    by_kernel = defaultdict(list)
    for point in points:
        by_kernel[point['k']].append(point['g'])
    lines = [[Cell(k), Cell(str(len(v)), len(v)), *_figures(v)] for k, v in by_kernel.items()]
    return Table(heads, lines, f'{one.title}, GB/s')


def _figures(values):
    known = [float(np.median(values)), min(values), max(values), values[-1]]
    return [Cell(f'{value:.1f}', value) for value in known]
