"""Reads ReFrame's own results: JSON reports and the results database."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from membw.results import provenance
from membw.results.record import SCHEMA, BadRecord, parse_record, read_lines

KERNELS = ('copy', 'scale', 'add', 'triad')
TO_MBS = {'GB/s': 1000, 'MB/s': 1}


class MeasuredNothing(str):
    """A problem of one test case long ago, not of the file: a history is not spoilt by it."""


def is_report(text):
    return text.lstrip()[:1] == '{' and '"session_info"' in text[:200]


def read_report(text, name):
    """Records and problems of a report; a report kept by 'general.report_file'."""
    try:
        return read_session(json.loads(text), name)
    except json.JSONDecodeError as err:
        return [], [f'{name}:{err.lineno}: not JSON: {err.msg}']
    except (AttributeError, LookupError, TypeError, ValueError) as err:
        return [], [f'{name}: not a report as ReFrame 4.10 writes it: {err}']
    except RecursionError:
        return [], [f'{name}: not a report as ReFrame 4.10 writes it: nested too deep']


def session_uuids(path):
    """Of a results database."""
    return _query(path, 'SELECT uuid FROM sessions')


def stored_sessions(path, which, *values):
    """Reports, as texts, of the sessions that the end of a query picks, `values` in its marks."""
    return _query(path, f'SELECT json_blob FROM sessions {which}', *values)


def read_stored_session(path, uuid):
    """Records and problems of one session: a year of them does not fit in memory."""
    try:
        (text,) = stored_sessions(path, 'WHERE uuid = ?', uuid)
        return read_report(text, f'{path}, session {uuid}')
    except (sqlite3.DatabaseError, ValueError) as err:
        return [], [f'{path}: session {uuid} cannot be read: {err}']


def _query(path, sql, *values):
    """The one column asked for.

    Read-only, unlike ReFrame's own storage, which takes a lock and makes indexes.
    """
    with closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as base:
        return [value for (value,) in base.execute(sql, values)]


def read_session(report, name):
    """Every test case that measured the four kernels."""
    records, problems = [], []
    for case in (c for run in report.get('runs', []) for c in run.get('testcases', [])):
        if case.get('fixture') or not _kernels(case):
            continue
        found, bad = _from_record(case, name)
        if not found:
            found, bad = _from_figures(case, name)
        records += [_with_case(r, case) for r in found]
        problems += bad
    return records, problems


def _with_case(record, case):
    """The record, with what only ReFrame knows: the check may find INVALID what ran well."""
    findings = tuple(filter(None, (case.get('reasons') or '').split('; ')))
    told = case.get('verdict') == 'INVALID' and findings
    return replace(
        record,
        invalid=tuple(f.split(' (')[0] for f in findings) if told else record.invalid,
        findings=findings if told else record.findings,
        traits=record.traits | _test_traits(case),
        provenance=record.provenance | provenance.of_case(case),
    )


def _kernels(case):
    """What was measured: a run that failed early has no figures but names its record."""
    values = case.get('perfvalues') or {}
    figures = {key.rsplit(':', 1)[-1]: value for key, value in values.items()}
    measured = {k: figures[k] for k in KERNELS if k in figures and figures[k][0]}
    return measured or case.get('record')


def _test_traits(case):
    """What ReFrame knows better than the program; runs of other tests are not compared."""
    test = (case.get('name') or '?').split()[0].split('@')[0]
    known = {'test': test, 'environ': case.get('environ'), 'pinning': case.get('pinning')}
    known['partition'] = f'{case.get("system")}:{case.get("partition")}'
    return {key: value for key, value in known.items() if value}


def _from_record(case, name):
    """The record that the case names, also after the results were copied elsewhere."""
    if not case.get('record'):
        return [], []
    path = Path(case['record'])
    moved = Path(name.split(',')[0]).resolve().parent.parent / 'records' / path.name
    for file in (path, moved):
        if file.is_file():
            text = file.read_text(encoding='utf-8', errors='replace')
            return read_lines(text.split('\n'), str(file))
    return [], []


def _from_figures(case, name):
    """The record is gone: the figures of the report are left."""
    figures = _kernels(case)
    if not isinstance(figures, dict):
        text = f"{name}: '{_title(case)}' measured nothing, and its record is gone"
        return [], [MeasuredNothing(text)]
    data = {
        'schema': SCHEMA,
        'program': 'stream',
        'host': case.get('node') or (case.get('job_nodelist') or [''])[0],
        'kernels': {k: {'best_mbs': v[0] * TO_MBS.get(v[4], 1)} for k, v in figures.items()},
        'verdict': case.get('verdict') or _verdict(case),
        'reasons': _reasons(case),
        'time': case.get('job_completion_time'),
        'array_size': case.get('array_size'),
        'threads': case.get('threads'),
        'build': {'compiler': case.get('compiler')},
        'facts': {'cpu_model': f'{case.get("system")}:{case.get("partition")}'},
    }
    try:
        return [parse_record(data, name)], []
    except BadRecord as err:
        return [], [f"{name}: '{_title(case)}': {err}"]


def _verdict(case):
    """A rate that misses its reference may be believed all the same."""
    measured = case.get('result') == 'pass' or case.get('fail_phase') == 'performance'
    return 'VALID' if measured else 'INVALID'


def _title(case):
    return (
        f'{case.get("name")} @{case.get("system")}:{case.get("partition")}+{case.get("environ")}'
    )


def _reasons(case):
    """Why a run may not be believed; ReFrame's own words when the check gave no reason."""
    named = [r.strip() for r in (case.get('reasons') or '').split(',') if r.strip()]
    words = (case.get('fail_reason') or '').strip().splitlines()
    return [{'reason': r} for r in named or words[:1]]
