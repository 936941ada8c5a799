"""Selects the runs of an acceptance from the table of results, each with a reason if left out."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from membw.accept.protocol import Protocol
from membw.expected.consistent import best_time
from membw.grouped import grouped
from membw.moments import utc
from membw.results.figure import Figure, Lost, Measurement
from membw.results.findings import Finding, Findings, codes, reported, text_of
from membw.results.node_names import match_expected
from membw.results.record import REFRAME, inner, seconds_of
from membw.results.table import Table
from membw.results.verdict import lacks_of, may_be_worse
from membw.site.cpu_peak import cpu_of
from membw.words import INVALID, VALID

# what a record must state where the protocol does not name it; not every program states it
USUAL = {'kernels_set': 'standard', 'language': 'c', 'element_bytes': '8'}
# facts that a node's provenance has not
MORE_FACTS = 'smt', 'hugepages_total'
FOUR = 4  # figures
DIGITS = 12  # two measurements do not agree in so many
OWN_TIMES = 0.01  # a figure is its bytes by the time of its best repetition
OTHER = 'not-agreed'  # of another test or setting: its figures are others
ASIDE = {OTHER, 'outside-period', 'replaced', 'overlaps', 'copy'}  # or no run of its own
Figures = Mapping[str, Figure]  # of one run, by metric


@dataclass
class Run:
    """One run of one node, all its ranks together."""

    node: str  # its name in the protocol
    of: Measurement
    figures: dict[str, float]  # of the contract, in its units
    every: Figures = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)  # of its node and build
    lacks: Findings = ()  # memory that its CPUs take; none where the parties state the peak
    word: str = ''  # of a run that is wrong, undecided or lost
    why: Findings = ()  # why it is not one that could count
    round: str = ''  # 'first' or 'retest', where it counts
    missed: tuple[str, ...] = ()  # of the contract, where it does not count

    @property
    def is_other(self) -> bool:
        return OTHER in codes(self.why)

    @property
    def is_aside(self) -> bool:
        return bool(ASIDE & codes(self.why))

    @property
    def counted(self) -> str:
        """'first', 'retest', or why it does not count."""
        return self.round or ': '.join(filter(None, (self.word, text_of(self.why))))

    @property
    def setting(self) -> tuple[tuple[str, str], ...]:
        """Of one source, options, compiler and CPU."""
        code = self.known.get('source_sha256', '')
        return (*self.of.setting._asdict().items(), ('source_sha256', code))


def runs_of(protocol: Protocol, table: Table) -> list[Run]:
    """Every run of the table in order of time."""
    # a damaged line is no run: it is named
    found: list[Figure | Lost] = [*table.figures, *(one for one in table.lost if one.of.record)]
    every = {id(one.of): one.of for one in found}
    figures = grouped((id(one.of), one) for one in table.figures)
    lost = {id(one.of): one for one in table.lost}
    names = protocol.names
    hosts = match_expected({of.node for of in every.values()}, names)
    renamed = dict(zip(hosts, names, strict=True))
    made = []
    for key, of in every.items():
        own = {one.metric: one for one in figures.get(key, ())}
        record = table.evidence(next(iter(own.values()), None) or lost[key])
        values = {name: own[name].value for name in protocol.contract if name in own}
        run = Run(renamed.get(of.node, of.node), of, values, own, record, _known(of, record))
        if 'peak_gbs' not in protocol.content['nodes']:
            run.lacks = tuple(filter(None, map(lacks_of, own.values())))
        run.word, run.why = _why_not(protocol, run, lost.get(key))
        made.append(run)
    made.sort(key=lambda run: run.of.time)
    for of_node in grouped((run.node, run) for run in made).values():
        _mark_overlapping(of_node)
    _mark_copies(made)
    return made


def _known(of: Measurement, record: dict[str, Any]) -> dict[str, str]:
    facts = inner(record, 'facts')
    more = {name: str(facts[name]) for name in MORE_FACTS if facts.get(name) is not None}
    return of.provenance | more


def _why_not(protocol: Protocol, run: Run, lost: Lost | None) -> tuple[str, Findings]:
    """(word, why) of a run that could not count."""
    day, replaced = utc(run.of.time)[:10], protocol.replaced.get(run.node, '')
    is_whole = run.of.verdict == VALID and not lost
    if other := dict(_other(protocol, run, is_whole)):
        return '', (Finding(OTHER, {'fields': other}),)
    if not protocol.content['period']['from'] <= day <= protocol.until:
        return '', (Finding('outside-period', {'day': day}),)
    if day < replaced:
        return '', (Finding('replaced', {'day': replaced}),)
    if lost:
        return lost.word, reported(lost.text, 'lost')
    if not is_whole:
        return run.of.verdict, run.of.findings
    if wrong := _contradicted(run, protocol.peak_gbs):
        return INVALID, (wrong,)
    return '', tuple(_undecided(run))


def _other(protocol: Protocol, run: Run, is_whole: bool) -> Iterator[tuple[str, str]]:
    """(what is not as agreed, what it is)."""
    agreed, stated = protocol.runs, protocol.runs.get('record', {})
    for name in ('test', 'preset', 'pinning', 'system'):
        own = getattr(run.of.setting, name)
        if agreed.get(name, own) != own:
            yield name, own or 'not recorded'
    for name, value in {**USUAL, **stated}.items() if run.every else ():
        own = run.known.get(name, 'not recorded' if name in stated else value)
        if own != str(value):
            yield name, own
    cpu = cpu_of(inner(run.record, 'facts'))
    if cpu and protocol.cpu and cpu['name'] != protocol.cpu['name']:
        yield 'CPU', cpu['name']
    for name, line in protocol.contract.items() if run.every and is_whole else ():
        figure = run.every.get(name)
        if not figure or (figure.unit, figure.better) != (line.unit, line.better):
            yield name, f'not measured in {line.unit}'


def _undecided(run: Run) -> Iterator[Finding]:
    """A disturbed run is a lower bound: it counts neither for nor against its node."""
    for figure in (run.every[name] for name in run.figures):
        if figure.may_be_worse:
            yield may_be_worse(figure)
        elif figure.is_bound:
            yield Finding('disturbed-run', {'metric': figure.metric})


# --- what a record says of itself --------------------------------------------------------------


def _contradicted(run: Run, peak: float) -> Finding | None:
    """Where a figure is above the peak that was agreed, or not its own bytes by its own times."""
    record = run.record
    for name in run.figures if record['program'] == 'stream' else ():
        row, best = record['metrics'][name], best_time(record, name)
        own = {'metric': name, 'value': row['value'], 'unit': row['unit']}
        if row['unit'] == 'GB/s' and row['value'] > peak > 0:
            return Finding('above-peak', {**own, 'peak': peak})
        if best:
            counted = record['kernels'][name]['bytes_per_element'] * record['array_size']
            off = 1e9 * row['value'] * best / counted - 1
            if abs(off) > OWN_TIMES:
                return Finding('off-its-times', {**own, 'off': off})
    return None


def _mark_overlapping(runs: list[Run]) -> None:
    """A run of a node that began before the one before it had ended, by the node's own clock."""
    ended = 0.0
    for run in runs:
        if run.is_other or 'time' not in run.record:
            continue
        end = seconds_of(run.record['time'])
        lasted = inner(run.record, 'busy').get('wall_s') or 0
        if not run.why and abs(end - ended) < max(1, lasted - 1):
            run.why = (Finding('overlaps'),)
        ended = end


def _mark_copies(runs: list[Run]) -> None:
    """A figure that is equal in all its digits was measured once, on whatever nodes; so were four
    that are all equal to a millionth, and two to a hundred-millionth: by chance no two of 10,000
    runs are, of a machine whose runs differ by 0.1 %."""
    seen: dict[tuple, Run] = {}
    for run in runs:
        if run.is_aside or not run.every:
            continue
        values = [(name, figure.value) for name, figure in run.every.items()]
        keys: list[tuple] = [pair for pair in values if len(repr(pair[1])) > DIGITS]
        if not keys and run.of.setting.program != REFRAME:  # whose figures may be short
            keys = [tuple(values)]
        if keys and values[1:]:
            digits = 6 if len(values) >= FOUR else 8
            keys.append(tuple((name, round(math.log(value), digits)) for name, value in values))
        firsts = [seen.setdefault(key, run) for key in keys]
        if first := next((one for one in firsts if one is not run), None):
            run.word = ''
            run.why = (Finding('copy', {'node': first.node, 'time': utc(first.of.time)}),)
