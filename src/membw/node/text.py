"""What `membw node` and `membw why` print: one line, one screen, JSON."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from membw.node.battery import ABOUT
from membw.node.causes import NAMES, Cause, differing
from membw.node.quantities import BY_METRIC
from membw.node.word import Compared, Word
from membw.printable import amount, printable
from membw.results.figure import figures_of, headline
from membw.results.findings import for_json
from membw.results.record import REFRAME, Record
from membw.tables import Cell, Column, Table
from membw.words import INVALID, PASS

COLUMNS = (
    Column('quantity', ''),
    Column('figure', 'now', True),
    Column('reference', 'median', True, True),
    Column('share', 'share', True, True),
    Column('low_below', 'low below', True, True),
    Column('word', '', optional=True),
)
ERRORS = ('corrected_errors', 'uncorrected_errors', 'machine_checks', 'thermal_throttles')


def line(found: Word) -> str:
    """For nodecheck.txt, a prolog, a probe: 'n117 FAIL a memory module or channel is gone'."""
    return printable(' '.join(filter(None, (found.node, found.word, found.why))))


def screen(found: Word, more: Sequence[str] = ()) -> list[str | Table]:
    blocks: list[str | Table] = [f'{found.node}  {found.text}']
    if found.word == PASS and found.compared and found.noticed < math.inf:
        blocks.append(f'A loss of {found.noticed:.1%} would have been seen, nine times in ten.')
    if found.newest and not found.compared:
        blocks += measured(found.newest)
    for cause in found.causes:
        blocks.append(f'{cause.text[0].upper()}{cause.text[1:]}: {"; ".join(cause.evidence)}')
        blocks.append(f'  next: {cause.next}')
    for one in found.compared:
        blocks += ['', figures(one)]
        blocks += _rest(one, found.causes)
    return [*blocks, *(other_processes(found.newest) if found.newest else ()), *more]


def _rest(one: Compared, causes: Sequence[Cause]) -> list[str]:
    """What the causes do not say."""
    explained = {name for cause in causes for name in cause.explains}
    rest = [NAMES[name] for name in one.seen.low if name not in explained]
    counted = one.seen.counted
    counts = [f'{n.replace("_", " ")} {counted[n]:g}' for n in ERRORS if counted.get(n)]
    lines = [f'Low, and not explained: {", ".join(rest)}'] * bool(rest and causes)
    known = {evidence for cause in causes for evidence in cause.evidence}
    apart = [fact for fact in differing(one.seen) if fact not in known]
    lines += [f'Differs from what it is compared with: {"; ".join(apart)}'] * bool(apart)
    return lines + [f'Meanwhile: {", ".join(counts)}'] * bool(counts)


def figures(one: Compared) -> Table:
    group, none = one.group, Cell(None, '')
    peers = f'{one.verdict.peers} {group.what}{"s" * (one.verdict.peers != 1)}'
    table = Table(f'{one.verdict.setting.name}, median of {peers}', COLUMNS)
    for column, metric in enumerate(group.metrics):
        f = one.figures.get(metric)
        if not f:
            continue
        name = BY_METRIC[metric].name if metric in BY_METRIC else metric
        base = group.medians[one.verdict.node][column]
        cells = [none, none, none, Cell('')]
        if base == base:
            limit, share = 1 - group.low_limits[column], f.share(base)
            numbers = (base, amount(base)), (share, f'{share:.3f}'), (limit, f'{limit:.3f}')
            cells = [Cell(value, text) for value, text in numbers]
            cells.append(Cell('low' * (share < limit)))
        table.rows.append(
            [Cell(name), Cell(f.value, f'{f.sign}{amount(f.value)} {f.unit}'), *cells]
        )
    return table


def measured(node: Record) -> list[str]:
    """What stands for each part, where nothing was compared."""
    parts = [(part.name, part.record) for part in node.parts if part.record]
    own = node.case.test if node.program == REFRAME else node.program
    parts = [(name, of) for name, of in parts or [(own, node)] if of.verdict != INVALID]
    found = [(name, figures_of(of)) for name, of in parts]
    heads = ((name, headline(of)) for name, of in found if of)
    return [
        f'  {ABOUT.get(name, name)}: {f.metric} {f.sign}{amount(f.value)} {f.unit}'
        for name, f in heads
    ]


def other_processes(node: Record) -> list[str]:
    """The busiest of all parts."""
    busy = [part.record.busy for part in node.parts if part.record and part.record.busy]
    seconds: dict[str, float] = defaultdict(float)
    for process in (process for one in busy for process in one.processes):
        seconds[process.name] += process.cpu_s
    names = [
        f'{name} {s:.1f} s'
        for name, s in sorted(seconds.items(), key=lambda pair: -pair[1])[:3]
        if s >= 0.1
    ]
    return [f'Other processes: {", ".join(names)}'] * bool(names)


def as_json(found: Word) -> dict[str, Any]:
    noticed = found.noticed if found.noticed < math.inf else None
    return {
        'node': found.node,
        'time': found.newest.time if found.newest else None,
        **said(found),
        'findings': for_json(found.findings),
        'noticed': noticed,
        'figures': [row for one in found.compared for row in figures(one).values()],
        'counted': found.compared[0].seen.counted if found.compared else {},
    }


def said(found: Word) -> dict[str, Any]:
    """For the node's record."""
    causes = [cause._asdict() for cause in found.causes]
    return {'word': found.word, 'why': found.why, 'causes': causes}
