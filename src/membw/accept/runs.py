"""Selects the runs of an acceptance from the table of results, each with a reason if left out."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from membw.accept.protocol import Protocol
from membw.grouped import grouped
from membw.moments import utc
from membw.printable import printable
from membw.results.figure import Figure, Lost, Measurement
from membw.results.findings import text_of
from membw.results.node_names import match_expected
from membw.results.record import REFRAME, seconds_of
from membw.results.table import Table
from membw.results.verdict import lacks_of
from membw.site.cpu_peak import cpu_of

# what a record must state where the protocol does not name it; not every program states it
USUAL = {'kernels_set': 'standard', 'language': 'c', 'element_bytes': '8'}
BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'spack_hash', 'binary_sha256')
# facts that a node's provenance has not
MORE_FACTS = 'smt', 'hugepages_total'
FOUR = 4  # figures
DIGITS = 12  # two measurements do not agree in so many
OWN_TIMES = 0.01  # a figure is its bytes by the time of its best repetition
Figures = Mapping[str, Figure]  # of one run, by metric


@dataclass
class Run:
    """One run of one node, all its ranks together."""

    node: str  # its name in the protocol
    time: float  # seconds since 1970
    night: str  # '2026-12-01'
    figures: dict[str, float]  # in the contract's units
    why_not: str = ''  # why it is not one that could count
    is_aside: bool = False  # not under the protocol, before a replacement, or no run of its own
    is_other: bool = False  # of another test or setting: its figures are others
    died: bool = False
    counted: str = ''  # 'first' or 'retest'; else why it does not count
    missed: tuple[str, ...] = ()  # of the contract, where it does not count
    lacks: str = ''  # memory that its CPUs take; '' where the parties state the peak
    setting: tuple[tuple[str, str], ...] = ()  # of one source, options, compiler and CPU
    known: dict[str, str] = field(default_factory=dict)  # of its node and build
    session: tuple[str, int] = ('', 0)  # and its place among the measurements of it
    source: str = ''  # file and line of its record
    sha256: str = ''  # of that line
    is_sealed: bool = False  # by who wrote it


def runs_of(protocol: Protocol, table: Table) -> list[Run]:
    """Every run of the table in order of time."""
    every: dict[int, tuple[Measurement, dict[str, Figure]]] = {}
    for figure in table.figures:
        every.setdefault(id(figure.of), (figure.of, {}))[1][figure.metric] = figure
    lost = {id(one.of): one for one in table.lost}
    for one in lost.values():
        every.setdefault(id(one.of), (one.of, {}))
    hosts, names = {of.node for of, _ in every.values()}, protocol.names or []
    renamed = dict(zip(match_expected(hosts, names), names, strict=True))
    made = []
    for key, (of, figures) in every.items():
        any_of: Figure | Lost = next(iter(figures.values()), None) or lost[key]
        record, node = table.evidence(any_of), renamed.get(of.node, of.node)
        made.append((_run(protocol, node, of, figures, lost.get(key), record), figures, record))
    made.sort(key=lambda one: one[0].time)
    for of_node in grouped((run.node, (run, record)) for run, _, record in made).values():
        _mark_overlapping(of_node)
    _mark_copies([(run, figures) for run, figures, _ in made])
    return [run for run, *_ in made]


def _run(
    protocol: Protocol,
    node: str,
    of: Measurement,
    figures: Figures,
    lost: Lost | None,
    record: dict[str, Any],
) -> Run:
    values = {name: figures[name].value for name in protocol.contract if name in figures}
    code = ('source_sha256', of.provenance.get('source_sha256', ''))
    run = Run(node, of.time, of.night, values, setting=(*of.setting._asdict().items(), code))
    facts = record.get('facts') or {}
    more = {name: str(facts[name]) for name in MORE_FACTS if facts.get(name) is not None}
    run.known, run.died = of.provenance | more, bool(lost and lost.died)
    run.source, run.session = f'{of.file}:{of.line}', (of.session, of.number)
    text = json.dumps(record, sort_keys=True) + repr(sorted(values.items()))
    run.sha256 = hashlib.sha256(text.encode()).hexdigest()
    run.is_sealed = bool(record.get('sha256'))
    if not protocol.content['nodes'].get('peak_gbs'):
        run.lacks = text_of(filter(None, map(lacks_of, figures.values())))
    other = [*_other_case(protocol, of)]
    cpu = cpu_of(facts)
    if protocol.cpu and cpu and cpu['name'] != protocol.cpu['name']:
        other.append(f'CPU {cpu["name"]}')
    is_whole = of.verdict == 'VALID' and not lost
    if figures:
        other += _other_record(protocol, figures if is_whole else {}, run.known)
    run.is_other = bool(other)
    measured, replaced = utc(of.time)[:10], protocol.replaced.get(node, '')
    if not protocol.content['period']['from'] <= measured <= protocol.until:
        other.append(f'measured on {measured}')
    if other:
        run.why_not, run.is_aside = f'not under the protocol: {"; ".join(other)}', True
    elif measured < replaced:
        run.why_not, run.is_aside = f'before its replacement on {replaced}', True
    elif lost:
        run.why_not = f'{lost.word}: {lost.text}'
    elif of.verdict != 'VALID':
        run.why_not = f'{of.verdict}: {of.reasons}'
    else:
        wrong = _contradicted(record, values, protocol.peak_gbs)
        run.why_not = f'INVALID: {wrong}' if wrong else '; '.join(_undecided(protocol, figures))
    run.why_not = printable(run.why_not)
    return run


def _other_case(protocol: Protocol, of: Measurement) -> Iterator[str]:
    for word in ('test', 'preset', 'pinning', 'system'):
        value = getattr(of.setting, word)
        if protocol.runs.get(word, value) != value:
            yield f'{word} {value or "not recorded"}'


def _other_record(protocol: Protocol, figures: Figures, known: Mapping[str, str]) -> Iterator[str]:
    for name, line in protocol.contract.items() if figures else ():
        figure = figures.get(name)
        if not figure or (figure.unit, figure.better) != (line.unit, line.better):
            yield f'no {name} in {line.unit}'
    stated = protocol.runs.get('record', {})
    for name, value in {**USUAL, **stated}.items():
        found = known.get(name, 'not recorded' if name in stated else value)
        if found != str(value):
            yield f'{name} {found}'


def _undecided(protocol: Protocol, figures: Figures) -> Iterator[str]:
    """A disturbed run is a lower bound. Where the parties agreed on bounds it counts as it reads:
    it uses up a place whether it reaches the contract or not, so that nobody gains by noise."""
    for name, line in protocol.contract.items():
        figure = figures[name]
        if figure.may_be_worse:
            yield f'{name} may be worse: not proven'
        elif figure.is_bound and (not protocol.runs.get('bounds') or line.value is None):
            yield f'disturbed: {name} is a bound'


# --- what a record says of itself --------------------------------------------------------------


def _contradicted(record: dict[str, Any], contract: Mapping[str, float], peak: float) -> str:
    """Where a figure is above the peak that was agreed, or not its own bytes by its own times."""
    for name in contract:
        row, kernel = record['metrics'][name], (record.get('kernels') or {}).get(name)
        if row['unit'] != 'GB/s':
            continue
        if record['program'] == 'stream' and row['value'] > peak > 0:
            return f'{name} is above the peak of {peak:g} GB/s in the protocol'
        if not kernel or 'bytes_per_element' not in kernel:
            continue
        own = kernel['bytes_per_element'] * record['array_size'] / kernel['min_s'] / 1e9
        if abs(row['value'] / own - 1) > OWN_TIMES:
            return f'{name} is {row["value"] / own - 1:+.0%} off its own bytes and times'
        # of very many repetitions the record has one in so many
        is_whole = (record.get('repetitions') or {}).get('times_every', 1) == 1
        shortest = min(kernel.get('times_s') or [0])
        if is_whole and kernel['min_s'] < (1 - OWN_TIMES) * shortest:
            return f'no repetition of {name} was so short'
    return ''


def _mark_overlapping(runs: list[tuple[Run, dict[str, Any]]]) -> None:
    """A run of a node that began before the one before it had ended, by the node's own clock."""
    ended = 0.0
    for run, record in runs:
        if run.is_other or 'time' not in record:
            continue
        end, lasted = seconds_of(record['time']), (record.get('busy') or {}).get('wall_s') or 0
        if not run.why_not and abs(end - ended) < max(1, lasted - 1):
            run.why_not, run.is_aside = 'it began before the run before it ended', True
        ended = end


def _mark_copies(made: list[tuple[Run, dict[str, Figure]]]) -> None:
    """A figure that is equal in all its digits was measured once, on whatever nodes; so were four
    that are all equal to a millionth, and two to a hundred-millionth: by chance no two of 10,000
    runs are, of a machine whose runs differ by 0.1 %."""
    seen: dict[tuple, Run] = {}
    for run, figures in made:
        if run.is_aside or not figures:
            continue
        values = [(name, figure.value) for name, figure in figures.items()]
        keys: list[tuple] = [pair for pair in values if len(repr(pair[1])) > DIGITS]
        if not keys and dict(run.setting)['program'] != REFRAME:  # whose figures may be short
            keys = [tuple(values)]
        if keys and values[1:]:
            digits = 6 if len(values) >= FOUR else 8
            keys.append(tuple((name, round(math.log(value), digits)) for name, value in values))
        firsts = [seen.setdefault(key, run) for key in keys]
        if first := next((one for one in firsts if one is not run), None):
            of = f'the run of {first.node} of {utc(first.time)}'
            run.why_not, run.is_aside = f'a copy of {of}: its figures are equal', True
