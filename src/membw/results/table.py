"""The one table of results, made from the record files: a row per node, run and metric."""

import bisect
import contextlib
import gc
import heapq
import io
import math
import os
import re
import statistics
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import msgspec

from membw.errors import MembwError
from membw.files import naming, unreadable_folders
from membw.moments import night_of
from membw.printable import at_most, printable
from membw.results import provenance, site_tests
from membw.results.hostlist import chosen_nodes
from membw.results.record import (
    HIGHER,
    INVALID,
    REFRAME,
    UNDECIDED,
    VALID,
    BadRecord,
    Build,
    Case,
    Finding,
    Metric,
    Record,
    evidence,
    in_common,
    read_record,
)  # fmt: skip

TOGETHER_S = 12 * 3600
ONE_RUN_S = 900  # ranks of one run write their records within so many seconds
MOST_PROBLEMS = 100  # lines named per file
KEPT = 20_000  # records before old ones are left out, where only new ones are wanted
BOM = b'\xef\xbb\xbf'  # as Windows begins a text
BUFFER = 2**18  # bytes: a record has some thousand
UNKNOWN = 'unknown'  # of a build
RESCUED = re.compile(r'\.rank-\d+$|\.log\.h\d+$')  # what a rank saved by itself, old perflogs
ENDINGS = '.json', '.jsonl', '.log', '.db'


class Setting(NamedTuple):
    """What has to be equal before figures are compared. Options that were given belong to it; the
    array size that the program chose does not."""

    system: str = ''
    partition: str = ''
    test: str = ''
    parameters: str = ''
    preset: str = ''
    pinning: str = ''
    build: str = ''  # its code, or that it is not known; where there is no preset
    program: str = ''
    language: str = ''
    kernels_set: str = ''
    element_bytes: str = ''
    mode: str = ''
    precision: str = ''
    threads: str = ''
    array_size: str = ''
    ntimes: str = ''
    wait_policy: str = ''
    pages: str = ''
    shapes: str = ''
    cpu_model: str = ''
    compiler: str = ''
    flags: str = ''

    @property
    def text(self) -> str:
        """'system=thin test=stream ...'."""
        return ' '.join(f'{name}={value}' for name, value in self._asdict().items() if value)

    @property
    def series(self) -> tuple[str, ...]:
        """One test, preset and pinning on one partition: what is measured at one time."""
        return self[:6]

    @property
    def conditions(self) -> 'Setting':
        """Without the compiler: what a history goes on with when the compiler changes."""
        return self._replace(compiler='', flags='')


@dataclass(slots=True, eq=False)
class Measurement:
    """One run of one node: what all of its figures have in common."""

    night: str = ''  # '2026-11-23', see moments.night_of
    time: float = 0.0  # seconds since 1970, of the run's first record
    node: str = ''  # '' where no job began
    setting: Setting = Setting()
    verdict: str = VALID  # VALID, INVALID or UNDECIDED
    reasons: str = ''  # why it is not VALID
    allowed: str = ''  # reasons for INVALID that --allow set aside
    session: str = ''  # of the check
    number: int = 0  # of the measurements of its session: 0 first, then the further ones
    word: str = ''  # of the whole record, by who wrote it, then; '' of a program's
    why: str = ''
    file: str = ''
    line: int = 0  # of the first rank's record, from 1
    offset: int = 0  # of this line in its file, bytes
    record: Record | None = None  # the first rank's
    made: dict[str, str] | None = None  # see `provenance`

    @property
    def provenance(self) -> dict[str, str]:
        """{field: value} of what it was built and run with (results/provenance.py)."""
        if self.made is None:
            self.made = provenance.of_record(self.record) if self.record else {}
        return self.made

    @property
    def key(self) -> str:
        """Equal for measurements of equal provenance."""
        return str(self.provenance)

    def is_after(self, other: 'Measurement') -> bool:
        """By the run's own order within one session, where nodes' clocks differ; else by time."""
        if self.session and self.session == other.session and self.number != other.number:
            return self.number > other.number
        return self.time >= other.time


def _of_setting(name: str) -> Any:
    return property(lambda self: getattr(self.of.setting, name))


def _of_measurement(name: str) -> Any:
    return property(lambda self: getattr(self.of, name))


@dataclass(slots=True)
class Figure:
    """One metric of one node in one run."""

    metric: str = ''
    value: float = 0.0  # in `unit`
    unit: str = ''  # bandwidth: GB/s
    better: str = HIGHER  # HIGHER or LOWER
    low: float | None = None  # the interval of a rerun; None where the program gives none
    high: float | None = None
    # '' of an estimate; else the value is a bound: 'lower' or 'upper' of the figure, or 'unknown'
    bound: str = ''
    series: str = ''  # of a point of a curve or a map, and where it lies
    at: Mapping[str, float | str] | None = None
    reference: float | None = None  # in `unit`
    reference_low: float | None = None  # fractions of it, as ReFrame's: -0.05; None: open
    reference_high: float | None = None
    known_issue: str = ''  # why it is expected to miss its reference
    is_headline: bool = False  # the metric that stands for its record
    of: Measurement = field(default_factory=Measurement)

    night, time, node = map(_of_measurement, ('night', 'time', 'node'))
    verdict, reasons, allowed = map(_of_measurement, ('verdict', 'reasons', 'allowed'))
    setting, file, line = map(_of_measurement, ('setting', 'file', 'line'))
    provenance = _of_measurement('provenance')
    system, partition, benchmark = map(_of_setting, ('system', 'partition', 'test'))
    parameters, preset, pinning = map(_of_setting, ('parameters', 'preset', 'pinning'))

    @property
    def is_bound(self) -> bool:
        return bool(self.bound)

    @property
    def may_be_worse(self) -> bool:
        """Perhaps too good, by a cache: it meets no reference."""
        return too_good(self.bound, self.better)

    @property
    def sign(self) -> str:
        """In front of the value: '≥ ', '≤ ', '~ ' of what may be either, '' of an estimate."""
        return {'lower': '≥ ', 'upper': '≤ ', 'unknown': '~ '}.get(self.bound, '')

    def replace(self, **changes: Any) -> 'Figure':
        return replace(self, **changes)

    def share(self, base: float) -> float:
        """Of a figure that it is compared with: 0.9 is a tenth worse, whichever is better."""
        return self.value / base if self.better == HIGHER else base / self.value


def too_good(bound: str, better: str) -> bool:
    return bound in ('unknown', 'upper' if better == HIGHER else 'lower')


@dataclass(slots=True, frozen=True)
class Lost:
    """What a node was to measure in one run, and did not: a launch that died, was refused, or was
    never begun (results/ledger.py)."""

    of: Measurement
    died: bool
    text: str  # 'remote memory, 1 thread: ended by SIGBUS (signal 7) on n2'
    verdict: str = ''  # of a part of `membw node`, where it has one: it is not VALID

    time, node, night = map(_of_measurement, ('time', 'node', 'night'))
    file, setting = map(_of_measurement, ('file', 'setting'))
    system, partition, benchmark = map(_of_setting, ('system', 'partition', 'test'))
    parameters, preset, pinning = map(_of_setting, ('parameters', 'preset', 'pinning'))

    @property
    def word(self) -> str:
        """Of results/verdict.py."""
        return 'DIED' if self.died else self.verdict or 'MISSING'


class Table:
    """`figures` in order of time, and `problems`: 'file:line: what' of each damaged record."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []
        self.lost: list[Lost] = []  # what records say was to be measured, and is not
        self.problems: list[str] = []
        self.site_tests: dict[str, None] = {}  # other tests that are in it (results/site_tests.py)
        self.left_out: site_tests.LeftOut = {}  # of theirs
        self.kept_bytes: dict[str, bytes] = {}  # what cannot be read a second time: pipes, stdin
        self.seen: dict[str, float] = {}  # when each node was measured last
        self.newest = 0.0  # of these
        self.together_s: float = TOGETHER_S  # runs so far apart may be one measurement of a fleet

    def see(self, node: str, time: float) -> None:
        if time > self.seen.get(node, 0.0):
            self.seen[node] = time
            self.newest = max(self.newest, time)

    def choose(self, nodes: str) -> None:
        """Keeps the figures of the nodes that the text names."""
        those = chosen_nodes(
            nodes, {f.node for f in self.figures} | {one.node for one in self.lost}
        )
        self.figures = [f for f in self.figures if f.node in those]
        self.lost = [one for one in self.lost if one.node in those]

    @property
    def notes(self) -> list[str]:
        """What to know of figures of other tests."""
        lines = {'not validated by membw': self.site_tests}
        lines |= {f'left out: {why}': what for why, what in self.left_out.items()}
        return [f'{", ".join(at_most([*of], 5))}: {why}' for why, of in lines.items() if of]

    @property
    def said(self) -> list[str]:
        """Lines for stderr: problems, and notes."""
        lines = [*self.problems, *(f'note: {note}' for note in self.notes)]
        return [f'membw: {printable(line)}' for line in lines]

    def evidence(self, figure: Figure) -> dict:
        """The JSON object of the (first) record that the figure comes from."""
        if figure.setting.program == REFRAME:
            return msgspec.to_builtins(figure.of.record)
        return evidence(self.line_at(figure.file, figure.of.offset))

    def line_at(self, file: str, offset: int) -> bytes:
        """The line that begins there. MembwError: the file is gone."""
        kept = self.kept_bytes.get(file)
        try:
            with io.BytesIO(kept) if kept else open(file, 'rb') as stream:
                stream.seek(offset)
                return stream.readline().removeprefix(BOM)
        except OSError as err:
            raise MembwError(f"cannot read '{file}' again: {err.strerror}") from err


Each = Callable[[Measurement, Mapping[str, Metric]], None]


@contextlib.contextmanager
def no_garbage() -> Iterator[None]:
    """Nothing that is read here refers to itself: looking for such takes 40 % of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@no_garbage()
def read_table(
    paths: Sequence[str],
    newest_s: float = math.inf,
    each: Each | None = None,
    whole: Container[str] = (),
    wanted: site_tests.Wanted = site_tests.Wanted(),
) -> Table:
    """The table of record files, of results of other tests (results/site_tests.py), of folders of
    them, and of '-' (stdin).

    A folder is read through, its `records` alone where it has such a folder; JSON files that hold
    no record are passed over. A record that is met twice counts once. MembwError: a path that
    cannot be read. `each`: is given every measurement and its metrics. `newest_s`: the table has
    no figure of what is older than so many seconds before the newest, and of the rest those of
    the newest measurement of each series and of the nodes in `whole`.
    """
    table, known = Table(), _Known()
    alone: list[_Line] = []
    several: list[_Line] = []  # of several ranks: judged together
    places: list[_Place] = []
    units: dict[tuple[Setting, str], str] = {}
    enough = KEPT
    for path in paths:
        try:
            for name, stream, is_named in _files(path, table):
                for one in _read(name, stream, is_named, table, wanted):
                    record = one.record
                    if not wanted.takes(record.case.test or record.program, one.time):
                        continue
                    if not known.is_new(hash(_identity(record))):
                        continue
                    table.see(record.host, one.time)
                    if record.ranks > 1:
                        several.append(one)
                        continue
                    if each:
                        each(measurement(*one), record.metrics)
                    if newest_s == math.inf or newest_s and one.offset < 0:
                        alone.append(one)
                    elif newest_s and one.time >= table.newest - newest_s:
                        places.append(_place(one))
                    if len(alone) + len(places) > enough:
                        alone = _newest(alone, table, newest_s)
                        places = _newest(places, table, newest_s)
                        enough = (len(alone) + len(places)) * 5 // 4 + KEPT
        except OSError as err:
            fact = f"cannot read '{err.filename or path}': {err.strerror}"
            raise MembwError(fact, 'give files or folders that exist') from err
    alone, several = _newest(alone, table, newest_s), _newest(several, table, newest_s)
    places = _of_newest(_newest(places, table, newest_s), table.together_s, whole)
    alone += [one.read(table) for one in places]
    for run, lacking in [*(([one], '') for one in alone), *_runs(several)]:
        _take(table, run, lacking, units)
    table.figures.sort(key=lambda f: f.time)
    return table


class _Line(NamedTuple):
    """A record and where it was."""

    record: Record
    time: float
    file: str
    line: int
    offset: int = -1  # bytes; -1: it cannot be read again


class _Place(NamedTuple):
    """Where a record is that may be of the newest measurement: all of them fit no memory."""

    node: str
    time: float
    setting: Setting
    has_figures: bool
    file: str
    line: int
    offset: int

    def read(self, table: Table) -> _Line:
        record = read_record(table.line_at(self.file, self.offset))
        return _Line(record, self.time, self.file, self.line, self.offset)


def _place(one: _Line) -> _Place:
    record, node = one.record, sys.intern(one.record.host)
    setting = _setting(record, f'{one.file}:{one.line}')
    return _Place(node, one.time, setting, record.is_measured, one.file, one.line, one.offset)


def _identity(record: Record) -> tuple:
    """Equal for two copies of one record."""
    values = tuple([(metric.value, metric.unit) for metric in record.metrics.values()])
    lost = tuple([one.what for one in record.missing])
    case = record.case
    named = case.test, case.parameters, case.environ, case.partition
    return record.host, record.rank, record.time, record.program, named, values, lost


class _Known:
    """Numbers that were seen: 8 bytes each but for the newest, where a set has 70."""

    def __init__(self) -> None:
        self.newest: set[int] = set()
        self.older = array('q')  # sorted

    def is_new(self, number: int) -> bool:
        if number in self.newest:
            return False
        if self.older:
            place = bisect.bisect_left(self.older, number)
            if place < len(self.older) and self.older[place] == number:
                return False
        self.newest.add(number)
        if len(self.newest) > KEPT + len(self.older) // 4:
            self.older = array('q', heapq.merge(self.older, sorted(self.newest)))
            self.newest.clear()
        return True


Stored = TypeVar('Stored', _Line, _Place)


def _newest(lines: list[Stored], table: Table, newest_s: float) -> list[Stored]:
    begin = table.newest - newest_s
    return [one for one in lines if one.time >= begin] if begin > 0 else lines


def _of_newest(places: Iterable[_Place], together_s: float, whole: Container[str]) -> list[_Place]:
    """Those of the newest measurement of each series, each node's last, and what has no figure."""
    found: list[_Place] = []
    every: dict[tuple[str, ...], list[_Place]] = defaultdict(list)
    for one in places:
        (every[one.setting.series] if one.has_figures else found).append(one)
    for of_series in every.values():
        begins, missing = begins_of(of_series, together_s)
        begins |= missing
        found += [x for x in of_series if x.time >= begins[x.node] or x.node in whole]
    return found


def begins_of(
    runs: Sequence[Figure | _Place], together_s: float
) -> tuple[dict[str, float], dict[str, float]]:
    """({node: from when its runs are of the newest measurement of their series}, {node not in it:
    its last run})."""
    last: dict[str, float] = {}
    for one in runs:
        last[one.node] = max(last.get(one.node, 0.0), one.time)
    half = sorted(last.values(), reverse=True)[(len(last) - 1) // 2]
    begin = half - together_s
    together = {one.node for one in runs if begin <= one.time <= half + together_s}
    if 2 * len(together) < len(last):
        return {node: when - together_s for node, when in last.items()}, {}
    begins = dict.fromkeys((node for node, when in last.items() if when >= begin), begin)
    return begins, {node: when for node, when in last.items() if when < begin}


def _take(
    table: Table, run: list[_Line], lacking: str, units: dict[tuple[Setting, str], str]
) -> None:
    """The figures of a run, and what it lacks."""
    try:
        figures, lost = _of_run(run, lacking)
        for f in figures:
            usual = units.setdefault((f.setting, f.metric), f.unit)
            if usual != f.unit:
                raise BadRecord(f"'{f.metric}' is in {f.unit}, in other records in {usual}")
    except BadRecord as err:
        table.problems.append(f'{run[0].file}:{run[0].line}: {err}')
        return
    table.figures += figures
    table.lost += lost


# --- files ---------------------------------------------------------------------------------


def _files(path: str, table: Table) -> Iterator[tuple[str, IO[bytes], bool]]:
    """(name, stream, whether the path names this file itself)."""
    if path == '-':
        table.kept_bytes['stdin'] = sys.stdin.buffer.read()
        yield 'stdin', io.BytesIO(table.kept_bytes['stdin']), True
    elif Path(path).is_dir():
        folder = Path(path, 'records') if Path(path, 'records').is_dir() else Path(path)
        table.problems += unreadable_folders(folder)
        for file in sorted(f for f in folder.rglob('[!.]*') if _is_result(f)):
            with naming(file), open(file, 'rb', BUFFER) as stream:
                yield str(file), stream, False
    else:
        with naming(path), open(path, 'rb', BUFFER) as stream:
            if os.path.isfile(path):
                yield str(path), stream, True
            else:
                table.kept_bytes[str(path)] = stream.read()
                yield str(path), io.BytesIO(table.kept_bytes[str(path)]), True


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """(offset, line), one at a time: a year of a large fleet does not fit into memory."""
    offset = 0
    for line in stream:
        yield offset, line if offset else line.removeprefix(BOM)
        offset += len(line)


def _is_result(file: Path) -> bool:
    ending = file.suffix in ENDINGS or RESCUED.search(file.name)
    return bool(ending) and file.is_file()


def _read(
    name: str, stream: IO[bytes], is_named: bool, table: Table, wanted: site_tests.Wanted
) -> Iterator[_Line]:
    """The records of one file; what is damaged goes to the table's problems."""
    problems: list[str] = []
    head = stream.read(4096)
    stream.seek(0)
    if site_tests.is_other(head):
        found = site_tests.records(name, stream, wanted, table.problems, table.left_out)
        for number, record in enumerate(found, 1):
            table.site_tests[record.case.test] = None
            yield _Line(record, record.seconds, name, number)
        return
    wrong, is_any, is_ours = 0, False, is_named
    for number, (offset, line) in enumerate(_lines(stream), 1):
        is_ours = is_ours or b'membw-record-' in line
        if line and not line.isspace():
            try:
                record = read_record(line)
                is_any = True
                yield _Line(record, record.seconds, name, number, offset)
            except BadRecord as err:
                wrong += 1
                problems += [f'{name}:{number}: {err}'] if wrong <= MOST_PROBLEMS else []
    if wrong > MOST_PROBLEMS:
        problems.append(f'{name}: {wrong - MOST_PROBLEMS} more damaged lines')
    if not is_any and wrong != 1:  # of something else not each line is named
        problems = [f'{name}: no record in this file' + ''.join(f' ({p})' for p in problems[:1])]
    table.problems += problems if is_ours else []


# --- one record ----------------------------------------------------------------------------


def figures_of(record: Record) -> dict[str, Figure]:
    """{metric: Figure} of one record."""
    of = measurement(record, record.seconds)
    return {name: _figure(of, name, row, record) for name, row in record.measured.items()}


def headline(figures: Mapping[str, Figure]) -> Figure:
    """The figure of these, by metric, that stands for their record."""
    return next((f for f in figures.values() if f.is_headline), [*figures.values()][-1])


def measurement(
    record: Record, seconds: float, file: str = '', line: int = 1, offset: int = 0
) -> Measurement:
    case = record.case
    verdict, reasons = _verdict(record)
    return Measurement(
        sys.intern(night_of(seconds)),
        seconds,
        sys.intern(record.host),
        _setting(record, f'{file}:{line}'),
        verdict,
        reasons,
        record.allowed,
        case.session or '',
        case.measurement,
        printable(record.word),
        printable(record.why),
        file,
        line,
        offset,
        record,
    )


def _verdict(record: Record) -> tuple[str, str]:
    """(word, why): by the program, or by the check. A case says so of its own record only: a
    check of many nodes writes a verdict per record."""
    case = record.case
    reasons = [_reason(r) for r in record.reasons if not r.allowed]
    if case.verdict == INVALID:
        own = [case.reasons] if isinstance(case.reasons, str) else [*case.reasons]
        return INVALID, printable('; '.join(own or reasons)) or 'no reason given'
    if record.verdict != VALID:
        return record.verdict, printable('; '.join(reasons)) or 'no reason given'
    found = record.validation
    if found and (not found.ok or found.wrong_elements):
        reasons = ['not-validated']
    elif record.exit_status and not reasons:
        reasons = [f'exit status {record.exit_status}']
    if reasons:
        return INVALID, f"{printable(reasons[0])} (the record's verdict contradicts it)"
    return (UNDECIDED, f'allowed: {record.allowed}') if record.allowed else (VALID, '')


def _reason(finding: Finding) -> str:
    return ' '.join(filter(None, (finding.reason, f'({finding.detail})' * bool(finding.detail))))


_own = attrgetter(
    'program', 'language', 'kernels_set', 'element_bytes', 'mode', 'precision', 'threads'
)
_more = attrgetter('array_size', 'array_size_from', 'ntimes', 'runtime')
_settings: dict[tuple, tuple[Setting, Case, Build]] = {}


def _setting(record: Record, place: str) -> Setting:
    """Found by the objects that records share, where it was made before."""
    if record.shapes:
        return _made_setting(record, place)
    case, build, pages = record.case, record.build, provenance.requested_pages(record)
    key = id(case), id(build), record.facts.cpu_model, pages, _own(record), _more(record)
    found = _settings.get(key)
    if found is None:
        if len(_settings) > KEPT:
            _settings.clear()
        found = _made_setting(record, place), case, build  # kept: their ids stay theirs
        if not found[0].build.startswith(UNKNOWN):
            _settings[key] = found
    return found[0]


def _made_setting(record: Record, place: str) -> Setting:
    """Without a preset the code stands for the build; where neither is known, `place` does: such a
    record is compared with no other."""
    case, build = record.case, record.build
    preset = case.environ or build.preset
    is_known = preset or record.program == REFRAME  # by its name
    code = '' if is_known else case.code_sha256 or build.code_sha256 or f'{UNKNOWN}, {place}'
    values = (
        case.system, case.partition, case.test or record.program, case.parameters, preset,
        case.pinning, code, *_own(record),
        record.array_size if record.array_size_from == 'option' else None, record.ntimes or None,
        record.runtime and record.runtime.wait_policy, provenance.requested_pages(record),
        provenance.shapes(record), record.facts.cpu_model, build.compiler, build.flags,
    )  # fmt: skip
    return Setting(*('' if value is None else printable(value) for value in values))


def _figure(of: Measurement, name: str, row: Metric, record: Record) -> Figure:
    """One metric, its reference and its known issue."""
    unit, factor = in_common(row.unit)
    assert row.value is not None
    value, case = row.value * factor, record.case
    figure = Figure(
        sys.intern(name), value, unit, row.better, None, None, row.bound or '', row.series, row.at,
        is_headline=name == record.stands, of=of,
    )  # fmt: skip
    if row.low is not None and row.high is not None and not row.bound:
        figure.low, figure.high = row.low * factor, row.high * factor
    if case.known_issues:
        figure.known_issue = printable(case.known_issues.get(name, ''))
    limits = case.references.get(name) if case.references else None
    if limits and limits[0]:  # ReFrame passes a reference of 0
        base, *ends = (None if x is None else float(x) for x in (*limits, None, None)[:3])
        figure.reference = (base or 0.0) * factor
        figure.reference_low, figure.reference_high = ends
    return figure


# --- one run of one node -------------------------------------------------------------------


def _runs(records: Iterable[_Line]) -> Iterator[tuple[list[_Line], str]]:
    """(the ranks of one node in one run, why these are INVALID: '', or a rank is missing).

    Records belong to one run when they lie in one file, or were written within 15 minutes, and
    none has the same rank. A node lacks ranks where its run has fewer records than ranks, and it
    has fewer than another node of the run.
    """
    jobs: dict[tuple, list[_Line]] = defaultdict(list)
    several = [(one, _setting(one.record, one.file)) for one in records]
    per_file = Counter((one.file, setting) for one, setting in several)
    for one, setting in several:
        file = one.file if per_file[one.file, setting] > 1 else ''
        jobs[setting, one.record.ranks, file].append(one)
    for same in jobs.values():
        for job in _jobs(sorted(same, key=lambda one: one.time)):
            nodes: dict[str, list[_Line]] = defaultdict(list)
            for one in sorted(job, key=lambda one: one.record.rank):
                nodes[one.record.host].append(one)
            most = max(map(len, nodes.values()))
            for run in nodes.values():
                is_short = len(job) < run[0].record.ranks and len(run) < most
                text = f'ranks-missing ({len(run)} of {most} ranks of this node)'
                yield run, text if is_short else ''


def _jobs(records: list[_Line]) -> Iterator[list[_Line]]:
    """Split where a rank comes again, or too late."""
    job: list[_Line] = []
    for one in records:
        is_late = job and one.time - job[0].time > ONE_RUN_S
        if is_late or one.record.rank in {other.record.rank for other in job}:
            yield job
            job = []
        job.append(one)
    if job:
        yield job


def _of_parts(record: Record | None) -> dict[str, str]:
    """{part of `membw node`: its verdict}."""
    parts = record.parts if record else ()
    return {part.name: part.record.verdict for part in parts if part.record}


def _of_run(run: list[_Line], lacking: str) -> tuple[list[Figure], list[Lost]]:
    """Of the metrics that every rank measured: rates add up, of all else the mean counts."""
    every = [measurement(*one) for one in run]
    lost = [
        Lost(of, row.died, printable(row.text), verdicts.get(row.what, ''))
        for of, verdicts in ((of, _of_parts(of.record)) for of in every)
        for row in (of.record.missing if of.record else ())
    ]
    of, first = every[0], run[0].record
    if len(run) == 1 and not lacking:
        return [_figure(of, name, row, first) for name, row in first.measured.items()], lost
    worst = min(every, key=lambda one: (INVALID, UNDECIDED, VALID).index(one.verdict))
    of.verdict, of.reasons = worst.verdict, worst.reasons
    of.allowed = next(filter(None, (one.allowed for one in every)), '')
    if lacking:
        of.verdict, of.reasons = INVALID, lacking
    ranks = [{n: _figure(of, n, m, r.record) for n, m in r.record.measured.items()} for r in run]
    names = [name for name in ranks[0] if all(name in rank for rank in ranks)]
    return [_summed([rank[name] for rank in ranks]) for name in names], lost


def _summed(same: list[Figure]) -> Figure:
    first, bounds = same[0], {f.bound for f in same if f.bound}
    total = sum if first.better == HIGHER and first.unit.endswith('/s') else statistics.fmean
    ends = [(f.low, f.high) for f in same if f.low is not None and f.high is not None]
    is_whole = len(ends) == len(same) and not bounds
    return first.replace(
        value=total(f.value for f in same),
        low=total(low for low, _ in ends) if is_whole else None,
        high=total(high for _, high in ends) if is_whole else None,
        bound='unknown' if len(bounds) > 1 else ''.join(bounds),
    )
