"""A figure, what it has in common with the others of its record, and what was lost."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from membw.moments import night_of
from membw.printable import printable
from membw.results import provenance
from membw.results.case import Case, setting_of
from membw.results.findings import Finding, Findings, reported, text_of
from membw.results.record import HIGHER, Metric, Record, in_common
from membw.results.too_good import above_peak
from membw.words import INVALID, UNDECIDED, VALID


@dataclass(slots=True, eq=False)
class Measurement:
    """One run of one node: what all of its figures have in common."""

    night: str = ''  # '2026-11-23', see moments.night_of
    time: float = 0.0  # seconds since 1970, of the run's first record
    node: str = ''  # '' where no job began
    setting: Case = Case()  # its node is blank: one object for many nodes
    verdict: str = VALID  # VALID, INVALID or UNDECIDED
    findings: Findings = ()  # why it is not VALID
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
    def reasons(self) -> str:
        return text_of(self.findings)

    @property
    def row(self) -> Case:
        return self.setting.row.at(self.node)

    @property
    def series(self) -> Case:
        return self.setting.series.at(self.node)

    @property
    def key(self) -> str:
        """Equal for measurements of equal provenance."""
        return str(self.provenance)

    def is_after(self, other: 'Measurement') -> bool:
        """By the run's own order within one session, where nodes' clocks differ; else by time."""
        if self.session and self.session == other.session and self.number != other.number:
            return self.number > other.number
        return self.time >= other.time


def _of_measurement(name: str) -> Any:
    return property(attrgetter(f'of.{name}'))


class _OfRun:
    """What a figure has of its run."""

    __slots__ = ()
    night, time, node = map(_of_measurement, ('night', 'time', 'node'))
    setting, file, line = map(_of_measurement, ('setting', 'file', 'line'))


@dataclass(slots=True)
class Figure(_OfRun):
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

    verdict, findings, allowed = map(_of_measurement, ('verdict', 'findings', 'allowed'))
    reasons = _of_measurement('reasons')
    provenance = _of_measurement('provenance')

    @property
    def is_bound(self) -> bool:
        return bool(self.bound)

    @property
    def may_be_worse(self) -> bool:
        """Perhaps too good, by a cache: it meets no reference."""
        return flatters(self.bound, self.better)

    @property
    def sign(self) -> str:
        """In front of the value: '≥ ', '≤ ', '~ ' of what may be either, '' of an estimate."""
        return {'lower': '≥ ', 'upper': '≤ ', 'unknown': '~ '}.get(self.bound, '')

    def replace(self, **changes: Any) -> 'Figure':
        return replace(self, **changes)

    def share(self, base: float) -> float:
        """Of a figure that it is compared with: 0.9 is a tenth worse, whichever is better."""
        return self.value / base if self.better == HIGHER else base / self.value


def flatters(bound: str, better: str) -> bool:
    """Whether a bound is on the good side of the figure."""
    return bound in ('unknown', 'upper' if better == HIGHER else 'lower')


@dataclass(slots=True, frozen=True)
class Lost(_OfRun):
    """What a node was to measure in one run, and did not: a launch that died, was refused, or was
    never begun (results/ledger.py)."""

    of: Measurement
    died: bool
    text: str  # 'remote memory, 1 thread: ended by SIGBUS (signal 7) on n2'
    verdict: str = ''  # of a part of `membw node`, where it has one: it is not VALID

    @property
    def word(self) -> str:
        """Of membw/words.py."""
        return 'DIED' if self.died else self.verdict or 'MISSING'


# --- of a record ---------------------------------------------------------------------------


def figures_of(record: Record) -> dict[str, Figure]:
    """{metric: Figure} of one record."""
    of = measurement(record, record.seconds)
    return {name: figure_of(of, name, row) for name, row in record.measured.items()}


def headline(figures: Mapping[str, Figure]) -> Figure:
    """The figure of these, by metric, that stands for their record."""
    return next((f for f in figures.values() if f.is_headline), [*figures.values()][-1])


def measurement(
    record: Record, seconds: float, file: str = '', line: int = 1, offset: int = 0
) -> Measurement:
    case = record.case
    verdict, findings = _verdict(record)
    setting, node = setting_of(record, f'{file}:{line}'), sys.intern(record.host)
    said = printable(record.word), printable(record.why)
    return Measurement(
        sys.intern(night_of(seconds)), seconds, node, setting, verdict, findings, record.allowed,
        case.session or '', case.measurement, *said, file, line, offset, record,
    )  # fmt: skip


def _verdict(record: Record) -> tuple[str, Findings]:
    """(word, why): by the program, or by the check. A case says so of its own record only: a
    check of many nodes writes a verdict per record."""
    case, none = record.case, reported('no reason given')
    counted = (r for r in record.reasons if not r.allowed)
    own = tuple(Finding(r.reason, {'detail': printable(r.detail)}) for r in counted)
    if case.verdict == INVALID:
        texts = [case.reasons] if isinstance(case.reasons, str) else [*case.reasons]
        return INVALID, reported(printable('; '.join(texts))) or own or none
    if record.verdict != VALID:
        return record.verdict, own or none
    found = record.validation
    if found and (not found.ok or found.wrong_elements):
        own = (Finding('not-validated'),)
    elif record.exit_status and not own:
        own = (Finding(f'exit status {record.exit_status}'),)
    if own:
        return INVALID, (Finding('contradicted', {'by': own[0].text}),)
    if record.allowed:
        return UNDECIDED, (Finding('allowed', {'reasons': record.allowed}),)
    if above := above_peak(record):
        return (INVALID if above[0] else UNDECIDED), (above[1],)
    return VALID, ()


def figure_of(of: Measurement, name: str, row: Metric) -> Figure:
    """One metric, its reference and its known issue."""
    (unit, factor), record = in_common(row.unit), of.record
    assert record and row.value is not None
    # of GB/s the record's own numbers: of a fleet they are many
    scaled = float if factor == 1 else factor.__mul__
    value, case = scaled(row.value), record.case
    figure = Figure(
        sys.intern(name), value, unit, row.better, None, None, row.bound or '', row.series, row.at,
        is_headline=name == record.stands, of=of,
    )  # fmt: skip
    if row.low is not None and row.high is not None and not row.bound:
        figure.low, figure.high = scaled(row.low), scaled(row.high)
    if case.known_issues:
        figure.known_issue = printable(case.known_issues.get(name, ''))
    limits = case.references.get(name) if case.references else None
    if limits and limits[0]:  # ReFrame passes a reference of 0
        base, *ends = (None if x is None else float(x) for x in (*limits, None, None)[:3])
        figure.reference = (base or 0.0) * factor
        figure.reference_low, figure.reference_high = ends
    return figure
