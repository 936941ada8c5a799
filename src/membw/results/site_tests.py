"""Results of a site's own tests, as ReFrame 4.9 to 4.11 keeps them, as records: a run report, a
perflog, the results database; and the output of stream.c (results/stream_log.py).

Each form has one reader, which gives test cases. A case is a record of its node; of a job of
several nodes, of their set. What its check calls failed has no figure, and is lost; what is no
figure (0 of a rate, NaN, text) is INVALID. A setting is the name of the test, its parameters,
system, partition and environment: what `-S` sets is not seen. Less is better, or more, by --lower
and --higher, else by the open side of the reference, else by the unit.
"""

import math
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
from membw.results import record, reframe, stream_log
from membw.results.case import of_display_name
from membw.results.hostlist import fold
from membw.results.ledger import BY_SIGNAL, Missing, how
from membw.strict import BOM

SCHEMA_OF_DATABASE = '1.0'
LOCKED_S = 30  # how long ReFrame may write into its database
# of units: GB/s, ns/day, Gbps, GFLOPS, MLUPS; us, s/step, hour/ns
TIME = 's|sec|seconds?|min|minutes?|h|hours?|days?'
RATE = re.compile(
    rf'.*/({TIME})|[kmgtpe]?(bps|fps|ups|ops|iops|flops|lups|teps|cups)', re.I
)  # fmt: skip
DURATION = re.compile(rf'({TIME}|[mnpu\u00b5\u03bc]s(ec)?)(/.*)?', re.I)
OF_FIGURE = 'value', 'unit', 'ref', 'lower_thres', 'upper_thres'  # columns of a perflog
MOMENTS = {'job_completion_time', 'job_completion_time_unix'}
NODES = 'job_nodelist'
# columns with the parameters, the best first; the last has them as a number
NAMES = 'name', 'display_name', 'info', 'unique_name'
WHERE = re.compile(r'.* @(?P<system>[^\s:+]+):(?P<partition>[^\s+]+)\+(?P<environ>\S+)')  # of info
UNKNOWN = 'is less better? --lower METRIC, or --higher METRIC'
MOST_PROBLEMS = 100  # lines named per file
HEAD = 2**16  # bytes looked at: modules and banners stand before a program's first line
LeftOut = dict[str, dict[str, None]]  # why: which metrics, tests or nodes
OLDER = 'older than --since'
Raw = tuple[str, object]  # (place, a case as JSON has it, or what is wrong there)


class Wanted(NamedTuple):
    """Which results are read: of tests by a pattern of their names, from a time on (seconds since
    1970), of one system; metrics of which less, or more, is better; and of which node a log is."""

    test: str = ''
    since: float = 0.0
    lower: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    system: str = ''
    nodes: tuple[tuple[str, str], ...] = ()  # (file, node)

    def takes(self, test: str, seconds: float, system: str | None) -> bool:
        is_system = not system or self.system in ('', system)
        return is_system and seconds >= self.since and fnmatchcase(test, self.test or '*')

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


class TestCase(reframe.TestCase):
    """With what of it is read loosely, and of other forms."""

    # {system:partition:metric: [value, reference, lower, upper, unit, result]}
    perfvalues: dict[str, list[float | str | None]] | None = None  # type: ignore[assignment]
    job_completion_time_unix: float | None = None
    job_exitcode: int | None = None
    wrong: str = ''  # why its figures are, by the program itself
    bounds: dict[str, str] = {}  # {metric: of a figure that is a bound}

    @property
    def test(self) -> str:
        return of_display_name(self.name).test or '?'

    @property
    def is_lost(self) -> bool:
        is_failed = self.result.startswith(('fail', 'abort'))
        is_late = self.fail_phase in (None, 'performance')  # a perflog has no phase
        return is_failed and not (is_late and any(r[0] for r in (self.perfvalues or {}).values()))

    @property
    def node(self) -> str:
        """'' of none; a set of several."""
        names = self.nodes_of_job
        is_set = len(names) > 1 and all(map(record.HOST.fullmatch, names))
        return fold(names) if is_set else ','.join(names)

    @property
    def why_lost(self) -> str:
        said = ': '.join(filter(None, (self.fail_phase, self.fail_reason)))
        return ' '.join(said.split())[:200] or 'failed, ' * self.is_lost + 'no figure'

    def data(self) -> dict[str, Any]:
        """Of its record, what is known without a figure."""
        moment = datetime.fromtimestamp(self.job_completion_time_unix or 0, timezone.utc)
        case = {name: getattr(self, name) for name in ('test', 'system', 'partition', 'environ')}
        parameters = of_display_name(self.name).pairs
        case |= {'parameters': parameters, 'pinning': parameters.get('pinning', '')}
        return {
            'schema': record.SCHEMA, 'program': record.REFRAME, 'verdict': 'VALID', 'reasons': [],
            'host': self.node, 'time': moment.isoformat(), 'case': case, 'metrics': {},
        }  # fmt: skip

    def lost(self) -> dict[str, Any]:
        died = (self.job_exitcode or 0) > BY_SIGNAL
        why = how(self.job_exitcode or 0) if died else self.why_lost
        missing = [vars(Missing(why, died, self.test))]
        return {**self.data(), 'verdict': 'INVALID', 'missing': missing}

    def measured(self, wanted: Wanted, left_out: LeftOut) -> dict[str, Any]:
        """With its figures that can be compared. One that is none makes it INVALID."""
        data, references, issues = self.data(), {}, {}
        wrong = [self.wrong] * bool(self.wrong)
        for key, row in (self.perfvalues or {}).items():
            name = re.sub(r'[^\w.+:/@%-]+', '_', key.rsplit(':', 1)[-1], flags=re.A)
            value, base, low, high, unit, *result = row
            unit, why = str(unit or ''), ''
            if value is None:
                continue
            better = wanted.better(name, unit, low, high)
            is_number = isinstance(value, int | float) and abs(value) < 1e18
            is_figure = is_number and value > 0  # type: ignore[operator]
            is_measured = RATE.fullmatch(unit) or DURATION.fullmatch(unit)
            if not better:
                why = UNKNOWN
            elif not is_figure and is_number and not is_measured:
                why = '0 or less: no part of a median'
            if why:
                left_out.setdefault(why, {})[f'{name} ({unit}) of {self.test}'] = None
                continue
            wrong += [] if is_figure else [f'{name} is {value} {unit}']
            figure = value if is_figure else None
            data['metrics'][name] = {'value': figure, 'unit': unit or '1', 'better': better}
            data['metrics'][name]['bound'] = self.bounds.get(name)
            data.setdefault('headline', name)
            if base and (low, high) != (None, None):
                references[name] = base, low, high
            if result in (['xfail'], ['xpass']):
                issues[name] = 'an expected failure'
        data['case'] |= {'references': references, 'known_issues': issues}
        if wrong:
            data['verdict'] = 'INVALID'
            data['reasons'] = [{'reason': 'wrong-figure', 'detail': '; '.join(wrong)[:200]}]
        return data


def records(
    file: str, stream: IO[bytes], wanted: Wanted, problems: list[str], left_out: LeftOut
) -> Iterator[record.Record]:
    """Those of a file; what failed comes last: of tests that have figures, or are requested by
    name, as others were to have none; so does what has no figure, or none that can be compared,
    where others of its test have. What cannot be read goes to `problems`."""
    lost, tests, compared, own = [], set(), set(), list[str]()
    for place, raw in _cases(file, stream, wanted):
        try:
            if isinstance(raw, Exception):
                raise raw
            case = msgspec.convert(raw, TestCase, strict=False)
            seconds = case.job_completion_time_unix or 0.0
            is_result = not case.fixture and case.result != 'skip'
            if not is_result or not wanted.takes(case.test, seconds, case.system):
                if is_result and case.node and wanted.takes(case.test, math.inf, case.system):
                    left_out.setdefault(OLDER, {})[case.node] = None
                continue
            if reframe.OURS in raw:  # type: ignore[operator]
                left_out.setdefault('give its records', {})[case.test] = None
                continue
            tests |= {case.test} if case.perfvalues or wanted.test else set()
            if not case.node and (case.is_lost or case.perfvalues):
                said = case.why_lost if case.is_lost else f"no '{NODES}'"
                left_out.setdefault('on no known node', {})[f'{case.test} ({said})'] = None
            elif case.is_lost:
                lost.append((tests, case.test, record.evidence_of(case.lost())))
            elif (data := case.measured(wanted, left_out))['metrics'] or data['reasons']:
                compared.add(case.test)
                yield record.evidence_of(data)
            elif case.perfvalues:
                lost.append((compared, case.test, record.evidence_of(case.lost())))
        except (ValueError, OverflowError) as err:
            own.append(f'{place}: {printable(err)[:160]}')
    for those, test, one in lost:
        if test in those:
            yield one
        elif those is tests:
            why = f'failed, and no run of it has a figure: -n {test}'
            left_out.setdefault(why, {})[test] = None
    problems += at_most(own, MOST_PROBLEMS)


# --- the forms ------------------------------------------------------------------------------


def form_of(head: bytes) -> str:
    """By the first bytes of a file: 'report', 'stream', 'database', 'perflog', or ''."""
    head = head.removeprefix(BOM)
    if head.lstrip()[:1] == b'{':
        return 'report' * (b'"session_info"' in head)
    if head.startswith(b'SQLite format 3\0'):
        return 'database'
    if stream_log.is_one(head.decode(errors='replace')):
        return 'stream'
    return 'perflog' * (not MOMENTS.isdisjoint(_titles(head)[1]))


def _titles(head: bytes) -> tuple[str, list[str]]:
    """(what separates them, the columns) of the first line of a perflog."""
    line = head.partition(b'\n')[0].decode(errors='replace')
    separator = re.match(r'\w+([^\w \r"])', line)
    return (separator[1], line.split(separator[1])) if separator else ('', [])


def _cases(file: str, stream: IO[bytes], wanted: Wanted) -> Iterator[Raw]:
    head = stream.read(HEAD)
    form = form_of(head)
    stream.seek(len(BOM) * head.startswith(BOM))
    if form == 'database':
        return _of_database(file, wanted.since)
    if form == 'stream':
        text = stream.read().decode(errors='replace')
        return _of_stream(file, text, dict(wanted.nodes).get(file, ''))
    return _of_report(file, stream.read()) if form == 'report' else _of_perflog(file, stream)


def _of_report(place: str, text: bytes | str) -> Iterator[Raw]:
    try:
        report = reframe.parsed(text)
    except (ValueError, RecursionError) as err:
        yield place, ValueError(f'not a report as ReFrame writes it ({err})')
        return
    ended = report.session_info.time_end_unix
    for case in report.cases:
        case['job_completion_time_unix'] = case.get('job_completion_time_unix') or ended
        yield f'{place}: {printable(case.get("name"))[:80]}', case


def _of_database(file: str, since: float) -> Iterator[Raw]:
    """Of sessions that ended since."""
    address = f'{Path(file).resolve().as_uri()}?mode=ro'
    query = 'SELECT uuid, json_blob FROM sessions WHERE session_end_unix >= ?'
    try:
        with closing(sqlite3.connect(address, LOCKED_S, uri=True)) as database:
            versions = database.execute('SELECT schema_version FROM metadata').fetchone()
            if versions != (SCHEMA_OF_DATABASE,):
                raise sqlite3.Error(f'its schema is {versions}, not {SCHEMA_OF_DATABASE}')
            for session, text in database.execute(query, (since,)):
                yield from _of_report(f'{file}: session {session}', text)
    except sqlite3.Error as err:
        said = f'not a results database of ReFrame: {err}'
        if isinstance(err, sqlite3.OperationalError) and 'locked' in str(err):
            said = f'{err}, for {LOCKED_S} s: ReFrame writes it now'
        yield file, ValueError(said)


def _of_perflog(file: str, stream: IO[bytes]) -> Iterator[Raw]:
    """By its first line, as ReFrame writes it since 4.3."""
    separator, titles = _titles(stream.readline().rstrip(b'\r\n'))
    lacks = [f"'%(check_{NODES})s'"] if NODES not in titles else []
    lacks += ["'%(check_perfvalues)s'"] if 'perf_var' in titles else []
    lacks += ["'%(check_info)s'"] if not {*NAMES} & {*titles} else []
    where = {'system', 'partition', 'environ'} - {*titles}
    lacks += [f"'%(check_{name})s'" for name in sorted(where) if 'info' not in titles]
    if lacks:
        fact = f"a perflog that cannot be read: its 'format' lacks {' and '.join(lacks)}"
        yield file, ValueError(fact)
        return
    for number, line in enumerate(stream, 2):
        words = line.decode(errors='replace').rstrip('\r\n').split(separator)
        known = (None if word in ('null', 'None', '') else word for word in words)
        try:
            case: object = _of_line(dict(zip(titles, known, strict=True)))
        except ValueError as err:
            is_cut = len(words) != len(titles)
            case = ValueError(f'{len(words)} columns of {len(titles)}') if is_cut else err
        yield f'{file}:{number}', case


def _of_line(row: dict[str, str | None]) -> dict[str, object]:
    """A line of a perflog as a report has it."""
    values = {}
    for name in (title.removesuffix('_value') for title in row if title.endswith('_value')):
        said, unit, *limits = (row.get(f'{name}_{of}') for of in OF_FIGURE)
        value = said and stream_log.number(said)
        values[name] = [value, *(x and float(x) for x in limits), unit]
    seconds, text = row.get('job_completion_time_unix'), row.get('job_completion_time')
    if not seconds and text:
        seconds = str(datetime.fromisoformat(text).timestamp())
    test = next(filter(None, map(row.get, NAMES)), None)
    if not test:
        raise ValueError('no name of its test')
    there = WHERE.fullmatch(row.get('info') or '')
    own: dict[str, object] = {**(there.groupdict() if there else {})}
    own |= {key: row[key] for key in ('system', 'partition', 'environ') if row.get(key)}
    own |= {'name': test, 'result': row.get('result') or 'pass', 'perfvalues': values}
    return {**row, **own, 'job_completion_time_unix': seconds}


def _of_stream(file: str, text: str, node: str) -> Iterator[Raw]:
    try:
        yield from ((file, case) for case in stream_log.cases(Path(file), text, node))
    except ValueError as err:
        yield file, err
