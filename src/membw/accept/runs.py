"""Selects the runs of an acceptance from the table of results, each with a reason if left out."""

from collections.abc import Iterator
from dataclasses import dataclass

from membw.accept.protocol import Protocol
from membw.moments import day, utc
from membw.printable import printable
from membw.results.hostlist import match_expected
from membw.results.table import Figure, Table

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
    setting: str = ''  # equal for runs of one source, options, compiler and CPU
    build: tuple[tuple[str, str], ...] = ()  # BUILD, as far as recorded
    source: str = ''  # file and line of its record
    is_copy: bool = False  # of another run


def runs_of(protocol: Protocol, table: Table) -> list[Run]:
    """Every run of the table in order of time, with the node's name in the protocol."""
    together: dict[tuple[str, int, str], dict[str, Figure]] = {}
    for figure in table.figures:
        key = figure.file, figure.line, figure.node
        together.setdefault(key, {})[figure.metric] = figure
    hosts = {figure.node for figure in table.figures}
    names = protocol.names or []
    renamed = dict(zip(match_expected(hosts, names), names, strict=True))
    runs: list[Run] = []
    seen: dict[tuple[str, tuple[tuple[str, float], ...]], float] = {}
    for figures in together.values():
        run = _run(protocol, table, figures, renamed)
        same = run.node, tuple(sorted((name, f.value) for name, f in figures.items()))
        if not run.why_not and same in seen:
            run.why_not = f'a copy of the run of {utc(seen[same])}: every figure is equal'
            run.is_copy = True
        elif not run.why_not:
            seen[same] = run.time
        runs.append(run)
    return runs


def _run(
    protocol: Protocol, table: Table, figures: dict[str, Figure], renamed: dict[str, str]
) -> Run:
    first, contract = next(iter(figures.values())), protocol.contract
    known = table.provenance(first)
    why_not = '; '.join(_not_agreed(protocol, figures, known))
    if why_not:
        why_not = printable(f'not under the protocol: {why_not}')
    elif first.verdict != 'VALID':
        why_not = printable(f'{first.verdict}: {first.reasons}')
    elif first.allowed:
        why_not = printable(f'VALID only because --allow named {first.allowed}')
    else:
        why_not = '; '.join(_undecided(protocol, figures))
    return Run(
        renamed.get(first.node, first.node),
        first.time,
        first.night,
        {name: figures[name].value for name in contract if name in figures},
        why_not,
        setting=f'{first.setting} source_sha256={known.get("source_sha256", "")}',
        build=tuple((name, known[name]) for name in BUILD if name in known),
        source=f'{first.file}:{first.line}',
    )


def _not_agreed(
    protocol: Protocol, figures: dict[str, Figure], known: dict[str, str]
) -> Iterator[str]:
    """Why the run is not one that the parties agreed on."""
    first, agreed = next(iter(figures.values())), protocol.runs
    for word, value in (
        ('test', first.benchmark),
        ('preset', first.preset),
        ('pinning', first.pinning),
        ('system', first.system),
    ):
        if agreed.get(word, value) != value:
            yield f'{word} {value or "not recorded"}'
    for name, line in protocol.contract.items():
        figure = figures.get(name)
        if not figure or (figure.unit, figure.better) != (line.unit, line.better):
            yield f'no {name} in {line.unit}'
    stated = agreed.get('record', {})
    for name, value in {**USUAL, **stated}.items():
        found = known.get(name, 'not recorded' if name in stated else value)
        if found != str(value):
            yield f'{name} {found}'
    measured, period = day(first.time), protocol.content['period']
    if not period['from'] <= measured <= period['to']:
        yield f'measured on {measured}'


def _undecided(protocol: Protocol, figures: dict[str, Figure]) -> Iterator[str]:
    """A disturbed run is a lower bound. Where the parties agreed on bounds it counts as it reads:
    it uses up a place whether it reaches the contract or not, so that nobody gains by noise."""
    for name, line in protocol.contract.items():
        if figures[name].is_bound:
            value, may_count = figures[name].value, protocol.runs.get('bounds')
            if not may_count or line.value is None:
                yield f'disturbed: {name} at least {value:.1f} {line.unit}'
