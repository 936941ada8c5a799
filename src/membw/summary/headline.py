"""The result of a quick run on one screen: a headline, bars, what disturbed it, the verdict."""

import collections
import textwrap
from collections.abc import Iterator

from membw import tables
from membw.possible import published, sentence
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
    rows = sorted(rows, key=lambda row: -value_of(row))
    shown = [row for row in rows if METRIC in row.figures]
    record = next((row.record for row in rows if row.record), {})
    took = f'{seconds:.0f} s' if seconds is not None else ''
    title, wide = f'Memory bandwidth of {machine(record)}', tables.width() - 12
    yield f'  {title[:wide]:<{wide}}  {took}'.rstrip()
    if shown:
        yield f'      Triad  {text_of(shown[0].figures[METRIC])} GB/s{standing(shown[0])}'
        yield from is_that_good(shown[0], rows)
    wide = max((len(row.preset) for row in rows), default=0)
    for row in rows:
        yield from bar_lines(row, value_of(shown[0]) if shown else 0.0, wide)
    if shown:
        yield f'  {other_kernels(shown[0])}'
        if not any(row.figures[METRIC].reference for row in shown):
            yield '  No reference is set for this node: the figures are recorded only.'
    yield from busy_lines(rows)


def value_of(row: Row) -> float:
    return row.figures[METRIC].value if METRIC in row.figures else 0.0


def machine(record: dict) -> str:
    """'vm (AMD EPYC, 2 cores, 32 MiB last-level cache)'."""
    facts = record.get('facts') or {}
    parts = [facts.get('cpu_model')]
    parts += [plural(facts['cores'], 'core')] if facts.get('cores') else []
    parts += [f'{record["llc_mib"]:g} MiB last-level cache'] if record.get('llc_mib') else []
    return f'{record.get("host", "this node")} ({", ".join(filter(None, parts))})'


def standing(row: Row) -> str:
    """The distance to the reference, where there is one."""
    figure = row.figures[METRIC]
    if not figure.reference:
        return ''
    return f'     reference {figure.reference:.4g} ({figure.value / figure.reference - 1:+.0%})'


def is_that_good(row: Row, rows: list[Row]) -> Iterator[str]:
    """What the memory can do, what others reach, what limits it."""
    figure, stores = row.figures[METRIC], published.stores_of(row.stores)
    is_least = figure.is_bound and not figure.may_be_worse
    looked = [a.record for r in rows for a in r.attempts if a.record.get('looks')]
    record = {**row.record, **({'looks': least_disturbed(looked)} if looked else {})}
    for line in sentence.lines_of(record, figure.value, is_least, stores):
        yield from textwrap.wrap(
            line, tables.width(), initial_indent=' ' * 6, subsequent_indent=' ' * 8
        )


def least_disturbed(records: list[dict]) -> dict:
    """The looks of which most are no bounds; of these the first."""
    return max(
        (record['looks'] for record in records),
        key=lambda looks: sum(
            isinstance(look, dict) and look.get('is_bound') is False for look in looks.values()
        ),
    )


def bar_lines(row: Row, best: float, wide: int) -> Iterator[str]:
    if METRIC not in row.figures:
        yield f'  {row.preset:<{wide}}  {"(no figure)":<{BAR}}  {row.word}'
        yield f'  {"":<{wide}}  {cut(row.reason)}'
        return
    figure = row.figures[METRIC]
    word = '' if row.word == verdict.PASS else f'  {row.word}'
    if figure.is_bound and not figure.may_be_worse:
        word = f'  best of {plural(repetitions(row), "repetition")}{word}'
    drawn = bar(figure, best)
    yield f'  {row.preset:<{wide}}  {drawn:<{BAR}}  {text_of(figure)}{word}'
    if row.reason and row.word != verdict.PASS:
        yield f'  {"":<{wide}}  {cut(row.reason)}'


def bar(figure: Figure, best: float) -> str:
    """Eighths of a character; a bound ends in an arrow: the true figure is higher."""
    eighths = round(8 * BAR * figure.value / best)
    if figure.is_bound and not figure.may_be_worse:
        return '█' * max(eighths // 8 - 1, 0) + '▸'
    return '█' * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def repetitions(row: Row) -> int:
    """Of all rounds."""
    return sum(int(a.record.get('iterations') or 0) for a in row.attempts)


def other_kernels(row: Row) -> str:
    figures = [f for name, f in row.figures.items() if name != METRIC and f.unit == 'GB/s']
    texts = ', '.join(f'{f.metric.capitalize()} {text_of(f)}' for f in figures)
    return f'{texts} GB/s ({row.preset})' if texts else ''


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
