"""One run of one node: its ranks, as one."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from membw.grouped import grouped
from membw.printable import printable
from membw.results.case import setting_of
from membw.results.figure import Figure, Lost, Measurement, figure_of, measurement
from membw.results.newest import Line
from membw.results.record import HIGHER, INVALID, UNDECIDED, VALID, Record

ONE_RUN_S = 900  # ranks of one run write their records within so many seconds


def runs_of(records: Iterable[Line]) -> Iterator[tuple[list[Line], str]]:
    """(the ranks of one node in one run, why these are INVALID: '', or a rank is missing).

    Records belong to one run when they lie in one file, or were written within 15 minutes, and
    none has the same rank. A node lacks ranks where its run has fewer records than ranks, and it
    has fewer than another node of the run.
    """
    jobs: dict[tuple, list[Line]] = defaultdict(list)
    several = [(one, setting_of(one.record, one.file)) for one in records]
    per_file = Counter((one.file, setting) for one, setting in several)
    for one, setting in several:
        file = one.file if per_file[one.file, setting] > 1 else ''
        jobs[setting, one.record.ranks, file].append(one)
    for same in jobs.values():
        for job in _jobs(sorted(same, key=lambda one: one.time)):
            ranks = sorted(job, key=lambda one: one.record.rank)
            nodes = grouped((one.record.host, one) for one in ranks)
            most = max(map(len, nodes.values()))
            for run in nodes.values():
                is_short = len(job) < run[0].record.ranks and len(run) < most
                text = f'ranks-missing ({len(run)} of {most} ranks of this node)'
                yield run, text if is_short else ''


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


def _lost(of: Measurement, record: Record) -> list[Lost]:
    """What it lacks; without a figure, and without a word on why, it has that of its record."""
    if not record.is_measured and not record.missing:
        return [Lost(of, False, of.reasons, of.verdict)]
    parts = ((p.name, p.record.verdict) for p in record.parts if p.record)
    verdicts = {name: word for name, word in parts if word != VALID}
    return [
        Lost(of, row.died, printable(row.text), verdicts.get(row.what, ''))
        for row in record.missing
    ]


def of_run(run: list[Line], lacking: str) -> tuple[list[Figure], list[Lost]]:
    """Of the metrics that every rank measured: rates add up, of all else the mean counts."""
    every = [measurement(*one) for one in run]
    lost = [row for of, one in zip(every, run, strict=True) for row in _lost(of, one.record)]
    of, first = every[0], run[0].record
    if len(run) == 1 and not lacking:
        return [figure_of(of, name, row, first) for name, row in first.measured.items()], lost
    worst = min(every, key=lambda one: (INVALID, UNDECIDED, VALID).index(one.verdict))
    of.verdict, of.reasons = worst.verdict, worst.reasons
    of.allowed = next(filter(None, (one.allowed for one in every)), '')
    if lacking:
        of.verdict, of.reasons = INVALID, lacking
    ranks = [{n: figure_of(of, n, m, r.record) for n, m in r.record.measured.items()} for r in run]
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
