"""One test case of ReFrame's report: its figures, its record, its title."""

import json
import re
from pathlib import Path
from typing import NamedTuple

from membw.results.metrics import HIGHER, Metric, of_record
from membw.results.record import parse_json

# The figures of a report that is older than metrics, when its record is gone, too.
STREAM = ('copy', 'scale', 'add', 'triad')


class Figure(NamedTuple):
    """A performance variable; `low` and `high` are fractions of the reference, None: open."""

    value: float
    reference: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str = ''


def figures(case):
    """{name: Figure} as far as measured, in the order of the report."""
    values = case.get('perfvalues') or {}
    return {
        key.rsplit(':', 1)[-1]: Figure(*row[:5])
        for key, row in values.items()
        if row[0] is not None
    }


def metrics(case, data=None):
    """Those of the figures that are metrics, in the order of the record (its JSON object).

    Without a record, as the check names them; the other figures are points of a curve, counts.
    """
    measured = figures(case)
    if data:
        named = of_record(data)[1]
    elif case.get('metrics'):
        named = _of_check(case['metrics'])
    else:
        named = [
            Metric(name, measured[name].unit)
            for name in STREAM
            if name in measured and measured[name].value
        ]
    return tuple(m for m in named if m.name in measured)


def _of_check(named):
    """`metrics` of a check: {name: {unit, better}}, as an object or as its text."""
    rows = json.loads(named) if isinstance(named, str) else named
    return [Metric(name, row['unit'], row.get('better', HIGHER)) for name, row in rows.items()]


def test(case):
    """The test's name without its parameters."""
    return (case.get('name') or '?').split()[0].split('@')[0]


def words(case):
    """['%pinning=omp', '%wait_policy=active', ...] of the test's name; not what --repeat and
    --distribute add."""
    name = case.get('name') or case.get('display_name') or ''
    parts = (word.split(' /')[0].strip() for word in re.split(r'\s(?=%)', name)[1:])
    return [word for word in parts if not word.startswith(('%.', '%$'))]


def parameters(case):
    """Those words but the pinning, which has a field of its own."""
    return tuple(word for word in words(case) if not word.startswith('%pinning='))


def values(words):
    """['omp', 'active'] of such words."""
    return [word.partition('=')[2] for word in words]


def own_parameters(words):
    """{name: value} of `parameters`, joined: the test's own, by which references may be kept; not
    those of what it is built with (%binary.blas)."""
    pairs = (word.partition('=') for word in re.split(r'\s?%', words)[1:])
    return {name: value for name, _, value in pairs if '.' not in name}


def where(case):
    return f'{case.get("system")}:{case.get("partition")}'


def title(case):
    """'stream %pinning=omp @thin:thin+gcc-o2'; '' where the case has no name."""
    name = case.get('display_name') or case.get('name')
    return f'{name} @{where(case)}+{case.get("environ")}' if name else ''


def cases_of(report):
    return [case for run in report.get('runs', []) for case in run.get('testcases', [])]


def record_file(case, report=None):
    """The file of the record that a case names, or None.

    `report` is where the case was read: results may have been copied since, records with them.
    """
    if not case.get('record'):
        return None
    path = Path(case.get('stagedir') or '', case['record'])
    moved = Path(report or case.get('report') or '.').resolve().parent.parent / 'records'
    return next((file for file in (path, moved / path.name) if file.is_file()), None)


def record(case, report=None):
    """The record of a case as its JSON object, its node's where the file holds several; or {}."""
    file = record_file(case, report)
    return one_record(file, case.get('node')) if file else {}


def one_record(file, node=None):
    """Of that node, else the first; {} where the file cannot be read."""
    try:
        rows = [parse_json(line) for line in file.read_text().split('\n') if line.strip()]
    except (OSError, ValueError):
        return {}
    rows = [row for row in rows if isinstance(row, dict)]
    return next((row for row in rows if row.get('host') == node), rows[0] if rows else {})
