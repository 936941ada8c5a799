"""Results of a site's own tests, as ReFrame 4.9 to 4.11 keeps them, as records: a run report, a
perflog, the results database; and the output of stream.c, NODE.log.

A case is a record of its node; of a job of several nodes, of their set. What its check calls
failed has no figure, and is lost. A setting is the name of the test, its parameters, system,
partition and environment: what `-S` sets is not seen. Less is better, or more, by --lower and
--higher, else by the open side of the reference, else by the unit.
"""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from membw.printable import at_most, printable
from membw.results import record
from membw.results.hostlist import fold
from membw.results.ledger import BY_SIGNAL, how

SCHEMA_OF_DATABASE = '1.0'
# of stream.c 5.10 and its MPI version
STREAM_C, STREAM = 'stream.c', 'STREAM version $Revision'
SIZE, THREADS = 'array_size', 'threads'
RATES = re.compile(r'^(Triad|Copy|Scale|Add):\s+(\d+(?:\.\d+)?)\s', re.M)
UNIT = re.compile(r'^Function\b.*\bRate \(?(\w+/s)\b', re.M)  # 5.9: in brackets
CONDITIONS = {SIZE: r'^Array size = (\d+)', THREADS: r'^Number of Threads counted = (\d+)'}
# of units: GB/s, ns/day, Gbps, GFLOPS; us, s/step, hour/ns
TIME = 's|sec|seconds?|min|minutes?|h|hours?|days?'
RATE = re.compile(rf'.*/({TIME})|[kmgtpe]?(bps|fps|ups|ops|iops|flops|teps)', re.I)
DURATION = re.compile(rf'({TIME}|[mnpu\u00b5\u03bc]s(ec)?)(/.*)?', re.I)
OF_FIGURE = 'value', 'unit', 'ref', 'lower_thres', 'upper_thres'  # columns of a perflog
NODES, MOMENTS = 'job_nodelist', {'job_completion_time', 'job_completion_time_unix'}
OURS = 'reference_expired'  # a variable of each check of ours
ASKED = 'is less better? --lower METRIC, or --higher METRIC'
MOST_PROBLEMS = 100  # lines named per file
LeftOut = dict[str, dict[str, None]]  # why: which metrics or tests
Raw = tuple[str, object]  # (place, a case as JSON has it, or what is wrong there)


class Wanted(NamedTuple):
    """Which results are read: of tests by a pattern of their names, from a time on (seconds since
    1970); and metrics of which less, or more, is better."""

    test: str = ''
    since: float = 0.0
    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()

    def takes(self, test: str, seconds: float) -> bool:
        return seconds >= self.since and (not self.test or fnmatchcase(test, self.test))

    def better(self, metric: str, unit: str, low: object, high: object) -> str:
        """'' of what is not known; `low`, `high`: the limits of its reference."""
        for names, word in ((self.lower, record.LOWER), (self.higher, record.HIGHER)):
            if metric in names:
                return word
        if (low is None) != (high is None):
            return record.HIGHER if high is None else record.LOWER
        if RATE.fullmatch(unit):
            return record.HIGHER
        return record.LOWER if DURATION.fullmatch(unit) else ''


class TestCase(msgspec.Struct):
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

    def data(self) -> dict[str, Any]:
        """Of its record, what is known without a figure."""
        names = self.job_nodelist or []
        names = names.split(',') if isinstance(names, str) else names
        is_set = len(names) > 1 and all(map(record.HOST.fullmatch, names))
        moment = datetime.fromtimestamp(self.job_completion_time_unix or 0, timezone.utc)
        case = {name: getattr(self, name) for name in ('test', 'system', 'partition', 'environ')}
        words = re.split(r'\s+(?=%)', self.name)[1:]
        case['parameters'] = ' '.join(w for w in words if not w.startswith(('%.', '%$')))
        host = fold(names) if is_set else ','.join(names)
        of = {'schema': record.SCHEMA, 'program': record.REFRAME, 'verdict': 'VALID'}
        return {**of, 'host': host, 'time': moment.isoformat(), 'case': case, 'metrics': {}}

    def lost(self) -> dict[str, Any]:
        why = ': '.join(filter(None, (self.fail_phase, self.fail_reason))) or 'failed, no figure'
        status = self.job_exitcode or 0
        why, died = (how(status), True) if status > BY_SIGNAL else (why, False)
        missing = [{'what': self.test, 'why': ' '.join(why.split())[:200], 'died': died}]
        return {**self.data(), 'verdict': 'INVALID', 'missing': missing}

    def measured(self, wanted: Wanted, left_out: LeftOut) -> dict[str, Any]:
        """With its figures: {} of those that can be compared."""
        data, references, issues = self.data(), {}, {}
        for key, row in (self.perfvalues or {}).items():
            name = re.sub(r'[^\w.+:/@%-]+', '_', key.rsplit(':', 1)[-1], flags=re.A)
            value, base, low, high, unit, *result = row
            unit, why = str(unit or ''), ''
            better = wanted.better(name, unit, low, high)
            if not isinstance(value, int | float):
                continue
            if value <= 0:
                why = '0 or less: no part of a median'
            elif not data['host']:
                why = f"no '{NODES}'"
            elif not better:
                why = ASKED
            if why:
                left_out.setdefault(why, {})[f'{name} ({unit}) of {self.test}'] = None
                continue
            data['metrics'][name] = {'value': value, 'unit': unit or '1', 'better': better}
            data.setdefault('headline', name)
            if base and (low, high) != (None, None):
                references[name] = base, low, high
            if result in (['xfail'], ['xpass']):
                issues[name] = 'an expected failure'
        data['case'] |= {'references': references, 'known_issues': issues}
        return data


def records(
    file: str, stream: IO[bytes], wanted: Wanted, problems: list[str], left_out: LeftOut
) -> Iterator[record.Record]:
    """Those of a file; what failed comes last, of tests that have figures: no other was to have
    one. What cannot be read goes to `problems`."""
    lost, tests, own = [], set(), list[str]()
    for place, raw in _cases(file, stream, wanted.since):
        try:
            if isinstance(raw, ValueError):
                raise raw
            case = msgspec.convert(raw, TestCase, strict=False)
            seconds = case.job_completion_time_unix or 0.0
            is_result = not case.fixture and case.result != 'skip'
            if not is_result or not wanted.takes(case.test, seconds):
                continue
            if OURS in raw:  # type: ignore[operator]
                left_out.setdefault('give its records', {})[case.test] = None
                continue
            tests |= {case.test} if case.perfvalues else set()
            if case.is_lost:
                lost.append((place, case))
            elif (data := case.measured(wanted, left_out))['metrics']:
                yield record.evidence_of(data)
        except (ValueError, OverflowError) as err:
            own.append(f'{place}: {printable(err)[:160]}')
    for place, case in lost:
        try:
            if case.test in tests:
                yield record.evidence_of(case.lost())
        except (ValueError, OverflowError) as err:
            own.append(f'{place}: {err}')
    problems += at_most(own, MOST_PROBLEMS)


# --- the three forms ------------------------------------------------------------------------


def is_other(head: bytes) -> bool:
    """By the first bytes of a file."""
    return bool(_form(head))


def _form(head: bytes) -> str:
    if head.lstrip()[:1] == b'{':
        return 'report' * (b'"session_info"' in head)
    if STREAM.encode() in head:
        return 'stream'
    if head.startswith(b'SQLite format 3\0'):
        return 'database'
    return 'perflog' * (not MOMENTS.isdisjoint(_titles(head)[1]))


def _titles(head: bytes) -> tuple[str, list[str]]:
    """(what separates them, the columns) of the first line of a perflog."""
    line = head.partition(b'\n')[0].decode(errors='replace')
    separator = re.match(r'\w+([^\w\s"])', line)
    return (separator[1], line.split(separator[1])) if separator else ('', [])


def _cases(file: str, stream: IO[bytes], since: float) -> Iterator[Raw]:
    head = stream.read(4096)
    stream.seek(0)
    form = _form(head)
    if form == 'database':
        return _of_database(file, since)
    if form == 'stream':
        return _of_stream(Path(file), stream.read().decode(errors='replace'))
    return _of_report(file, stream.read()) if form == 'report' else _of_perflog(file, stream)


def _of_report(place: str, text: bytes | str) -> Iterator[Raw]:
    try:
        report = json.loads(text, parse_constant=lambda _: None)  # NaN, Infinity
        ended = report['session_info'].get('time_end_unix')
        for case in (case for run in report['runs'] for case in run['testcases']):
            case['job_completion_time_unix'] = case.get('job_completion_time_unix') or ended
            yield f'{place}: {printable(case.get("name"))[:80]}', case
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
        yield place, ValueError(f'not a report as ReFrame writes it ({err})')


def _of_database(file: str, since: float) -> Iterator[Raw]:
    """Of sessions that ended since."""
    address = f'{Path(file).resolve().as_uri()}?mode=ro'
    query = 'SELECT uuid, json_blob FROM sessions WHERE session_end_unix >= ?'
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            versions = database.execute('SELECT schema_version FROM metadata').fetchone()
            if versions != (SCHEMA_OF_DATABASE,):
                raise sqlite3.Error(f'its schema is {versions}, not {SCHEMA_OF_DATABASE}')
            for session, text in database.execute(query, (since,)):
                yield from _of_report(f'{file}: session {session}', text)
    except sqlite3.Error as err:
        yield file, ValueError(f'not a results database of ReFrame: {err}')


def _of_perflog(file: str, stream: IO[bytes]) -> Iterator[Raw]:
    """By its first line, as ReFrame writes it since 4.3."""
    separator, titles = _titles(stream.readline())
    if NODES not in titles or 'perf_var' in titles:
        form = "'%(check_job_nodelist)s' and '%(check_perfvalues)s'"
        yield file, ValueError(f"a perflog that cannot be read: its 'format' lacks {form}")
        return
    for number, line in enumerate(stream, 2):
        words = line.decode(errors='replace').rstrip('\n').split(separator)
        known = (None if word in ('null', 'None', '') else word for word in words)
        try:
            case: object = _as_case(Path(file).stem, dict(zip(titles, known, strict=True)))
        except ValueError as err:
            case = ValueError(f'{len(words)} columns of {len(titles)}: {err}')
        yield f'{file}:{number}', case


def _of_stream(file: Path, text: str) -> Iterator[Raw]:
    """Of one run on the node of which the file has the name (n1.log, n1.2.log), at its time."""
    if not file.is_file():
        yield str(file), ValueError('output of stream.c needs a file that is named for its node')
        return
    found = {name: re.search(form, text, re.M) for name, form in CONDITIONS.items()}
    rates = {m[1].lower(): float(m[2]) for m in RATES.finditer(text)}
    is_valid = 'Solution Validates' in text and 'Failed Validation' not in text
    runs = len(RATES.findall(text)) / max(len(rates), 1)
    units, names = {*UNIT.findall(text)}, sorted(rates, reverse=True) or ['triad']
    if is_valid and (runs != 1 or len(units) != 1):
        said = f'{runs:g} tables of rates in {len(units)} units, not one in one'
        yield str(file), ValueError(said)
        return
    yield str(file), {
        'name': ' '.join([STREAM_C, *(f'%{name}={at[1]}' for name, at in found.items() if at)]),
        'system': '', 'partition': '', 'environ': '', 'result': 'pass' if is_valid else 'fail',
        'fail_phase': 'sanity', 'fail_reason': 'no line "Solution Validates"',
        'job_nodelist': [file.name.partition('.')[0]],
        'job_completion_time_unix': file.stat().st_mtime,
        # Triad first: it stands for the others
        'perfvalues': {m: [rates.get(m), *[None] * 3, *units] for m in names},
    }  # fmt: skip


def _as_case(test: str, row: dict[str, str | None]) -> dict[str, object]:
    """A line of a perflog as a report has it."""
    values = {}
    for name in (title.removesuffix('_value') for title in row if title.endswith('_value')):
        value, unit, *limits = (row.get(f'{name}_{of}') for of in OF_FIGURE)
        values[name] = [*(x and float(x) for x in (value, *limits)), unit]
    seconds, text = row.get('job_completion_time_unix'), row.get('job_completion_time')
    if not seconds and text:
        seconds = str(datetime.fromisoformat(text).timestamp())
    words = {name: row.get(name) or '' for name in ('system', 'partition', 'environ')}
    words |= {'name': row.get('name') or test, 'result': row.get('result') or 'pass'}
    return {**row, **words, 'job_completion_time_unix': seconds, 'perfvalues': values}
