"""The result of a quick run on one screen: a headline, bars, what disturbed it, the verdict."""

import collections
import textwrap
from collections.abc import Iterator

from membw import tables
from membw.possible import contributed, sentence
from membw.printable import plural
from membw.results import verdict
from membw.results.rows import Row
from membw.results.table import Figure
from membw.summary.full_table import text_of
from membw.tables import cut

METRIC = 'triad'
BAR = 32  # characters of the longest
EIGHTHS = ' ▏▎▍▌▋▊▉'
BUSY = 0.03  # of the CPUs, by other processes: worth a line


def lines_of(rows: list[Row], seconds: float | None) -> Iterator[str]:
    """Lines of at most 100 characters; what is best comes first."""
    shown = sorted((row for row in rows if METRIC in row.figures), key=value_of, reverse=True)
    rows = [*shown, *(row for row in rows if METRIC not in row.figures)]
    record = next((row.record for row in rows if row.record), {})
    took = f'{seconds:.0f} s' if seconds is not None else ''
    title, wide = f'Memory bandwidth of {machine(record)}', tables.width() - 12
    yield f'  {title[:wide]:<{wide}}  {took}'.rstrip()
    if shown:
        yield from is_that_good(shown[0], rows)
    wide = max((len(row.preset) for row in rows), default=0)
    for row in rows:
        yield from bar_lines(row, value_of(shown[0]) if shown else 0.0, wide)
    if shown:
        best = shown[0]
        others = [f for name, f in best.figures.items() if name != METRIC and f.unit == 'GB/s']
        texts = ', '.join(f'{f.metric.capitalize()} {text_of(f)}' for f in others)
        yield f'  {texts} GB/s ({best.preset})' if texts else '  '
        if not any(row.figures[METRIC].reference for row in shown):
            yield '  No reference is set for this node: the figures are recorded only.'
    yield from busy_lines(rows)


def value_of(row: Row) -> float:
    return row.figures[METRIC].value


def machine(record: dict) -> str:
    """'vm (AMD EPYC, 2 cores, 32 MiB last-level cache)'."""
    facts = record.get('facts') or {}
    parts = [facts.get('cpu_model')]
    parts += [plural(facts['cores'], 'core')] if facts.get('cores') else []
    parts += [f'{record["llc_mib"]:g} MiB last-level cache'] if record.get('llc_mib') else []
    return f'{record.get("host", "this node")} ({", ".join(filter(None, parts))})'


def is_that_good(row: Row, rows: list[Row]) -> Iterator[str]:
    """The figure, its reference, what the memory can do, what others reach, what limits it."""
    f, stores = row.figures[METRIC], contributed.stores_of(row.record)
    off = (
        f'     reference {f.reference:.4g} ({f.value / f.reference - 1:+.0%})'
        if f.reference
        else ''
    )
    yield f'      Triad  {text_of(f)} GB/s{off}'
    looks = [a.record['looks'] for r in rows for a in r.attempts if a.record.get('looks')]
    # of several rounds the least disturbed, of these the first
    looked = {'looks': max(looks, key=estimates)} if looks else {}
    lines = sentence.lines_of({**row.record, **looked}, f.value, is_least(f), stores)
    for line in lines:
        yield from textwrap.wrap(
            line, tables.width(), initial_indent=' ' * 6, subsequent_indent=' ' * 8
        )


def estimates(looks: dict) -> int:
    return sum(isinstance(x, dict) and x.get('is_bound') is False for x in looks.values())


def is_least(figure: Figure) -> bool:
    """The true figure is higher."""
    return figure.is_bound and not figure.may_be_worse


def bar_lines(row: Row, best: float, wide: int) -> Iterator[str]:
    word = '' if row.word == verdict.PASS else f'  {row.word}'
    if METRIC not in row.figures:
        yield f'  {row.preset:<{wide}}  {"(no figure)":<{BAR}}{word}'
    else:
        figure = row.figures[METRIC]
        eighths = round(8 * BAR * figure.value / best)
        drawn = '█' * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        if is_least(figure):
            drawn = '█' * max(eighths // 8 - 1, 0) + '▸'
            repetitions = sum(int(a.record.get('iterations') or 0) for a in row.attempts)
            word = f'  best of {plural(repetitions, "repetition")}{word}'
        yield f'  {row.preset:<{wide}}  {drawn:<{BAR}}  {text_of(figure)}{word}'
    if row.reason and word:
        yield f'  {"":<{wide}}  {cut(row.reason)}'


def busy_lines(rows: list[Row]) -> Iterator[str]:
    """Which other processes used how many CPUs meanwhile."""
    looks = [a.record['busy'] for row in rows for a in row.attempts if a.record.get('busy')]
    wall = sum(look.get('wall_s') or 0 for look in looks)
    share = [look['other_share'] for look in looks if look.get('other_share') is not None]
    if not wall or not share or sum(share) / len(share) < BUSY:
        return
    by_name: collections.Counter[str] = collections.Counter()
    for look in looks:
        for process in look.get('processes') or ():
            by_name[process['name']] += process['cpu_s']
    most = ', '.join(f'{n} {s / wall:.1f}' for n, s in by_name.most_common(3) if s > wall / 2)
    named = f' (the busiest, in CPUs: {most})' if most else ''
    yield f'  Other processes used {sum(share) / len(share):.0%} of the CPUs{named}.'
    if any(f.sign == '≥ ' for row in rows for f in row.figures.values()):
        yield '  ≥ is a lower bound, the best valid repetition: the true figure is higher.'
