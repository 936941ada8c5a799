"""One run of one node: its ranks, as one."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from operator import attrgetter
from typing import NamedTuple

import msgspec

from membw.grouped import grouped
from membw.printable import at_most, printable
from membw.results.case import setting_of
from membw.results.figure import Figure, Lost, Measurement, figure_of, measurement
from membw.results.record import HIGHER, Metric, Record
from membw.words import INVALID, UNDECIDED, VALID

ONE_RUN_S = 900  # ranks of one run write their records within so many seconds
_rank = attrgetter('record.rank')


class Line(NamedTuple):
    """A record and where it was."""

    record: Record
    time: float
    file: str
    line: int
    offset: int = -1  # bytes; -1: it cannot be read again


def runs_of(records: Iterable[Line], problems: list[str]) -> Iterator[tuple[list[Line], str]]:
    """(the ranks of one node in one run, which ranks of the run are missing there: '' or why).

    Records belong to one run when they lie in one file, or were written within 15 minutes, and
    none has the same rank. A node is to have as many as its records say; of membw 1.0.0 as many
    as the node with most. Ranks of a node of which none came are `problems`.
    """
    jobs: dict[tuple, list[Line]] = defaultdict(list)
    several = [(one, setting_of(one.record, one.file)) for one in records]
    per_file = Counter((one.file, setting) for one, setting in several)
    for one, setting in several:
        file = one.file if per_file[one.file, setting] > 1 else ''
        jobs[setting, one.record.ranks, file].append(one)
    for same in jobs.values():
        for job in _jobs(sorted(same, key=lambda one: one.time)):
            nodes = grouped((one.record.host, one) for one in sorted(job, key=_rank))
            every = job[0].record.ranks
            most = max(map(len, nodes.values())) if len(nodes) > 1 else every
            wanted = [run[0].record.ranks_on_node or most for run in nodes.values()]
            if sum(wanted) < every:
                said = f'{every - sum(wanted)} of {every} ranks left no record, nor did their node'
                problems.append(f'{job[0].file}: {said}')
            for run, own in zip(nodes.values(), wanted, strict=True):
                yield run, _lacking(run, job, own)


def _lacking(run: list[Line], job: list[Line], wanted: int) -> str:
    """Which ranks of the job left no record, where this node has fewer than it was to have."""
    if len(run) >= wanted:
        return ''
    there = {*map(_rank, job)}
    gone = islice((rank for rank in count() if rank not in there), min(wanted - len(run), 100))
    names = ', '.join(at_most([*map(str, gone)], 4))
    return f'{len(run)} of {wanted} ranks left a record: none of rank {names}'


def _jobs(records: list[Line]) -> Iterator[list[Line]]:
    """Split where a rank comes again, or too late."""
    job: list[Line] = []
    for one in records:
        is_late = job and one.time - job[0].time > ONE_RUN_S
        if is_late or one.record.rank in {other.record.rank for other in job}:
            yield job
            job = []
        job.append(one)
    if job:
        yield job


class Run(NamedTuple):
    """What one node measured in one run."""

    of: Measurement
    metrics: Mapping[str, Metric]
    lost: list[Lost]

    @property
    def figures(self) -> list[Figure]:
        rows = self.metrics.items()
        return [figure_of(self.of, name, row) for name, row in rows if row.value is not None]


def of_run(ranks: Sequence[Line], lacking: str = '') -> Run:
    """Of the metrics that every rank measured: rates add up, of all else the mean counts."""
    every = [measurement(*one) for one in ranks]
    of, metrics = every[0], ranks[0].record.metrics
    lost = [row for one in every for row in _lost(one)]
    if lacking:  # the rest is a smaller figure
        return Run(of, {}, [*lost, Lost(of, False, lacking)])
    if len(every) > 1:
        of.setting = of.setting._replace(ranks=str(len(every)))
        worst = min(every, key=lambda one: (INVALID, UNDECIDED, VALID).index(one.verdict))
        of.verdict, of.findings = worst.verdict, worst.findings
        of.allowed = next(filter(None, (one.allowed for one in every)), '')
        rows = [one.record.measured for one in ranks]
        names = [name for name in metrics if all(name in row for row in rows)]
        same = {name: [row[name] for row in rows] for name in names}
        kinds = {name: {(row.unit, row.better) for row in of} for name, of in same.items()}
        metrics = {name: _summed(of) for name, of in same.items() if len(kinds[name]) == 1}
    return Run(of, metrics, lost)


def _lost(of: Measurement) -> list[Lost]:
    """What it lacks; without a figure, and without a word on why, it has that of its record."""
    record = of.record
    assert record
    if not record.measured and not record.missing:
        return [Lost(of, False, of.reasons, of.verdict)]
    parts = ((p.name, p.record.verdict) for p in record.parts if p.record)
    verdicts = {name: word for name, word in parts if word != VALID}
    return [
        Lost(of, row.died, printable(row.text), verdicts.get(row.what, ''))
        for row in record.missing
    ]


def _summed(same: list[Metric]) -> Metric:
    first, bounds = same[0], {row.bound for row in same} - {None}
    total = sum if first.better == HIGHER and first.unit.endswith('/s') else statistics.fmean

    def of(name: str) -> float | None:
        values = [getattr(row, name) for row in same]
        return None if None in values else total(values)

    bound = 'unknown' if len(bounds) > 1 else next(iter(bounds), None)
    ends = {} if bound else {'low': of('low'), 'high': of('high')}
    return msgspec.structs.replace(first, value=of('value'), bound=bound, **ends)
