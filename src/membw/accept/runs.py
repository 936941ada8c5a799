"""Selects the runs of an acceptance from the table of results, each with a reason if left out."""

from collections.abc import Iterator
from dataclasses import dataclass

from membw.accept.protocol import Protocol
from membw.moments import utc
from membw.printable import printable
from membw.results.hostlist import match_expected
from membw.results.table import Figure, Lost, Table

# what a record must state where the protocol does not name it; not every program states it
USUAL = {'kernels_set': 'standard', 'language': 'c', 'element_bytes': '8'}
BUILD = ('compiler', 'flags', 'compile_line', 'source_sha256', 'spack_hash', 'binary_sha256')


@dataclass
class Run:
    """One run of one node, all its ranks together."""

    node: str
    time: float  # seconds since 1970
    night: str  # '2026-12-01'
    figures: dict[str, float]  # in the contract's units
    why_not: str = ''  # why it is not one that could count
    counted: str = ''  # 'first' or 'retest'; else why it does not count
    setting: tuple[tuple[str, str], ...] = ()  # of one source, options, compiler and CPU
    build: tuple[tuple[str, str], ...] = ()  # BUILD, as far as recorded
    source: str = ''  # file and line of its record
    is_copy: bool = False  # of another run
    died: bool = False


def runs_of(protocol: Protocol, table: Table) -> list[Run]:
    """Every run of the table in order of time, with the node's name in the protocol."""
    together: dict[int, dict[str, Figure]] = {}
    for figure in table.figures:
        together.setdefault(id(figure.of), {})[figure.metric] = figure
    hosts = {f.node for f in table.figures} | {one.node for one in table.lost}
    names = protocol.names or []
    renamed = dict(zip(match_expected(hosts, names), names, strict=True))
    runs: list[Run] = []
    seen: dict[tuple[tuple[str, float], ...], Run] = {}
    lost = {id(one.of): one for one in table.lost}
    for key, figures in together.items():
        run = _run(protocol, figures, renamed)
        one = lost.pop(key, None)
        if one and not run.why_not:
            run.why_not, run.died = printable(f'{one.word}: {one.text}'), one.died
        # sixteen equal digits are one measurement, on whatever nodes
        same = tuple(sorted((name, f.value) for name, f in figures.items()))
        first = seen.setdefault(same, run) if not run.why_not else run
        if first is not run:
            run.why_not = (
                f'a copy of the run of {first.node} of {utc(first.time)}: every figure is equal'
            )
            run.is_copy = True
        runs.append(run)
    runs += [_of_lost(protocol, one, renamed) for one in lost.values()]
    return sorted(runs, key=lambda run: run.time)


def _of_lost(protocol: Protocol, one: Lost, renamed: dict[str, str]) -> Run:
    """A launch that brought no figure: a node that dies in five of eight launches is not passed by
    the other three."""
    other = '; '.join([*_other_case(protocol, one), *_other_time(protocol, one.time)])
    why_not = f'not under the protocol: {other}' if other else f'{one.word}: {one.text}'
    return Run(
        renamed.get(one.node, one.node),
        one.time,
        one.night,
        {},
        printable(why_not),
        source=one.file,
        died=one.died,
    )


def _run(protocol: Protocol, figures: dict[str, Figure], renamed: dict[str, str]) -> Run:
    first, contract = next(iter(figures.values())), protocol.contract
    known, node = first.provenance, renamed.get(first.node, first.node)
    why_not = '; '.join(_not_agreed(protocol, figures, known))
    replaced = protocol.content.get('replaced', {}).get(node, '')
    if why_not:
        why_not = printable(f'not under the protocol: {why_not}')
    elif utc(first.time)[:10] < replaced:
        why_not = f'before its replacement on {replaced}'
    elif first.verdict != 'VALID':
        why_not = printable(f'{first.verdict}: {first.reasons}')
    else:
        why_not = '; '.join(_undecided(protocol, figures))
    return Run(
        node,
        first.time,
        first.night,
        {name: figures[name].value for name in contract if name in figures},
        why_not,
        setting=(
            *first.setting._asdict().items(),
            ('source_sha256', known.get('source_sha256', '')),
        ),
        build=tuple((name, known[name]) for name in BUILD if name in known),
        source=f'{first.file}:{first.line}',
    )


def _not_agreed(
    protocol: Protocol, figures: dict[str, Figure], known: dict[str, str]
) -> Iterator[str]:
    """Why the run is not one that the parties agreed on."""
    first = next(iter(figures.values()))
    yield from _other_case(protocol, first)
    for name, line in protocol.contract.items():
        figure = figures.get(name)
        if not figure or (figure.unit, figure.better) != (line.unit, line.better):
            yield f'no {name} in {line.unit}'
    stated = protocol.runs.get('record', {})
    for name, value in {**USUAL, **stated}.items():
        found = known.get(name, 'not recorded' if name in stated else value)
        if found != str(value):
            yield f'{name} {found}'
    yield from _other_time(protocol, first.time)


def _other_case(protocol: Protocol, one: Figure | Lost) -> Iterator[str]:
    for word, value in (
        ('test', one.benchmark),
        ('preset', one.preset),
        ('pinning', one.pinning),
        ('system', one.system),
    ):
        if protocol.runs.get(word, value) != value:
            yield f'{word} {value or "not recorded"}'


def _other_time(protocol: Protocol, seconds: float) -> Iterator[str]:
    measured, period = utc(seconds)[:10], protocol.content['period']
    if not period['from'] <= measured <= period['to']:
        yield f'measured on {measured}'


def _undecided(protocol: Protocol, figures: dict[str, Figure]) -> Iterator[str]:
    """A disturbed run is a lower bound. Where the parties agreed on bounds it counts as it reads:
    it uses up a place whether it reaches the contract or not, so that nobody gains by noise."""
    for name, line in protocol.contract.items():
        if figures[name].may_be_worse:
            yield f'{name} {figures[name].value:.1f} {line.unit} may be worse: not proven'
        elif figures[name].is_bound:
            value, may_count = figures[name].value, protocol.runs.get('bounds')
            if not may_count or line.value is None:
                yield f'disturbed: {name} at least {value:.1f} {line.unit}'
