"""The one table of results, made from the record files: a row per node, run and metric.

Plain json and tuples read 20,000 records of 4.5 kB in 3 s of one core, half of it json itself;
for that half alone DuckDB took 0.7 s and 240 MB, Polars 2.4 s. A year of 100 nodes (36,000
records) is some 5 s: a library would save 2 s, and names no damaged line.
"""

import bisect
import heapq
import io
import itertools
import json
import math
import os
import re
import statistics
import sys
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from membw.errors import MembwError
from membw.files import naming, unreadable_folders
from membw.moments import night_of
from membw.printable import printable
from membw.results import provenance
from membw.results.hostlist import chosen_nodes
from membw.results.ledger import Missing
from membw.results.regimes import latency

SCHEMA = 'membw-record-2'
HIGHER, LOWER = 'higher', 'lower'
ONE_RUN_S = 900  # ranks of one run write their records within so many seconds
MOST_PROBLEMS = 100  # lines named per file
KEPT_FIGURES = 20_000  # before old ones are left out, where only new ones are wanted
KEPT = 500  # records that a table keeps as JSON objects: those of a run, not of a year
AHEAD_S = 86_400  # a clock may be so much ahead of this machine's
SHOWN_AS = {'MB/s': ('GB/s', 1000.0), 'B/s': ('GB/s', 1e9)}
# RFC 1123, and the underscore of some sites: a name that a scheduler, a shell and a node-check
# file read as one name
HOST = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]*')
METRIC = re.compile(r'[A-Za-z0-9_.+:/@%-]+')
RESCUED = re.compile(r'\.rank-\d+$')  # what a rank saved by itself


def too_good(bound: str, better: str) -> bool:
    """Perhaps, by a cache: such a figure meets no reference."""
    return bound in ('unknown', 'upper' if better == HIGHER else 'lower')


class Figure(NamedTuple):
    """One metric of one node in one run."""

    night: str = ''  # '2026-11-23', see moments.night_of
    time: float = 0.0  # seconds since 1970, of the run's first record
    node: str = ''
    system: str = ''  # '' of a record that no check made, as partition, preset and pinning
    partition: str = ''
    benchmark: str = ''  # the test's name, else the program's
    parameters: str = ''
    preset: str = ''
    pinning: str = ''
    metric: str = ''
    value: float = 0.0  # in `unit`
    low: float | None = None  # the interval of a rerun; None where the program gives none
    high: float | None = None
    is_bound: bool = False  # the value is a bound of the rate, no estimate: a lower one,
    bound: str = ''  # or 'upper', as a cache may hold the arrays (not-proven), or 'unknown': both
    unit: str = ''  # bandwidth: GB/s
    better: str = HIGHER  # HIGHER or LOWER
    verdict: str = 'VALID'  # VALID, INVALID or UNDECIDED
    reasons: str = ''  # why it is not VALID
    reference: float | None = None  # in `unit`
    reference_low: float | None = None  # fractions of it, as ReFrame's: -0.05; None: open
    reference_high: float | None = None
    setting: str = ''  # figures are compared within one setting only
    provenance: str = ''  # key of Table.provenance
    file: str = ''
    line: int = 0  # of the first rank's record, from 1
    known_issue: str = ''  # why it is expected to miss its reference
    allowed: str = ''  # reasons for INVALID that --allow set aside: no reference, no acceptance
    is_headline: bool = False  # the metric that stands for its record
    pair_ns: float = 0.0  # the state of the host, see results/regimes.py; 0: not known
    word: str = ''  # of the whole record, where `membw node` wrote one, by its table of causes
    why: str = ''

    @property
    def may_be_worse(self) -> bool:
        return too_good(self.bound, self.better)

    @property
    def sign(self) -> str:
        """In front of the value: '≥ ', '≤ ', '~ ' of what may be either, '' of an estimate."""
        return {'upper': '≤ ', 'unknown': '~ '}.get(self.bound, '≥ ' if self.is_bound else '')


class Lost(NamedTuple):
    """What a node was to measure in one run, and did not: a launch that died, was refused, or was
    never begun (results/ledger.py). Its fields are a Figure's."""

    night: str
    time: float
    node: str  # '' where no job began
    system: str
    partition: str
    benchmark: str
    parameters: str
    preset: str
    pinning: str
    session: str  # of the run
    died: bool
    text: str  # 'remote memory, 1 thread: ended by SIGBUS (signal 7) on n2'
    file: str

    @property
    def word(self) -> str:
        """Of results/verdict.py."""
        return 'DIED' if self.died else 'NOT MEASURED'


class BadRecord(ValueError):
    """What is wrong with a line."""


class Table:
    """`figures` in order of time, and `problems`: 'file:line: what' of each damaged record."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []
        self.lost: list[Lost] = []  # what records say was to be measured, and is not
        self.problems: list[str] = []
        self.provenances: dict[str, dict[str, str]] = {}
        self.kept_bytes: dict[str, bytes] = {}  # what cannot be read a second time: pipes, stdin
        self.seen: dict[str, float] = {}  # when each node was measured last
        self.objects: dict[tuple[str, int], dict] = {}  # the first KEPT, by file and line

    def provenance(self, figure: Figure) -> dict[str, str]:
        """{field: value} of what the figure was built and run with (results/provenance.py)."""
        return self.provenances[figure.provenance]

    def choose(self, nodes: str) -> None:
        """Keeps the figures of the nodes that the text names."""
        those = chosen_nodes(nodes, {f.node for f in self.figures})
        self.figures = [f for f in self.figures if f.node in those]
        self.lost = [one for one in self.lost if one.node in those]

    def record(self, figure: Figure) -> dict:
        """The JSON object of the (first) record that the figure comes from."""
        kept = self.objects.get((figure.file, figure.line))
        if kept is not None:
            return kept
        kept_bytes = self.kept_bytes.get(figure.file)
        with io.BytesIO(kept_bytes) if kept_bytes else open(figure.file, 'rb') as stream:
            lines = itertools.islice(_lines(stream), figure.line - 1, figure.line)
            return json.loads(next(lines))


def read_table(
    paths: Sequence[str],
    newest_s: float = math.inf,
    each: Callable[[Sequence[Figure]], None] = lambda figures: None,
) -> Table:
    """The table of record files, of folders of them, and of '-' (stdin).

    A folder is read through, its `records` alone where it has such a folder; JSON files that hold
    no record are passed over. A record that is met twice counts once. MembwError: a path that
    cannot be read. `newest_s`: figures older than so many seconds before the newest are left out;
    `each`: is given the figures of every record, those, too.
    """
    table = Table()
    several: list[_Record] = []  # of several ranks: judged together
    known = _Known()
    enough = KEPT_FIGURES

    def take(run: list[_Record], lacking: str) -> None:
        figures = list(_figures(run, lacking))
        table.figures += figures
        if figures:
            each(figures)

    for path in paths:
        try:
            for name, stream, is_named in _files(path, table):
                for record in _read(name, stream, is_named, table):
                    if not known.is_new(hash(record.identity)):
                        continue
                    node, when = record.any.node, record.any.time
                    table.seen[node] = max(table.seen.get(node, 0.0), when)
                    if record.ranks > 1:
                        several.append(record)
                    else:
                        take([record], '')
                    if len(table.figures) > enough:
                        _forget_old(table, newest_s)
                        enough = len(table.figures) * 5 // 4 + KEPT_FIGURES
        except OSError as err:
            fact = f"cannot read '{err.filename or path}': {err.strerror}"
            raise MembwError(fact, 'give files or folders that exist') from err
    for run, lacking in _runs(several):
        take(run, lacking)
    _forget_old(table, newest_s)
    table.figures.sort(key=lambda f: f.time)
    table.lost = list({one._replace(file=''): one for one in table.lost}.values())
    return table


class _Known:
    """Numbers that were seen: 8 bytes each but for the newest, where a set has 70."""

    def __init__(self) -> None:
        self.newest: set[int] = set()
        self.older = array('q')  # sorted

    def is_new(self, number: int) -> bool:
        place = bisect.bisect_left(self.older, number)
        if number in self.newest or self.older[place : place + 1] == array('q', [number]):
            return False
        self.newest.add(number)
        if len(self.newest) > KEPT_FIGURES + len(self.older) // 4:
            self.older = array('q', heapq.merge(self.older, sorted(self.newest)))
            self.newest.clear()
        return True


def _forget_old(table: Table, newest_s: float) -> None:
    begin = max(table.seen.values(), default=0.0) - newest_s
    if begin > 0:
        table.figures = [f for f in table.figures if f.time >= begin]


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
            with naming(file), open(file, 'rb') as stream:
                yield str(file), stream, False
    else:
        with naming(path), open(path, 'rb') as stream:
            if os.path.isfile(path):
                yield str(path), stream, True
            else:
                table.kept_bytes[str(path)] = stream.read()
                yield str(path), io.BytesIO(table.kept_bytes[str(path)]), True


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """One at a time: a year of a large fleet does not fit into memory."""
    for number, line in enumerate(stream):
        yield line.rstrip(b'\n').decode('utf-8' if number else 'utf-8-sig', 'replace')


# what is in the first bytes of a file that has no records, and what is said where it was named
OTHER_FILES = {b'"session_info"': 'a report of ReFrame, not records: give results/records'}


def _is_result(file: Path) -> bool:
    ending = file.suffix in ('.json', '.jsonl') or RESCUED.search(file.name)
    return bool(ending) and file.is_file()


def _read(name: str, stream: IO[bytes], is_named: bool, table: Table) -> 'Iterator[_Record]':
    """The records of one file; what is damaged goes to the table's problems."""
    problems: list[str] = []
    head = stream.read(300)
    stream.seek(0)
    others = (says for sign, says in OTHER_FILES.items() if sign in head)
    if other := next(others, ''):
        table.problems += [f'{name}: {other}'] if is_named else []
        return
    wrong, is_any, is_ours = 0, False, is_named
    for number, line in enumerate(_lines(stream), 1):
        is_ours = is_ours or 'membw-record-' in line
        if line.strip():
            try:
                data = _json(line)
                record = _record(data, name, number, table.provenances)
                table.lost += record.lost
                is_any = True
                if len(table.objects) < KEPT:
                    table.objects[name, number] = data
                if record.figures:
                    yield record
            except BadRecord as err:
                wrong += 1
                problems += [f'{name}:{number}: {err}'] if wrong <= MOST_PROBLEMS else []
    if wrong > MOST_PROBLEMS:
        problems.append(f'{name}: {wrong - MOST_PROBLEMS} more damaged lines')
    if not is_any and wrong != 1:  # of something else not each line is named
        problems = [f'{name}: no record in this file' + ''.join(f' ({p})' for p in problems[:1])]
    table.problems += problems if is_ours else []


def _json(line: str) -> dict:
    try:
        data = json.loads(line, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as err:
        raise BadRecord(f'not JSON: {err.msg} at column {err.colno}') from err
    except (ValueError, RecursionError) as err:  # thousands of digits; nested too deep
        raise BadRecord(f'not a record: {str(err)[:80]}') from err
    if not isinstance(data, dict) or data.get('schema') != SCHEMA:
        raise BadRecord(f"not a record: 'schema' is not '{SCHEMA}'")
    return data


def _once(pairs: list[tuple[str, object]]) -> dict:
    """json takes the last of several."""
    if len(data := dict(pairs)) < len(pairs):
        raise ValueError('a key is given twice')
    return data


def _refuse(word: str) -> None:
    raise ValueError(f'{word} is not a number')


# --- one record ----------------------------------------------------------------------------


def figures_of(data: dict) -> dict[str, Figure]:
    """{metric: Figure} of one record's JSON object. BadRecord: what is wrong with it."""
    return _record(data, '', 1, {}).figures


def headline_of(data: dict) -> str:
    """The metric that stands for a record, by its program; of records before there was a headline,
    and of made ones, the last; '' where nothing was measured."""
    measured = [name for name, row in data['metrics'].items() if row['value'] is not None]
    return data['headline'] if data.get('headline') in measured else ['', *measured][-1]


def headline(figures: Mapping[str, Figure]) -> Figure:
    """The figure of these, by metric, that stands for their record."""
    return next((f for f in figures.values() if f.is_headline), [*figures.values()][-1])


class _Record(NamedTuple):
    """What one rank measured."""

    rank: int
    ranks: int
    figures: dict[str, Figure]  # by metric
    lost: list[Lost]

    @property
    def any(self) -> Figure:
        return next(iter(self.figures.values()))

    @property
    def identity(self) -> tuple:
        """Equal for two copies of one record."""
        values = tuple(figure.value for figure in self.figures.values())
        return self.any.node, self.rank, self.any.time, self.any.benchmark, values


def _record(data: dict, file: str, line: int, provenances: dict[str, dict[str, str]]) -> _Record:
    """BadRecord where the JSON object is not as src/harness/record.schema.json has it."""
    try:
        case = data.get('case') or {}
        names = [_name(case, data, key) for key in NAMES]
        made = provenance.of_json(data, case)
        key = json.dumps(made)
        provenances.setdefault(key, made)
        seconds, invalid = _seconds(data['time']), _invalid(data, case)
        allowed = ' '.join(r['reason'] for r in data.get('reasons') or () if r.get('allowed'))
        system, partition, test, parameters, preset, pinning = names
        whole = Figure(
            night=sys.intern(night_of(seconds)),
            time=seconds,
            node=_host(data['host']) if data['host'] or not data.get('missing') else '',
            system=system,
            partition=partition,
            benchmark=test,
            parameters=parameters,
            preset=preset,
            pinning=pinning,
            verdict=_verdict(data, case, invalid),
            reasons=invalid,
            setting=_setting(data, names, f'{file}:{line}'),
            provenance=sys.intern(key),
            file=file,
            line=line,
            allowed=allowed,
            pair_ns=latency(data),
            word=sys.intern(printable(str(data.get('word') or ''))),
            why=printable(str(data.get('why') or '')),
        )
        stands = headline_of(data)
        figures = {
            name: _figure(whole, name, row, case)._replace(is_headline=name == stands)
            for name, row in data['metrics'].items()
            if row['value'] is not None
        }
        lost = [_lost(whole, case, row) for row in data.get('missing') or ()]
        if not figures and not lost:
            raise BadRecord("'metrics' is empty: nothing was measured")
        return _Record(_count(data, 'rank', 0), _count(data, 'ranks', 1), figures, lost)
    except KeyError as err:
        raise BadRecord(f"'{err.args[0]}' is missing") from err
    except BadRecord:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError, LookupError) as err:
        raise BadRecord(f'not as in the schema: {printable(str(err))[:100]}') from err


def _lost(whole: Figure, case: dict, row: dict) -> Lost:
    one = Missing(**{name: row[name] for name in Missing._fields})
    kept = {name: getattr(whole, name) for name in Lost._fields if name in Figure._fields}
    session = str(case.get('session') or '')
    return Lost(**kept, session=session, died=bool(one.died), text=printable(one.text))


NAMES = ('system', 'partition', 'test', 'parameters', 'preset', 'pinning')


def _name(case: dict, data: dict, key: str) -> str:
    """A field of `case`; without a case the program stands for the test."""
    value = provenance.build_of(data, case)['preset'] if key == 'preset' else case.get(key)
    if key == 'test' and not value:
        value = data['program']
    if isinstance(value, dict):
        value = ' '.join(f'{k}={v}' for k, v in value.items())
    if not isinstance(value, str | None):
        raise BadRecord(f"'{key}' of 'case' is {printable(str(value))[:40]}")
    return sys.intern(printable(value or ''))


def _host(host: object) -> str:
    if not isinstance(host, str) or not HOST.fullmatch(host) or host.upper() == 'ALL':
        raise BadRecord(f"'host' is not the name of a node: {ascii(host)[:80]}")
    return sys.intern(host)


def _count(data: dict, key: str, least: int) -> int:
    value = data.get(key, least)
    if type(value) is not int or not least <= value < 2**31:
        raise BadRecord(f"'{key}' is {ascii(value)[:40]}")
    return value


@lru_cache(1000)
def _seconds(text: str) -> float:
    """Refuses a time in the future: a node's wrong clock would make all other results old."""
    seconds = datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()
    if not 0 <= seconds < time.time() + AHEAD_S:
        raise BadRecord(f"'time' is later than today: {printable(text)[:40]}")
    return seconds


def _figure(whole: Figure, name: str, row: dict, case: dict) -> Figure:
    """`whole` with one metric, its reference and its known issue."""
    if not METRIC.fullmatch(name):
        raise BadRecord(f'not the name of a metric: {ascii(name)[:80]}')
    unit, better = row['unit'], row['better']
    if printable(unit) != unit or better not in (HIGHER, LOWER):
        raise BadRecord(f"'{name}' has unit {ascii(unit)[:20]}, better {ascii(better)[:20]}")
    unit, divisor = SHOWN_AS.get(unit, (unit, 1.0))
    value = _number(name, row['value'])
    if not value > 0:
        raise BadRecord(f"'{name}' is {value:g} {row['unit']}")
    ends = [_number(name, row[end]) for end in ('low', 'high') if row.get(end) is not None]
    low, high = [end / divisor for end in ends] if len(ends) == 2 else (None, None)
    figure = whole._replace(
        metric=sys.intern(name),
        value=value / divisor,
        low=low,
        high=high,
        is_bound=row.get('bound') is not None,
        bound=row.get('bound') or '',
        unit=sys.intern(unit),
        better=sys.intern(better),
        known_issue=str((case.get('known_issues') or {}).get(name, '')),
    )
    stored = ((case.get('references') or {}).get(name) or (None,) * 3)[:3]
    reference, least, most = (None if x is None else _number(name, x) for x in stored)
    if not reference:  # ReFrame passes a reference of 0
        return figure
    return figure._replace(reference=reference / divisor, reference_low=least, reference_high=most)


def _number(name: str, value: object) -> float:
    """1e18 of any unit is no measurement."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        raise BadRecord(f"'{name}' is {ascii(value)[:40]}, not a number")
    return float(value)


def _invalid(data: dict, case: dict) -> str:
    """Why the figures are wrong, '' where they are not: by the program, or by the check.

    A case says so of its own record only: a check of many nodes writes a verdict per record.
    """
    reasons = [
        ' '.join(filter(None, (r['reason'], f'({r["detail"]})' if r.get('detail') else '')))
        for r in data.get('reasons') or ()
        if not r.get('allowed')
    ]
    if case.get('verdict') == 'INVALID':
        reasons = case.get('reasons') or reasons
        reasons = [reasons] if isinstance(reasons, str) else reasons
    elif data['verdict'] == 'VALID':
        ok = (data.get('validation') or {}).get('ok', True) is True
        reasons = reasons or ['exit status 1'] * (data.get('exit_status', 0) != 0)
        reasons = reasons if ok else ['not-validated']
        return f"{printable(reasons[0])} (the record's verdict contradicts it)" if reasons else ''
    return printable('; '.join(map(str, reasons))) or 'no reason given'


def _verdict(data: dict, case: dict, invalid: str) -> str:
    """UNDECIDED where that is the program's word, and the check found nothing else."""
    if data['verdict'] == 'UNDECIDED' and case.get('verdict') != 'INVALID':
        return 'UNDECIDED'
    return 'INVALID' if invalid else 'VALID'


# what else must be equal before figures are compared; of `build` and `facts` first
COMPARED = ('program', 'language', 'kernels_set', 'element_bytes', 'mode', 'precision', 'threads')


def _setting(data: dict, names: Sequence[str], place: str) -> str:
    """'system=thin test=stream ... cpu_model=EPYC 7742': only equal ones are compared.

    Options that were given belong to it; the array size that the program chose does not. Without
    a preset the code stands for the build; where neither is known, `place` does: such a record is
    compared with no other.
    """
    facts, build = data.get('facts') or {}, data.get('build') or {}
    runtime = data.get('runtime') or {}
    fields: dict = dict(zip(NAMES, names, strict=True))
    if not fields['preset']:
        code = provenance.build_of(data, data.get('case') or {}).get('code_sha256')
        fields['build'] = code or f'unknown, {place}'
    fields |= {key: data.get(key) for key in COMPARED}
    if data.get('array_size_from') == 'option':
        fields['array_size'] = data.get('array_size')
    fields['ntimes'] = data.get('ntimes') or None
    fields['wait_policy'] = runtime.get('wait_policy')
    fields['pages'] = provenance.requested_pages(data)
    fields['shapes'] = provenance.shapes(data)
    fields['cpu_model'] = facts.get('cpu_model')
    fields |= {key: build.get(key) for key in ('compiler', 'flags')}
    parts = (f'{k}={v}' for k, v in fields.items() if v not in (None, ''))
    return sys.intern(printable(' '.join(parts)))


def conditions(figure: Figure) -> str:
    """Its setting without the compiler: what a history goes on with when the compiler changes."""
    return figure.setting.partition(' compiler=')[0]


# --- one run of one node -------------------------------------------------------------------


def _runs(records: Iterable[_Record]) -> Iterator[tuple[list[_Record], str]]:
    """(the ranks of one node in one run, why these are INVALID: '', or a rank is missing).

    Records belong to one run when they lie in one file, or were written within 15 minutes, and
    none has the same rank. A node lacks ranks where its run has fewer records than ranks, and it
    has fewer than another node of the run.
    """
    jobs: dict[tuple, list[_Record]] = defaultdict(list)
    several = [record for record in records if record.ranks > 1]
    yield from (([record], '') for record in records if record.ranks == 1)
    per_file = Counter((record.any.file, record.any.setting) for record in several)
    for record in several:
        setting, file = record.any.setting, record.any.file
        jobs[setting, record.ranks, file if per_file[file, setting] > 1 else ''].append(record)
    for same in jobs.values():
        for job in _jobs(sorted(same, key=lambda r: r.any.time)):
            nodes: dict[str, list[_Record]] = defaultdict(list)
            for record in sorted(job, key=lambda r: r.rank):
                nodes[record.any.node].append(record)
            most = max(map(len, nodes.values()))
            for run in nodes.values():
                is_short = len(job) < run[0].ranks and len(run) < most
                text = f'ranks-missing ({len(run)} of {most} ranks of this node)'
                yield run, text if is_short else ''


def _jobs(records: list[_Record]) -> Iterator[list[_Record]]:
    """Split where a rank comes again, or too late."""
    job: list[_Record] = []
    for record in records:
        is_late = job and record.any.time - job[0].any.time > ONE_RUN_S
        if is_late or record.rank in {r.rank for r in job}:
            yield job
            job = []
        job.append(record)
    if job:
        yield job


def _figures(run: list[_Record], lacking: str) -> Iterator[Figure]:
    """Of the metrics that every rank measured: rates add up, of all else the mean counts."""
    order = ('INVALID', 'UNDECIDED', 'VALID')
    worst = min((record.any for record in run), key=lambda f: order.index(f.verdict))
    allowed = next(filter(None, (record.any.allowed for record in run)), '')
    for name, first in run[0].figures.items():
        same = [record.figures[name] for record in run if name in record.figures]
        if len(same) < len(run):
            continue
        total = sum if first.better == HIGHER and first.unit.endswith('/s') else statistics.fmean
        is_bound = any(f.is_bound for f in same)
        bounds = {f.bound for f in same if f.bound}
        lows = [f.low for f in same if f.low is not None and not is_bound]
        highs = [f.high for f in same if f.high is not None and not is_bound]
        yield first._replace(
            value=total(f.value for f in same),
            low=total(lows) if len(lows) == len(same) else None,
            high=total(highs) if len(highs) == len(same) else None,
            is_bound=is_bound,
            bound='unknown' if len(bounds) > 1 else ''.join(bounds),
            verdict='INVALID' if lacking else worst.verdict,
            reasons=lacking or worst.reasons,
            allowed=allowed,
        )
