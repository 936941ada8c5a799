"""The one table of results, made from the record files: a row per node, run and metric.

Plain json and tuples read 20,000 records of 4.5 kB in 3 s of one core, half of it json itself;
for that half alone DuckDB took 0.7 s and 240 MB, Polars 2.4 s. A year of 100 nodes (36,000
records) is some 5 s: a library would save 2 s, and names no damaged line.
"""

import json
import os
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from membw.errors import MembwError
from membw.files import naming, unreadable_folders
from membw.moments import utc
from membw.printable import printable
from membw.results import provenance

SCHEMA = 'membw-record-2'
HIGHER, LOWER = 'higher', 'lower'
# the same measurement started in the evening and after midnight is of one night: noon to noon
NOON_S = 12 * 3600
ONE_RUN_S = 900  # ranks of one run write their records within so many seconds
MOST_PROBLEMS = 100  # lines named per file
AHEAD_S = 86_400  # a clock may be so much ahead of this machine's
SHOWN_AS = {'MB/s': ('GB/s', 1000.0), 'B/s': ('GB/s', 1e9)}
# RFC 1123, and the underscore of some sites: a name that a scheduler, a shell and a node-check
# file read as one name
HOST = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]*')
METRIC = re.compile(r'[A-Za-z0-9_.+:/@%-]+')
RESCUED = re.compile(r'\.rank-\d+$')  # what a rank saved by itself


class Figure(NamedTuple):
    """One metric of one node in one run."""

    night: str = ''  # '2026-11-23': the UTC day of the noon that ends it
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
    is_bound: bool = False  # the value is a lower bound of the rate, no estimate
    unit: str = ''  # bandwidth: GB/s
    better: str = HIGHER  # HIGHER or LOWER
    verdict: str = 'VALID'  # VALID or INVALID
    reasons: str = ''  # why it is INVALID
    reference: float | None = None  # in `unit`
    reference_low: float | None = None  # fractions of it, as ReFrame's: -0.05; None: open
    reference_high: float | None = None
    setting: str = ''  # figures are compared within one setting only
    provenance: str = ''  # key of Table.provenance
    file: str = ''
    line: int = 0  # of the first rank's record, from 1
    known_issue: str = ''  # why it is expected to miss its reference
    allowed: str = ''  # reasons for INVALID that --allow set aside: no reference, no acceptance


class BadRecord(ValueError):
    """What is wrong with a line."""


class Table:
    """`figures` in order of time, and `problems`: 'file:line: what' of each damaged record."""

    def __init__(self, provenances: dict[str, dict[str, str]], texts: dict[str, str]) -> None:
        self.figures: list[Figure] = []
        self.problems: list[str] = []
        self._provenances = provenances
        self._texts = texts  # of what cannot be read a second time: pipes, stdin

    def provenance(self, figure: Figure) -> dict[str, str]:
        """{field: value} of what the figure was built and run with (results/provenance.py)."""
        return self._provenances[figure.provenance]

    def record(self, figure: Figure) -> dict:
        """The JSON object of the (first) record that the figure comes from."""
        text = self._texts.get(figure.file)
        if text is None:
            text = Path(figure.file).read_bytes().decode('utf-8-sig', 'replace')
        return json.loads(text.split('\n')[figure.line - 1])


def read_table(paths: Sequence[str]) -> Table:
    """The table of record files, of folders of them, and of '-' (stdin).

    A folder is read through, its `records` alone where it has such a folder; JSON files that hold
    no record are passed over. A record that is met twice counts once. MembwError: a path that
    cannot be read.
    """
    provenances: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    table = Table(provenances, texts)
    rows: list[_Row] = []
    seen: set[tuple] = set()
    for path in paths:
        try:
            for name, text, is_named in _texts(path, table.problems):
                if path == '-' or not os.path.isfile(name):
                    texts[name] = text
                found = _read(name, text, is_named, provenances, table.problems)
                rows += [row for row in found if row.identity not in seen]
                seen.update(row.identity for row in found)
        except OSError as err:
            fact = f"cannot read '{err.filename or path}': {err.strerror}"
            raise MembwError(fact, 'give files or folders that exist') from err
    for run in _runs(rows):
        table.figures += _figures(run)
    table.figures.sort(key=lambda f: f.time)
    return table


# --- files ---------------------------------------------------------------------------------


def _texts(path: str, problems: list[str]) -> Iterator[tuple[str, str, bool]]:
    """(name, text, whether the path names this file itself)."""
    if path == '-':
        yield 'stdin', sys.stdin.buffer.read().decode('utf-8-sig', 'replace'), True
    elif Path(path).is_dir():
        folder = Path(path, 'records') if Path(path, 'records').is_dir() else Path(path)
        problems += unreadable_folders(folder)
        for file in sorted(f for f in folder.rglob('[!.]*') if _is_result(f)):
            with naming(file):
                yield str(file), file.read_bytes().decode('utf-8-sig', 'replace'), False
    else:
        with naming(path), open(path, 'rb') as stream:
            yield str(path), stream.read().decode('utf-8-sig', 'replace'), True


def _is_result(file: Path) -> bool:
    ending = file.suffix in ('.json', '.jsonl') or RESCUED.search(file.name)
    return bool(ending) and file.is_file()


def _read(
    name: str,
    text: str,
    is_named: bool,
    provenances: dict[str, dict[str, str]],
    problems: list[str],
) -> 'list[_Row]':
    """The records of one file; what is damaged goes to `problems`."""
    if '"session_info"' in text[:300]:
        if is_named:
            problems.append(f'{name}: a report of ReFrame, not records: give results/records')
        return []
    if not is_named and 'membw-record-' not in text:
        return []
    rows, wrong = [], []
    for number, line in enumerate(text.split('\n'), 1):
        if line.strip():
            try:
                rows.append(_row(_json(line), name, number, provenances))
            except BadRecord as err:
                wrong.append(f'{name}:{number}: {err}')
    problems += wrong[:MOST_PROBLEMS]
    if len(wrong) > MOST_PROBLEMS:
        problems.append(f'{name}: {len(wrong) - MOST_PROBLEMS} more damaged lines')
    if not rows and not wrong:
        problems.append(f'{name}: no record in this file')
    return rows


def _json(line: str) -> dict:
    try:
        data = json.loads(line, parse_constant=_refuse)
    except json.JSONDecodeError as err:
        raise BadRecord(f'not JSON: {err.msg} at column {err.colno}') from err
    except (ValueError, RecursionError) as err:  # thousands of digits; nested too deep
        raise BadRecord(f'not a record: {str(err)[:80]}') from err
    if not isinstance(data, dict) or data.get('schema') != SCHEMA:
        raise BadRecord(f"not a record: 'schema' is not '{SCHEMA}'")
    return data


def _refuse(word: str) -> None:
    raise ValueError(f'{word} is not a number')


# --- one record ----------------------------------------------------------------------------


class _Row(NamedTuple):
    """One record: what one rank measured."""

    host: str
    rank: int
    ranks: int
    time: float
    references: dict[str, tuple]  # metric -> (value, low, high)
    known_issues: dict[str, str]  # metric -> why
    metrics: dict[str, tuple]  # metric -> (value, low, high, is_bound, unit, better)
    invalid: str
    allowed: str
    setting: str
    names: tuple[str, str, str, str, str, str]  # system .. pinning of Figure
    provenance: str
    file: str
    line: int

    @property
    def identity(self) -> tuple:
        """Equal for two copies of one record."""
        values = tuple(row[0] for row in self.metrics.values())
        return self.host, self.rank, self.time, self.names[2], values


def _row(data: dict, file: str, line: int, provenances: dict[str, dict[str, str]]) -> _Row:
    """BadRecord where the JSON object is not as src/harness/record.schema.json has it."""
    try:
        case = data.get('case') or {}
        names = [_name(case, data, key) for key in NAMES]
        made = provenance.of_json(data, case)
        key = json.dumps(made)
        provenances.setdefault(key, made)
        return _Row(
            host=_host(data['host']),
            rank=_count(data, 'rank', 0),
            ranks=_count(data, 'ranks', 1),
            time=_seconds(data['time']),
            references=_references(case.get('references') or {}, data['metrics']),
            known_issues={m: str(t) for m, t in (case.get('known_issues') or {}).items()},
            metrics=_metrics(data['metrics']),
            invalid=_invalid(data, case),
            allowed=' '.join(r['reason'] for r in data.get('reasons') or () if r.get('allowed')),
            setting=_setting(data, names),
            names=(names[0], names[1], names[2], names[3], names[4], names[5]),
            provenance=sys.intern(key),
            file=file,
            line=line,
        )
    except KeyError as err:
        raise BadRecord(f"'{err.args[0]}' is missing") from err
    except BadRecord:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError, LookupError) as err:
        raise BadRecord(f'not as in the schema: {printable(str(err))[:100]}') from err


NAMES = ('system', 'partition', 'test', 'parameters', 'preset', 'pinning')


def _name(case: dict, data: dict, key: str) -> str:
    """A field of `case`; without a case the program stands for the test."""
    value = case.get('environ' if key == 'preset' else key)
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
    return host


def _count(data: dict, key: str, least: int) -> int:
    value = data.get(key, least)
    if type(value) is not int or not least <= value < 2**31:
        raise BadRecord(f"'{key}' is {ascii(value)[:40]}")
    return value


@lru_cache(1000)
def _seconds(text: str) -> float:
    """A node whose clock is ahead would make all other results old."""
    seconds = datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()
    if not 0 <= seconds < time.time() + AHEAD_S:
        raise BadRecord(f"'time' is later than today: {printable(text)[:40]}")
    return seconds


def _metrics(rows: dict) -> dict[str, tuple]:
    """Those that have a value; BadRecord where none has, or one is no positive number."""
    metrics = {name: _metric(name, row) for name, row in rows.items() if row['value'] is not None}
    if not metrics:
        raise BadRecord("'metrics' is empty: nothing was measured")
    return metrics


def _metric(name: str, row: dict) -> tuple:
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
    is_bound = row.get('bound') == 'lower'
    return value / divisor, low, high, is_bound, sys.intern(unit), sys.intern(better)


def _number(name: str, value: object) -> float:
    """1e300 is no measurement; sums of larger figures would overflow."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise BadRecord(f"'{name}' is {ascii(value)[:40]}, not a number")
    return float(value)


def _references(rows: dict, metrics: dict) -> dict[str, tuple]:
    """metric -> (value, low, high), in the table's unit; none of 0, which ReFrame passes."""
    references = {}
    for metric in rows.keys() & metrics.keys():
        value, low, high = (None if x is None else _number(metric, x) for x in rows[metric][:3])
        if value:
            divisor = SHOWN_AS.get(metrics[metric]['unit'], ('', 1.0))[1]
            references[metric] = value / divisor, low, high
    return references


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
        ok = (data.get('validation') or {}).get('ok', True)
        reasons = [] if ok else ["not-validated (the record's verdict contradicts it)"]
        return reasons[0] if reasons else ''
    return printable('; '.join(map(str, reasons))) or 'no reason given'


# what else must be equal before figures are compared; of `build` and `facts` first
COMPARED = ('program', 'language', 'kernels_set', 'element_bytes', 'mode', 'precision', 'threads')


def _setting(data: dict, names: Sequence[str]) -> str:
    """'system=thin test=stream ... cpu_model=EPYC 7742': only equal ones are compared.

    Options that were given belong to it; the array size that the program chose does not.
    """
    build, facts = data.get('build') or {}, data.get('facts') or {}
    runtime, pages = data.get('runtime') or {}, data.get('pages') or {}
    fields: dict = dict(zip(NAMES, names, strict=True))
    fields |= {key: data.get(key) for key in COMPARED}
    if data.get('array_size_from') == 'option':
        fields['array_size'] = data.get('array_size')
    fields['ntimes'] = data.get('ntimes') or None
    fields['wait_policy'], fields['pages'] = runtime.get('wait_policy'), pages.get('asked')
    fields['shapes'] = provenance.shapes(data)
    fields['cpu_model'] = facts.get('cpu_model')
    fields |= {key: build.get(key) for key in ('compiler', 'flags')}
    parts = (f'{k}={v}' for k, v in fields.items() if v not in (None, ''))
    return sys.intern(printable(' '.join(parts)))


def conditions(figure: Figure) -> str:
    """Its setting without the compiler: what a history goes on with when the compiler changes."""
    return figure.setting.partition(' compiler=')[0]


# --- one run of one node -------------------------------------------------------------------


def _runs(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """The ranks of one node in one run together; a node that lacks a rank is INVALID.

    Records belong to one run when they lie in one file, or were written within 15 minutes, and
    none has the same rank. A node lacks ranks where its run has fewer records than ranks, and it
    has fewer than another node of the run.
    """
    jobs: dict[tuple, list[_Row]] = defaultdict(list)
    per_file = Counter((row.file, row.setting) for row in rows)
    for row in rows:
        if row.ranks == 1:
            yield [row]
        else:
            file = row.file if per_file[row.file, row.setting] > 1 else ''
            jobs[row.setting, row.ranks, file].append(row)
    for same in jobs.values():
        for job in _jobs(sorted(same, key=lambda r: r.time)):
            nodes: dict[str, list[_Row]] = defaultdict(list)
            for row in sorted(job, key=lambda r: r.rank):
                nodes[row.host].append(row)
            most = max(map(len, nodes.values()))
            for run in nodes.values():
                if len(job) < run[0].ranks and len(run) < most:
                    text = f'ranks-missing ({len(run)} of {most} ranks of this node)'
                    run = [row._replace(invalid=row.invalid or text) for row in run]
                yield run


def _jobs(rows: list[_Row]) -> Iterator[list[_Row]]:
    """Split where a rank comes again, or too late."""
    job: list[_Row] = []
    for row in rows:
        if job and (row.time - job[0].time > ONE_RUN_S or row.rank in {r.rank for r in job}):
            yield job
            job = []
        job.append(row)
    if job:
        yield job


def _figures(run: list[_Row]) -> Iterator[Figure]:
    """Of the metrics that every rank measured: rates add up, of all else the mean counts."""
    first = run[0]
    invalid = next((row.invalid for row in run if row.invalid), '')
    night = utc(first.time + NOON_S)[:10]
    for metric in first.metrics:
        rows = [row.metrics[metric] for row in run if metric in row.metrics]
        if len(rows) < len(run):
            continue
        *_, unit, better = rows[0]
        total = sum if better == HIGHER and unit.endswith('/s') else statistics.fmean
        is_bound = any(row[3] for row in rows)
        ends = [[row[i] for row in rows] for i in (1, 2)]
        low, high = (None if is_bound or None in end else total(end) for end in ends)
        reference, least, most = first.references.get(metric, (None, None, None))
        yield Figure(
            night,
            first.time,
            first.host,
            *first.names,
            metric=metric,
            value=total([row[0] for row in rows]),
            low=low,
            high=high,
            is_bound=is_bound,
            unit=unit,
            better=better,
            verdict='INVALID' if invalid else 'VALID',
            reasons=invalid,
            reference=reference,
            reference_low=least,
            reference_high=most,
            setting=first.setting,
            provenance=first.provenance,
            file=first.file,
            line=first.line,
            known_issue=first.known_issues.get(metric, ''),
            allowed=next((row.allowed for row in run if row.allowed), ''),
        )
