"""A record: what one process measured, declared once, and the one reader of it.

The declaration is what every command goes by: msgspec checks each type while it reads.
src/harness/record.schema.json is the programs' side: it has their evidence, too, which is read by
`evidence` where a picture or a sentence needs it.
"""

import hashlib
import json
import re
import time
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from membw import strict
from membw.printable import printable
from membw.results.ledger import Missing
from membw.strict import Damaged
from membw.words import VALID, WORST_FIRST

SCHEMA = 'membw-record-2'
REFRAME = 'reframe'  # the `program` of a site's own test (results/site_tests.py)
HIGHER: Literal['higher'] = 'higher'
LOWER: Literal['lower'] = 'lower'
# of a whole record, by who judged it then (membw/words.py). A set of values that shrinks is a new
# SCHEMA; the words of membw before 1.1 have the number of ours, and mean these
EARLIER_WORDS = {
    'FIT': 'PASS', 'SLOW': 'FAIL', 'SUSPECT': 'UNDECIDED', 'NOT JUDGED': 'UNDECIDED',
    'DEAD': 'DIED', 'NOT MEASURED': 'MISSING',
}  # fmt: skip
AHEAD_S = 86_400  # a clock may be so much ahead of this machine's
CLOCK_S = 120  # by less no clock is off
# RFC 1123, and the underscore of some sites: a name that a scheduler, a shell and a node-check
# file read as one name
HOST = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,252}')
# of other tests: nodes that measured together, as hostlist.fold names them
SET = re.compile(r'[A-Za-z0-9][A-Za-z0-9._,\[\]-]*')
METRIC = re.compile(r'[A-Za-z0-9_.+:/@%-]+')
# {rate of bytes: its factor to GB/s, in which rates are shown and compared}
RATES = {
    f'{prefix}B/s': factor / 1e9
    for prefix, factor in {
        '': 1.0, 'k': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12,
        'Ki': 2.0**10, 'Mi': 2.0**20, 'Gi': 2.0**30, 'Ti': 2.0**40,
    }.items()
}  # fmt: skip
# other ways to write one: bits, or what nobody knows how to read
ODD_RATE = re.compile(r'.{0,2}(b|B|bit|byte|bytes|Byte|Bytes)(/s|ps|/sec)', re.I)

# 1e18 of any unit is no measurement
Number = Annotated[float, Meta(gt=-1e18, lt=1e18)]
Positive = Annotated[float, Meta(gt=0, lt=1e18)]
Count = Annotated[int, Meta(ge=0, lt=2**31)]
Text = str | None


class Metric(Struct, frozen=True):
    """A figure; `bound`: the value is no estimate, but a bound of the true figure."""

    value: Positive | None  # None: not a finite number
    unit: str
    better: Literal['higher', 'lower']
    low: Number | None = None  # with high: where a rerun is expected
    high: Number | None = None
    bound: Literal['lower', 'upper', 'unknown'] | None = None
    series: str = ''  # of a point of a curve or a map: which one,
    at: dict[str, float | str] | None = None  # and where: {'threads': 8}, {'bytes': 4096}

    def __post_init__(self) -> None:
        ends = self.low, self.value, self.high
        known = [end for end in ends if end is not None]
        if known != sorted(known) and not self.bound:
            raise ValueError(f"not 'low' <= 'value' <= 'high': {known}"[:80])


class Finding(Struct, frozen=True):
    reason: str
    detail: str = ''
    allowed: bool = False


class Validation(Struct, frozen=True):
    ok: bool = True
    wrong_elements: int = 0


class Module(Struct, frozen=True):
    """A memory module; speeds in MT/s."""

    size_mib: int | None = None
    rated_mts: int | None = None
    configured_mts: int | None = None
    type: Text = None


class Facts(Struct, frozen=True):
    """What a node is; None is not known."""

    cpu_model: Text = None
    kernel: Text = None
    boot_id: Text = None  # of this boot of the machine, whatever its name
    microcode: Text = None
    board_vendor: Text = None
    board_name: Text = None
    bios_version: Text = None
    bios_date: Text = None
    thp: Text = None
    numa_balancing: Text = None
    governor: Text = None
    clock_source: Text = None
    smt: Text = None
    cpus: int | None = None
    cores: int | None = None
    sockets: int | None = None
    numa_nodes: int | None = None
    memory_channels: int | None = None
    memory_sockets: int | None = None
    mem_total_mib: float | None = None
    freq_max_khz: float | None = None
    dimms: tuple[Module, ...] = ()
    dimms_are_virtual: bool = False
    cpu_id: dict[str, str | bool | None] = {}
    # of `membw node`
    cpus_allowed: int | None = None
    uncore_max_khz: float | None = None


class Build(Struct, frozen=True):
    compiler: Text = None
    flags: Text = None
    compile_line: Text = None
    preset: Text = None
    built_with: Text = None
    source_sha256: Text = None
    code_sha256: Text = None
    binary_sha256: Text = None
    spack_hash: Text = None


class Peak(Struct, frozen=True):
    value: float | None = None
    unit: str = 'GB/s'


class Pages(Struct, frozen=True):
    requested: Text = None
    asked: Text = None  # of membw 1.0.0
    huge_mib: float | None = None


class Placement(Struct, frozen=True):
    policy: Text = None
    pages_sampled: int = 0
    pages_misplaced: int = 0


class Process(Struct, frozen=True):
    name: str
    cpu_s: float = 0.0


class Busy(Struct, frozen=True):
    """Shares of the node's CPUs that other processes used meanwhile."""

    other_share: float | None = None
    stolen_share: float | None = None
    processes: tuple[Process, ...] = ()


class Runtime(Struct, frozen=True):
    wait_policy: Text = None


class Shape(Struct, frozen=True):
    m: int
    n: int
    k: int


class Device(Struct, frozen=True):
    """A card (GPU), of src/device."""

    name: Text = None
    index: Annotated[int, Meta(ge=0, lt=4096)] = 0  # on its node
    count: Annotated[int, Meta(ge=0, lt=4096)] = 0  # cards of its node; 0: not known
    uuid: Text = None
    driver: Text = None
    memory_mib: float = 0
    ecc: bool | None = None


class Thread(Struct, frozen=True):
    affinity: str | int


class FromCheck(Build, frozen=True):
    """What the ReFrame check adds: which test case it was, its references; what it knows of the
    build."""

    test: str = ''
    system: Text = ''
    partition: Text = ''
    scheduler: Text = ''  # as ReFrame names it
    environ: Text = ''
    pinning: Text = ''
    # {name: value}; of membw 1.0.0 and of other tests as ReFrame displays it: '%name=value'
    parameters: dict[str, str] | Text = ''
    verdict: str = ''
    reasons: tuple[str, ...] | str = ()
    # as ReFrame's: value, and the fractions below and above that pass; a unit may follow
    references: dict[str, tuple[float | str | None, ...]] | None = None
    known_issues: dict[str, str] | None = None
    session: Text = ''
    measurement: int = 0  # of a run of a whole cluster: 0 first, from 1 on the further ones
    # when its job was submitted and its record read: by one clock, where those of nodes differ
    submitted: Text = None
    taken: Text = None

    def __post_init__(self) -> None:
        for name, row in (self.references or {}).items():
            if not row or any(isinstance(x, str) or abs(x or 0) > 1e18 for x in row[:3]):
                raise ValueError(f"the reference of '{name}' is {list(row)}"[:80])


class Part(Struct, frozen=True):
    """One launch of the battery of `membw node`."""

    name: str
    record: 'Record | None'
    why: str  # why it did not come to a valid end; '' where it did
    died: bool


# parts of a record that many records have alike
SHARED = (
    'case', 'facts', 'build', 'threads_on', 'peak', 'pages', 'validation', 'runtime',
    'placement_before', 'placement_after',
)  # fmt: skip


class Record(Struct):
    """One JSON object on one line."""

    schema: Literal['membw-record-2']
    program: Annotated[str, Meta(min_length=1)]
    host: str
    time: str
    metrics: dict[str, Metric]
    verdict: Literal['VALID', 'INVALID', 'UNDECIDED']
    version: Text = None
    cluster: Text = None  # of Slurm, in whose job it was measured
    reasons: tuple[Finding, ...] = ()
    rank: Count = 0
    ranks: Annotated[int, Meta(ge=1, lt=2**31)] = 1
    ranks_on_node: Count = 0  # 0: not known
    threads: int | None = None
    headline: Text = None
    exit_status: int = 0
    validation: Validation | None = None
    peak: Peak | None = None
    missing: tuple[Missing, ...] = ()
    case: FromCheck = FromCheck()
    facts: Facts = Facts()
    build: Build = Build()
    # what has to be equal before figures are compared, and what explains that they differ
    kernels_set: Text = None
    language: Text = None
    element_bytes: int | str | None = None
    mode: Text = None
    precision: Text = None
    array_size: int | None = None
    array_size_from: Text = None
    ntimes: int | None = None
    bodies: int | None = None
    pages: Pages | None = None
    busy: Busy | None = None
    placement_before: Placement | None = None
    placement_after: Placement | None = None
    runtime: Runtime | None = None
    shapes: dict[str, Shape] | None = None
    device: Device | None = None
    threads_on: tuple[Thread, ...] = ()
    # of `membw node`
    word: str = ''
    why: str = ''
    counted: dict[str, float] | None = None
    parts: tuple[Part, ...] = ()
    sha256: Text = None  # the last key: of all that stands before it

    def __post_init__(self) -> None:
        """Checks what a type cannot say, and keeps no byte of the line."""
        is_ours = self.program != REFRAME
        if self.host or not self.missing:
            check_host(self.host, HOST if is_ours else SET)
        for name, metric in self.metrics.items():
            check_metric(name, metric.unit)
            if is_ours and metric.unit not in RATES and ODD_RATE.fullmatch(metric.unit):
                raise ValueError(f"'{name}' has the unit {ascii(metric.unit)[:20]}")
        self.word = EARLIER_WORDS.get(self.word, self.word)
        if self.word and self.word not in WORST_FIRST:
            raise ValueError(f"'word' is {ascii(self.word)[:40]}: of a newer membw?")
        for name in SHARED:
            setattr(self, name, _shared(getattr(self, name)))

    @property
    def affinities(self) -> str:
        """'0 1 2': where each thread may run; '' where it is not said."""
        return ' '.join(str(thread.affinity) for thread in self.threads_on)

    @property
    def clock_off_s(self) -> float:
        """How far ahead its node's clock is at least; 0: it may be right."""
        off = seconds_of(self.time) - self.seconds
        return off if abs(off) > CLOCK_S else 0.0

    @property
    def seconds(self) -> float:
        """Since 1970."""
        seconds = seconds_of(self.time)
        if self.case.submitted:
            seconds = max(seconds, seconds_of(self.case.submitted))
        if self.case.taken:
            seconds = min(seconds, seconds_of(self.case.taken))
        if not 0 <= seconds < time.time() + AHEAD_S:
            raise Damaged(
                f"'time' is later than today, or before 1970: {printable(self.time)[:40]}"
            )
        return seconds

    @property
    def allowed(self) -> str:
        """Reasons for INVALID that --allow set aside."""
        return ' '.join([r.reason for r in self.reasons if r.allowed])

    @property
    def cards(self) -> list['Record']:
        """Those of its parts that are of a card (GPU): each is judged among cards."""
        return [part.record for part in self.parts if part.record and part.record.device]

    @property
    def measured(self) -> dict[str, Metric]:
        return {name: m for name, m in self.metrics.items() if m.value is not None}

    @property
    def stands(self) -> str:
        """The metric that stands for the record: the headline, else the last; '' of none."""
        known = (n for n in (self.headline, *reversed(self.metrics)) if n in self.metrics)
        return next((n for n in known if self.metrics[n].value is not None), '')


_RECORD = msgspec.json.Decoder(Record)
_encode = msgspec.json.Encoder().encode
_same: dict[bytes, Any] = {}


def _shared(part: Any) -> Any:
    """One object for equal ones: a year of records has few."""
    if len(_same) > 10_000:
        _same.clear()
    return _same.setdefault(_encode(part), part)


@lru_cache(100_000)
def check_host(host: str, form: re.Pattern[str]) -> None:
    if not form.fullmatch(host) or host.upper() == 'ALL':
        raise ValueError(f"'host' is not the name of a node: {ascii(host)[:80]}")


@lru_cache(10_000)
def check_metric(name: str, unit: str) -> None:
    if not METRIC.fullmatch(name):
        raise ValueError(f'not the name of a metric: {ascii(name)[:80]}')
    if not unit or printable(unit) != unit:
        raise ValueError(f"'{name}' has the unit {ascii(unit)[:20]}")


def is_set(host: str) -> bool:
    """Of a site's own test that ran on several nodes: none of them is judged by it."""
    return bool(host) and not HOST.fullmatch(host)


def in_common(unit: str) -> tuple[str, float]:
    """(unit in which it is shown and compared, factor)."""
    factor = RATES.get(unit)
    return (unit, 1.0) if factor is None else ('GB/s', factor)


@lru_cache(10_000)
def seconds_of(text: str) -> float:
    """Since 1970."""
    try:
        return datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()
    except (ValueError, OverflowError) as err:
        raise Damaged(f"'time' is {printable(text)[:40]}") from err


# --- reading -------------------------------------------------------------------------------


def read_record(line: bytes) -> Record:
    """The record of a line, whatever bytes it has. Damaged: what is wrong with it, by field."""
    return _read_dated(line)[0]


def evidence(line: bytes) -> dict[str, Any]:
    """All that a record's line has, as a JSON object: for what is declared nowhere here, the
    evidence of its program. Damaged as `read_record`."""
    return _read_dated(line)[1]


def _read_dated(line: bytes) -> tuple[Record, dict[str, Any]]:
    both = _read(line)
    both[0].seconds  # noqa: B018  # of another century: refused
    return both


def inner(data: dict[str, Any], *names: str) -> dict[str, Any]:
    """The object at this path of a record's evidence; {} where there is none."""
    for name in names:
        data = data.get(name) or {}
    return data


def read_records(*paths: str | Path) -> tuple[list[dict[str, Any]], list[str]]:
    """(records, problems) of files that programs wrote just now: all that each line has, and
    'file:line: what' of what is no record. A file that is not there has none; a node's clock may
    be wrong."""
    problems: list[str] = []
    there = [path for path in paths if Path(path).is_file()]
    every = [one for path in there for one in strict.lines(path, _read, problems)]
    return [data for _, data in every], problems


def _read(line: bytes) -> tuple[Record, dict[str, Any]]:
    line = line.removeprefix(strict.BOM)
    data = strict.value(line)
    if not isinstance(data, dict) or data.get('schema') != SCHEMA:
        raise Damaged(f"not a record: 'schema' is not '{SCHEMA}'")
    try:
        record = _RECORD.decode(line)
    except msgspec.ValidationError as err:
        raise Damaged(strict.said(err)) from err
    _check_seal(record, line)
    seconds_of(record.time)
    if record.verdict == VALID and not record.missing and not record.measured:
        raise Damaged("'metrics' is empty: nothing was measured")
    return record, data


SEAL = b', "sha256": "'


def _check_seal(record: Record, line: bytes) -> None:
    text, _, end = line.rstrip().rpartition(SEAL)
    if record.sha256 and end != f'{hashlib.sha256(text).hexdigest()}"}}'.encode():
        raise Damaged("'sha256' is not its checksum: it was changed after it was written")


def sealed(data: dict[str, Any]) -> str:
    """The line of a record, under a checksum of its own: that of the program that measured is lost
    where a check, or `membw node`, adds what it knows."""
    text = json.dumps({key: value for key, value in data.items() if key != 'sha256'})[:-1]
    return f'{text}{SEAL.decode()}{hashlib.sha256(text.encode()).hexdigest()}"}}\n'


def evidence_of(data: dict[str, Any]) -> Record:
    """The record of a JSON object, which has no bytes to check; Damaged."""
    return read_record(msgspec.json.encode({**data, 'sha256': None}))
