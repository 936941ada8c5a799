"""Selects the runs of an acceptance from the table of results, each with a reason if left out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from membw.accept.protocol import Protocol
from membw.moments import utc
from membw.printable import amount, printable
from membw.results.figure import Figure, Lost, Measurement
from membw.results.node_names import match_expected
from membw.results.record import HIGHER, REFRAME
from membw.results.table import Table
from membw.site.cpu_peak import known_peak

# what a record must state where the protocol does not name it; not every program states it
USUAL = {'kernels_set': 'standard', 'language': 'c', 'element_bytes': '8'}
BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'spack_hash', 'binary_sha256')
DIGITS = 12  # two measurements do not agree in so many
Figures = Mapping[str, Figure]  # of one run, by metric


@dataclass
class Run:
    """One run of one node, all its ranks together."""

    node: str  # its name in the protocol
    time: float  # seconds since 1970
    night: str  # '2026-12-01'
    figures: dict[str, float]  # in the contract's units
    why_not: str = ''  # why it is not one that could count
    is_aside: bool = False  # not under the protocol, before a replacement, or a copy
    died: bool = False
    counted: str = ''  # 'first' or 'retest'; else why it does not count
    setting: tuple[tuple[str, str], ...] = ()  # of one source, options, compiler and CPU
    known: dict[str, str] = field(default_factory=dict)  # of its node and build
    source: str = ''  # file and line of its record
    too_good: str = ''  # more than the peak of its node


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
    made = [
        (_run(protocol, renamed.get(of.node, of.node), of, figures, lost.get(key)), figures)
        for key, (of, figures) in every.items()
    ]
    made.sort(key=lambda pair: pair[0].time)
    _mark_copies(made)
    _mark_beyond_peak(protocol, table, made)
    return [run for run, _ in made]


def _run(
    protocol: Protocol, node: str, of: Measurement, figures: Figures, lost: Lost | None
) -> Run:
    values = {name: figures[name].value for name in protocol.contract if name in figures}
    code = ('source_sha256', of.provenance.get('source_sha256', ''))
    run = Run(node, of.time, of.night, values, setting=(*of.setting._asdict().items(), code))
    run.known, run.source, run.died = (
        of.provenance,
        f'{of.file}:{of.line}',
        bool(lost and lost.died),
    )
    other = [*_other_case(protocol, of)]
    is_whole = of.verdict == 'VALID' and not lost
    if figures:
        other += _other_record(protocol, figures if is_whole else {}, of.provenance)
    measured, replaced = utc(of.time)[:10], protocol.replaced.get(node, '')
    if not protocol.content['period']['from'] <= measured <= protocol.content['period']['to']:
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
        run.why_not = '; '.join(_undecided(protocol, figures))
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
            yield f'{name} {figure.value:.1f} {line.unit} may be worse: not proven'
        elif figure.is_bound and (not protocol.runs.get('bounds') or line.value is None):
            yield f'disturbed: {name} at least {figure.value:.1f} {line.unit}'


def _mark_copies(made: list[tuple[Run, dict[str, Figure]]]) -> None:
    """A figure that is equal in all its digits was measured once, on whatever nodes."""
    seen: dict[tuple, Run] = {}
    for run, figures in made:
        if run.is_aside or not figures:
            continue
        values = [(name, figure.value) for name, figure in figures.items()]
        keys: list[tuple] = [pair for pair in values if len(repr(pair[1])) > DIGITS]
        if not keys and dict(run.setting)['program'] != REFRAME:  # whose figures may be short
            keys = [tuple(values)]
        firsts = [seen.setdefault(key, run) for key in keys]
        if first := next((one for one in firsts if one is not run), None):
            of = f'the run of {first.node} of {utc(first.time)}'
            run.why_not, run.is_aside = f'a copy of {of}: a figure is equal in all digits', True


def _mark_beyond_peak(
    protocol: Protocol, table: Table, made: list[tuple[Run, dict[str, Figure]]]
) -> None:
    """The best runs, down to the first that lies within the peak of its node."""
    for name, line in protocol.contract.items():
        usable = [(figures[name], run) for run, figures in made if not run.why_not]
        is_rate = line.unit == 'GB/s' and line.better == HIGHER
        for figure, run in sorted(usable, key=lambda pair: -pair[0].value) if is_rate else ():
            is_memory = figure.setting.program == 'stream'
            peak = known_peak(table.evidence(figure)) if is_memory else None
            if not peak or figure.value <= peak[0]:
                break
            run.too_good = f'{name} lies beyond the peak of {amount(peak[0])} GB/s ({peak[1]})'
