"""What `membw node` and `membw why` print: one line, one screen, JSON."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from membw.node.causes import differing
from membw.node.figures import NAMES, Record
from membw.node.judge import SLOW, Judgement
from membw.printable import printable
from membw.tables import Cell, Column, Table

COLUMNS = (
    Column('quantity', ''),
    Column('figure', 'now', True),
    Column('reference', 'reference', True),
    Column('share', 'share', True),
    Column('low_below', 'low below', True),
    Column('from', 'from'),
    Column('word', ''),
)
ERRORS = ('corrected_errors', 'uncorrected_errors', 'machine_checks', 'thermal_throttles')


def line(node: Record, judged: Judgement) -> str:
    """For nodecheck.txt, a prolog, a probe: 'n117 SLOW a memory module or channel is gone'."""
    return printable(' '.join(filter(None, (node['host'], judged.word, judged.why))))


def screen(node: Record, judged: Judgement, more: Sequence[str] = ()) -> list[str | Table]:
    blocks: list[str | Table] = [f'{node["host"]}  {judged.text}', figures(judged), '']
    for cause in judged.causes:
        blocks.append(f'{cause.text[0].upper()}{cause.text[1:]}: {"; ".join(cause.evidence)}')
        blocks += [f'  known from: {cause.source}', f'  next: {cause.next}']
    explained = {name for cause in judged.causes for name in cause.explains}
    rest = [NAMES[name] for name in judged.seen.low if name not in explained]
    apart, counted = differing(judged.seen), judged.seen.counted
    counts = [f'{n.replace("_", " ")} {counted[n]:g}' for n in ERRORS if counted.get(n)]
    blocks += [f'Low, and not explained: {", ".join(rest)}'] * bool(rest and judged.word == SLOW)
    blocks += [f'Differs from what it is compared with: {"; ".join(apart)}'] * bool(apart)
    blocks += [f'Meanwhile: {", ".join(counts)}'] * bool(counts)
    return [*blocks, *cpu_time(node), *more]


def figures(judged: Judgement) -> Table:
    table, none = Table('', COLUMNS), Cell(None, '-')
    for name, quantity in judged.quantities.items():
        cells = [none, none, none, none, Cell('')]
        if base := judged.bases.get(name):
            share, limit = quantity.share(base.value), 1 - judged.seen.limits[name]
            numbers = (base.value, '.4g'), (share, '.3f'), (limit, '.2f')
            cells = [Cell(value, format(value, form)) for value, form in numbers]
            cells += [Cell(base.source), Cell('low' * (share < limit))]
        table.rows.append([Cell(NAMES[name]), Cell(quantity.value, quantity.text()), *cells])
    return table


def cpu_time(node: Record) -> list[str]:
    """Who took the CPUs, over all parts."""
    traces = [part['trace'] for part in node['parts'] if part.get('trace')]
    names = ('own', 'other', 'unaccounted', 'interrupts', 'steal')
    own, other, unaccounted, interrupts, steal = (sum(t[f'{n}_s'] for t in traces) for n in names)
    preempted = sum(t.get('preempted', 0) for t in traces)
    busiest: Counter = Counter()
    for row in (row for trace in traces for row in trace['processes']):
        busiest[f'{row["name"]} ({row["pid"]})'] += row['cpu_s']
    who = ', '.join(f'{name} {seconds:.1f} s' for name, seconds in busiest.most_common(3))
    return [
        f'CPU time: battery {own:.1f} s, preempted {preempted} times, '
        f'other processes {other:.1f} s ({who or "none"}), no process that is there '
        f'{unaccounted:.1f} s, interrupts {interrupts:.1f} s, stolen {steal:.1f} s'
    ] * bool(traces)


def as_json(node: Record, judged: Judgement) -> dict[str, Any]:
    own = {'node': node['host'], 'time': node['time'], **judged.said()}
    return own | {'figures': figures(judged).values(), 'counted': judged.seen.counted}
