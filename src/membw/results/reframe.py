"""Reads ReFrame's own results: JSON reports and the results database."""

import json
import marshal
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from urllib.parse import quote

from membw.results import case as of_case
from membw.results import provenance
from membw.results.record import LATEST, SCHEMAS, BadRecord, parse_json, parse_record
from membw.results.shares import read_text

# of a test case: what each has, and what is text where it is there
ALWAYS = 'name', 'system', 'partition', 'environ', 'result'
TEXTS = (
    *ALWAYS, 'unique_name', 'display_name', 'uuid', 'record', 'stagedir', 'reasons', 'verdict',
    'fail_reason', 'fail_phase', 'node', 'job_completion_time', 'pinning',
)  # fmt: skip
ENDED = 'job_completion_time_unix'
DAMAGED = AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError


class MeasuredNothing(str):
    """A problem of one test case long ago, not of the file: a history is not spoilt by it."""


def is_report(text):
    return text.lstrip()[:1] == '{' and '"session_info"' in text[:200]


def parse_report(text):
    """A report's JSON object whose test cases can be relied on; BadRecord says what cannot."""
    report, case = parse_json(text), {}
    try:
        if not isinstance(report['session_info'], dict) or not isinstance(report['runs'], list):
            raise TypeError('no session with runs')
        for case in of_case.cases_of(report):
            _hold_to_form(case)
    except DAMAGED as err:
        missing = f'{err} is missing' if isinstance(err, KeyError) else err
        where = f'{case["name"]!a}: ' if isinstance(case, dict) and 'name' in case else ''
        raise BadRecord(f'not a report as ReFrame 4.10 writes it: {where}{missing}') from err
    return report


def _hold_to_form(case):
    wrong = [name for name in TEXTS if not isinstance(case.get(name) or '', str)]
    wrong += [name for name in ALWAYS if not case.get('fixture') and case[name] is None]
    wrong += [] if 0 <= (case.get(ENDED) or 0) < LATEST else [ENDED]
    if wrong:
        raise TypeError(f"'{wrong[0]}' is {ascii(case[wrong[0]])[:80]}")
    for name, figure in of_case.figures(case).items():
        if not all(map(_is_number, figure[:4])) or not isinstance(figure.unit, str):
            raise TypeError(f"'{name}' is {ascii(figure[:])[:80]}")
    of_case.metrics(case)
    json.loads(case.get('known_issues') or '{}')


def _is_number(value):
    return value is None or isinstance(value, int | float) and not abs(value) > 1e300


def read_report(text, name):
    """Records and problems of a report; a report kept by 'general.report_file'."""
    try:
        return read_session(parse_report(text), name)
    except BadRecord as err:
        return [], [f'{name}: {err}']


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
    with closing(sqlite3.connect(f'file:{quote(str(path))}?mode=ro', uri=True)) as base:
        return [value for (value,) in base.execute(sql, values)]


def read_session(report, name):
    """Every test case that measured something with a metric."""
    records, problems = [], []
    for case in of_case.cases_of(report):
        if case.get('fixture') or not (case.get('record') or of_case.metrics(case)):
            continue
        file = of_case.record_file(case, name.split(',')[0])
        of_one, bad = _read_file(file) if file else ([], [])
        if not of_one:
            of_one, bad = _from_figures(case, name)
        records += [_with_case(r, case) for r in of_one]
        problems += bad
    return records, problems


def _read_file(file):
    return read_text(file.read_text(encoding='utf-8', errors='replace'), str(file))


def _with_case(record, case):
    """The record, with what only ReFrame knows: the check may find INVALID what ran well."""
    findings = tuple(filter(None, (case.get('reasons') or '').split('; ')))
    is_refused = case.get('verdict') == 'INVALID' and findings
    said = marshal.dumps((_test_traits(case), provenance.of_case(case)), 2)
    traits, made = _merged(_Setting(record), said)
    return replace(
        record,
        invalid=tuple(f.split(' (')[0] for f in findings) if is_refused else record.invalid,
        findings=findings if is_refused else record.findings,
        traits=traits,
        provenance=made,
    )


class _Setting:
    """Of a record, as a key; what it holds is kept, so that no other object takes its place."""

    def __init__(self, record):
        self.setting, self.traits, self.made = record.setting, record.traits, record.provenance

    def __hash__(self):
        return hash(self.setting)

    def __eq__(self, other):
        return self.setting == other.setting


@lru_cache(4096)
def _merged(setting, said):
    """(traits, provenance): one object of each for all cases that say the same."""
    traits, made = marshal.loads(said)
    return setting.traits | traits, setting.made | made


def _test_traits(case):
    """What ReFrame knows better than the program; runs of other tests are not compared."""
    known = {'test': of_case.test(case), 'environ': case.get('environ')}
    known |= {'pinning': case.get('pinning'), 'partition': of_case.where(case)}
    known['parameters'] = ' '.join(of_case.parameters(case))
    return {key: value for key, value in known.items() if value}


def _from_figures(case, name):
    """The record is gone: the figures of the report are left."""
    figures, measured = of_case.figures(case), of_case.metrics(case)
    if not measured:
        text = f"{name}: '{of_case.title(case)}' measured nothing, and its record is gone"
        return [], [MeasuredNothing(text)]
    data = {
        'schema': SCHEMAS[-1],
        'program': 'stream',
        'host': case.get('node') or (case.get('job_nodelist') or [''])[0],
        'metrics': {
            m.name: {'value': figures[m.name].value, 'unit': m.unit, 'better': m.better}
            for m in measured
        },
        'verdict': case.get('verdict') or _verdict(case),
        'reasons': _reasons(case),
        'time': case.get('job_completion_time'),
        'array_size': case.get('array_size'),
        'threads': case.get('threads'),
        'build': {'compiler': case.get('compiler')},
        'facts': {'cpu_model': of_case.where(case)},
    }
    try:
        return [parse_record(data, name)], []
    except BadRecord as err:
        return [], [f"{name}: '{of_case.title(case)}': {err}"]


def _verdict(case):
    """A rate that misses its reference may be believed all the same."""
    measured = case.get('result') in ('pass', 'xfail') or case.get('fail_phase') == 'performance'
    return 'VALID' if measured else 'INVALID'


def _reasons(case):
    """Why a run may not be believed; ReFrame's own words when the check gave no reason."""
    named = [r.strip() for r in (case.get('reasons') or '').split(',') if r.strip()]
    words = (case.get('fail_reason') or '').strip().splitlines()
    return [{'reason': r} for r in named or words[:1]]
