"""Results of a site's own tests, as ReFrame 4.9 to 4.11 keeps them, as records: a run report, a
perflog, the results database.

A case is a record of its node; of a job of several nodes, of their set. What its check calls
failed has no figure, and is lost. A setting is the name of the test, its parameters, system,
partition and environment: what `-S` sets is not seen. Less is better, or more, by --lower and
--higher, else by the open side of the reference, else by the unit.
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from membw.printable import at_most, plural, printable
from membw.results.hostlist import fold
from membw.results.ledger import BY_SIGNAL, how
from membw.results.record import (
    HIGHER,
    HOST,
    LOWER,
    REFRAME,
    SCHEMA,
    BadRecord,
    Record,
    evidence_of,
)

SCHEMA_OF_DATABASE = '1.0'
# of units: GB/s, ns/day, Gbps, GFLOPS; us, s/step, hour/ns
TIME = 's|sec|seconds?|min|minutes?|h|hours?|days?'
RATE = re.compile(rf'.*/({TIME})|[kmgtpe]?(bps|fps|ups|ops|iops|flops|teps)', re.I)
DURATION = re.compile(rf'({TIME}|[mnpu\u00b5\u03bc]s(ec)?)(/.*)?', re.I)
OF_FIGURE = 'value', 'unit', 'ref', 'lower_thres', 'upper_thres'  # columns of a perflog
NODES, MOMENTS = 'job_nodelist', {'job_completion_time', 'job_completion_time_unix'}
OURS = 'reference_expired'  # a variable of each check of ours
NAMED = 5  # of what was left out
LeftOut = dict[str, dict[str, None]]  # why: which metrics or tests


class Wanted(NamedTuple):
    """Which results are read: of tests by a pattern of their names, from a time on (seconds since
    1970); and metrics of which less, or more, is better."""

    test: str = ''
    since: float = 0.0
    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()

    def takes(self, test: str, seconds: float) -> bool:
        return seconds >= self.since and (not self.test or fnmatchcase(test, self.test))


class Case(msgspec.Struct):
    """What is read of a test case."""

    name: str
    system: str
    partition: str
    environ: str
    result: str
    job_nodelist: list[str] | str | None = None
    job_completion_time_unix: float | None = None
    job_exitcode: int | None = None
    fixture: bool = False
    fail_phase: str | None = None
    fail_reason: str | None = None
    # {system:partition:metric: [value, reference, lower, upper, unit, result]}
    perfvalues: dict[str, list[float | str | None]] | None = None

    @property
    def test(self) -> str:
        return [*self.name.split(), '?'][0].split('@')[0]

    @property
    def is_lost(self) -> bool:
        is_failed = self.result.startswith(('fail', 'abort'))
        is_late = self.fail_phase in (None, 'performance')  # a perflog has no phase
        return is_failed and not (is_late and any(r[0] for r in (self.perfvalues or {}).values()))


class Found:
    """The records of one file; `problems`: what cannot be read; `ours`: cases of our checks, which
    have records."""

    def __init__(self, wanted: Wanted, left_out: LeftOut) -> None:
        self.wanted, self.left_out = wanted, left_out
        self.problems: list[str] = []
        self.ours = 0

    def leave_out(self, why: str, what: str) -> None:
        self.left_out.setdefault(why, {})[what] = None

    def records(self, file: str, stream: IO[bytes], head: bytes) -> Iterator[Record]:
        """What failed comes last, of tests that have figures: no other was to have one."""
        lost, tests = [], set()
        for place, raw in _cases(file, stream, head, self.wanted.since):
            try:
                if isinstance(raw, ValueError):
                    raise raw
                if isinstance(raw, dict) and OURS in raw:
                    self.ours += 1
                    continue
                case = msgspec.convert(raw, Case, strict=False)
                seconds = case.job_completion_time_unix or 0.0
                is_result = not case.fixture and case.result != 'skip'
                if not is_result or not self.wanted.takes(case.test, seconds):
                    continue
                tests |= {case.test} if case.perfvalues else set()
                if case.is_lost:
                    lost.append((place, case))
                elif case.perfvalues and (record := self._record(case)):
                    yield record
            except ValueError as err:
                self.problems.append(f'{place}: {printable(err)[:160]}')
        for place, case in lost:
            try:
                if case.test in tests:
                    yield evidence_of(_base(case) | _what_is_lost(case))
            except BadRecord as err:
                self.problems.append(f'{place}: {err}')

    def _record(self, case: Case) -> Record | None:
        data = _base(case)
        metrics, references, issues = {}, {}, {}
        for key, row in (case.perfvalues or {}).items():
            name = re.sub(r'[^\w.+:/@%-]+', '_', key.rsplit(':', 1)[-1], flags=re.A)
            value, base, low, high, unit, *result = row
            if not isinstance(value, int | float):
                continue
            if value <= 0:
                self.leave_out('0 or less: no part of a median', f'{name} of {case.test}')
                continue
            unit = str(unit or '')
            better = self._better(name, unit, low, high)
            if not better:
                why = 'is less better? --lower METRIC, or --higher METRIC'
                self.leave_out(why, f'{name} ({unit or "no unit"}) of {case.test}')
                continue
            metrics[name] = {'value': value, 'unit': unit or '1', 'better': better}
            if base and (low, high) != (None, None):
                references[name] = base, low, high
            if result in (['xfail'], ['xpass']):
                issues[name] = 'an expected failure'
        if metrics and not data['host']:
            self.leave_out("no 'job_nodelist'", case.test)
        if not metrics or not data['host']:
            return None
        data['case'] |= {'references': references, 'known_issues': issues}
        return evidence_of({**data, 'metrics': metrics, 'headline': next(iter(metrics))})

    def _better(self, name: str, unit: str, low: object, high: object) -> str:
        """'' of what is not known."""
        if name in self.wanted.lower:
            return LOWER
        if name in self.wanted.higher:
            return HIGHER
        if (low is None) != (high is None):
            return HIGHER if high is None else LOWER
        if RATE.fullmatch(unit):
            return HIGHER
        return LOWER if DURATION.fullmatch(unit) else ''


def some(names: Iterable[str]) -> str:
    return ', '.join(at_most([*names], NAMED))


def is_other(head: bytes) -> bool:
    """By the first bytes of a file."""
    if head.lstrip()[:1] == b'{':
        return b'"session_info"' in head
    return _is_database(head) or not MOMENTS.isdisjoint(_titles(head)[1])


def _is_database(head: bytes) -> bool:
    return head.startswith(b'SQLite format 3\0')


def _titles(head: bytes) -> tuple[str, list[str]]:
    """(what separates them, the columns) of the first line of a perflog."""
    line = head.partition(b'\n')[0].decode(errors='replace')
    separator = re.match(r'\w+([^\w\s"])', line)
    return (separator[1], line.split(separator[1])) if separator else ('', [])


def _base(case: Case) -> dict[str, Any]:
    """Of a record, what is known without a figure."""
    nodes = case.job_nodelist or []
    names = nodes.split(',') if isinstance(nodes, str) else nodes
    is_list = len(names) > 1 and all(map(HOST.fullmatch, names))
    words = re.split(r'\s+(?=%)', case.name)[1:]
    own = (word for word in words if not word.startswith(('%.', '%$')))
    moment = datetime.fromtimestamp(case.job_completion_time_unix or 0, timezone.utc)
    return {
        'schema': SCHEMA,
        'program': REFRAME,
        'host': fold(names) if is_list else ','.join(names),
        'time': moment.isoformat(),
        'verdict': 'VALID',
        'case': {
            'test': case.test,
            'system': case.system,
            'partition': case.partition,
            'environ': case.environ,
            'parameters': ' '.join(own),
        },
    }


def _what_is_lost(case: Case) -> dict[str, Any]:
    why = ': '.join(filter(None, (case.fail_phase, case.fail_reason))) or 'failed, no figure'
    died = (case.job_exitcode or 0) > BY_SIGNAL
    why = how(case.job_exitcode or 0) if died else why
    lost = {'what': case.test, 'why': ' '.join(why.split())[:200], 'died': died}
    return {'metrics': {}, 'verdict': 'INVALID', 'missing': [lost]}


# --- the three forms ------------------------------------------------------------------------


def _cases(
    file: str, stream: IO[bytes], head: bytes, since: float
) -> Iterator[tuple[str, object]]:
    """(place, case as JSON has it, or what is wrong there)."""
    if _is_database(head):
        return _of_database(file, since)
    is_report = head.lstrip()[:1] == b'{'
    return _of_report(file, stream.read()) if is_report else _of_perflog(file, stream)


def _of_report(place: str, text: bytes | str) -> Iterator[tuple[str, object]]:
    try:
        report = json.loads(text, parse_constant=lambda _: None)  # NaN, Infinity
        ended = report['session_info'].get('time_end_unix')
        for case in (case for run in report['runs'] for case in run['testcases']):
            name = case.get('name')
            case['job_completion_time_unix'] = case.get('job_completion_time_unix') or ended
            yield f'{place}: {printable(name)[:80]}', case
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
        yield place, ValueError(f'not a report as ReFrame writes it ({err})')


def _of_database(file: str, since: float) -> Iterator[tuple[str, object]]:
    """Sessions that ended since."""
    try:
        address = f'{Path(file).resolve().as_uri()}?mode=ro'
        with closing(sqlite3.connect(address, uri=True)) as database:
            query = 'SELECT schema_version FROM metadata'
            (version,) = database.execute(query).fetchone() or ('',)
            if version != SCHEMA_OF_DATABASE:
                fact = f"a database of schema '{version}', not '{SCHEMA_OF_DATABASE}'"
                yield file, ValueError(fact)
                return
            query = 'SELECT uuid, json_blob FROM sessions WHERE session_end_unix >= ?'
            for session, text in database.execute(query, (since,)):
                yield from _of_report(f'{file}: session {session}', text)
    except sqlite3.Error as err:
        yield file, ValueError(f'not a results database of ReFrame: {err}')


def _of_perflog(file: str, stream: IO[bytes]) -> Iterator[tuple[str, object]]:
    """By its first line, as ReFrame writes it since 4.3."""
    separator, titles = _titles(stream.readline())
    if NODES not in titles or 'perf_var' in titles:
        form = "'%(check_job_nodelist)s' and '%(check_perfvalues)s'"
        yield file, ValueError(f"a perflog that cannot be read: its 'format' lacks {form}")
        return
    metrics = [title[: -len('_value')] for title in titles if title.endswith('_value')]
    for number, line in enumerate(stream, 2):
        words = line.decode(errors='replace').rstrip('\n').split(separator)
        values = (None if word in ('null', 'None', '') else word for word in words)
        try:
            if len(words) != len(titles):
                raise ValueError(f'{plural(len(words), "column")}, not {len(titles)}')
            row = dict(zip(titles, values, strict=True))
            yield f'{file}:{number}', _as_case(Path(file).stem, row, metrics)
        except ValueError as err:
            yield f'{file}:{number}', err


def _as_case(test: str, row: dict[str, str | None], metrics: Iterable[str]) -> dict[str, object]:
    """A line of a perflog as a report has it."""
    values: dict[str, list[float | str | None]] = {}
    for name in metrics:
        value, unit, *limits = (row.get(f'{name}_{of}') for of in OF_FIGURE)
        values[name] = [None if x is None else float(x) for x in (value, *limits)] + [unit]
    seconds, text = row.get('job_completion_time_unix'), row.get('job_completion_time')
    if not seconds and text:
        seconds = str(datetime.fromisoformat(text).timestamp())
    more = {name: row.get(name) or '' for name in ('system', 'partition', 'environ')}
    name = row.get('name') or row.get('display_name') or test
    case = {**row, **more, 'name': name, 'result': row.get('result') or 'pass'}
    return case | {'job_completion_time_unix': seconds, 'perfvalues': values}
