"""The result of a quick run on one screen of 12 lines: the machine, its Triad, whether that is
good and by what, who disturbed it, the verdict, what to do next."""

import collections
import os
import textwrap
from collections.abc import Iterator
from typing import Any

from membw import tables
from membw.expected import sentence
from membw.grouped import grouped
from membw.printable import amount, plural, signed
from membw.results.figure import Figure
from membw.results.findings import kind_of
from membw.results.rows import Row
from membw.site.cpu_peak import is_virtual
from membw.summary.full_table import digits, text_of
from membw.words import FAIL, INVALID, PASS, UNDECIDED, VALID, WORST_FIRST

METRIC = 'triad'
LINES, WIDTH = 12, 80
INDENTED: Any = {'initial_indent': '  ', 'subsequent_indent': '    ', 'placeholder': ' ...'}
BAR = 32  # characters of the longest
BUSY, SEEN = 0.03, 0.05  # a share of the CPUs that is worth a line; CPUs, where figures are bounds
IS_SHARED = 'A virtual machine: another minute of its host may give another figure.'


def lines_of(rows: list[Row], seconds: float | None) -> list[str]:
    """Sentences for which there is no room are left out, the last ones first."""
    shown = sorted((row for row in rows if METRIC in row.figures and row.is_valid), key=place)
    every = [*shown, *(row for row in rows if row not in shown)]
    record = next((row.record for row in every if row.record), {})
    took = f'{seconds:.0f} s' if seconds is not None else ''
    wide = columns() - 8
    top = [f'{machine(record)[:wide]:<{wide}}{took:>8}'.rstrip()]
    bars = [*bar_lines(every, shown)] if len(every) > 1 else []
    disturbed = [*disturbed_lines(every)]
    is_shared = is_virtual(record.get('facts') or {}) and shown and not disturbed
    end = [*disturbed, *([IS_SHARED] if is_shared else [])]
    found = is_that_good(shown[0], rows) if shown else sentence.Said([], False)
    good = [number(row) for row in shown[:1]] + found.lines
    why = verdict_lines(every)
    end = [wrapped(said, 1)[0] for said in end]
    end += [line for said in why for line in wrapped(said, 3 - len(why))]
    end += wrapped(next_line(every, found.is_low, bool(disturbed)), 1)
    for lines in map(wrapped, good):
        if len(top) + len(lines) + len(bars) + len(end) > LINES:
            break
        top += lines
    return [*top, *bars, *end]


def wrapped(said: str, most: int = LINES) -> list[str]:
    return textwrap.wrap(said, columns(), break_on_hyphens=False, max_lines=most, **INDENTED)


def columns() -> int:
    return min(WIDTH, tables.width(WIDTH))


def place(row: Row) -> tuple[bool, float]:
    """A key to sort by: the best first, what may be too high behind what is sure."""
    figure = row.figures[METRIC]
    return figure.may_be_worse, -figure.value


def machine(record: dict) -> str:
    """'vm  AMD EPYC, 2 cores'; of threads on a part of them '1 thread on 2 cores'."""
    facts, threads = record.get('facts') or {}, record.get('threads') or 0
    cores = facts.get('cores') or 0
    of = f'{plural(threads, "thread")} on ' if 0 < threads < cores else ''
    parts = [facts.get('cpu_model'), f'{of}{plural(cores, "core")}' if cores else '']
    return f'{record.get("host", "this node")}  {", ".join(filter(None, parts))}'


def number(row: Row) -> str:
    """'Triad at least 25.9 GB/s by gcc-o3 (Copy 18.2, Read 28.1)'."""
    f = row.figures[METRIC]
    value = f'{sentence.SURE[f.bound].lower()}{digits(f.value)}' if f.bound else text_of(f)
    off = ''
    if f.reference:
        off = f'; reference {amount(f.reference)} ({signed(f.value / f.reference - 1)})'
    rates = [r for name, r in row.figures.items() if name != METRIC and r.unit == 'GB/s']
    texts = ', '.join(f'{r.metric.capitalize()} {r.sign}{digits(r.value)}' for r in rates)
    return f'Triad {value} GB/s by {row.preset}{f" ({texts})" * bool(texts)}{off}'


def is_that_good(row: Row, rows: list[Row]) -> sentence.Said:
    """What the memory can do, what others reach, what limits it."""
    f = row.figures[METRIC]
    looks = [a.record['looks'] for r in rows for a in r.attempts if a.record.get('looks')]
    # of several rounds the least disturbed, of these the first
    looked = {'looks': max(looks, key=estimates)} if looks else {}
    return sentence.lines_of({**row.record, **looked}, f.value, f.bound)


def estimates(looks: dict) -> int:
    return sum(isinstance(x, dict) and x.get('is_bound') is False for x in looks.values())


def is_least(figure: Figure) -> bool:
    """The true figure is higher."""
    return figure.is_bound and not figure.may_be_worse


def has_least(rows: list[Row]) -> bool:
    """Of the figures that are shown: all of the best row, Triad of the others."""
    shown = [*rows[0].figures.values(), *(r.figures[METRIC] for r in rows if METRIC in r.figures)]
    return any(map(is_least, shown))


def bar_lines(rows: list[Row], shown: list[Row]) -> Iterator[str]:
    wide = max(len(row.preset) for row in rows)
    best = max((row.figures[METRIC].value for row in shown), default=0.0)
    for row in rows:
        drawn, text = '', ''
        if row in shown:
            figure = row.figures[METRIC]
            text, long = text_of(figure), round(BAR * figure.value / best)
            drawn = '█' * (long - 1) + '▸' if is_least(figure) else '█' * long
        word = '' if row.word in (PASS, VALID) else row.word
        yield '  '.join(('', f'{row.preset:<{wide}}', f'{drawn:<{BAR}}', text, word)).rstrip()


def disturbed_lines(rows: list[Row]) -> Iterator[str]:
    """Who took the CPUs meanwhile, by its right name: the host, other processes, a quota."""
    records = [a.record for row in rows for a in row.attempts if a.record.get('busy')]
    wall = sum(record['busy'].get('wall_s') or 0 for record in records)
    if not wall:
        return
    facts = records[0].get('facts') or {}
    cpus = facts.get('cpus') or facts.get('cores') or records[0].get('threads') or 1
    is_bound = has_least(rows)
    least = min(BUSY * cpus, SEEN) if is_bound else BUSY * cpus
    stolen, busy = (
        cpus * sum(r['busy'].get(name) or 0 for r in records) / len(records)
        for name in ('stolen_share', 'other_share')
    )
    by_name: collections.Counter[str] = collections.Counter()
    for record in records:
        for process in record['busy'].get('processes') or ():
            by_name[process['name']] += process['cpu_s'] / wall
    if stolen >= least:
        took = f'The host of this virtual machine took {stolen:.1f} of {plural(cpus, "CPU")}'
        yield f'{took}: nothing inside helps.'
    if busy >= least:
        most = ', '.join(f'{n} {s:.1f}' for n, s in by_name.most_common(3) if s >= SEEN)
        who = most or 'none that can be seen from here'
        yield f'Other processes used {busy:.1f} of {plural(cpus, "CPU")}: {who}.'
    if is_bound and max(stolen, busy) < least:
        warnings = [w for r in records for w in r.get('warnings') or ()]
        texts = (w.get('detail') for w in warnings if w.get('reason') == 'disturbed')
        yield from [f'Disturbed: {text}.' for text in texts][:1]


def verdict_lines(rows: list[Row]) -> list[str]:
    """The worst first; each reason once, of several sizes one."""
    bad = sorted(
        (r for r in rows if r.word not in (PASS, VALID)), key=lambda r: WORST_FIRST.index(r.word)
    )
    alike = grouped(((r.word, kind_of(r.findings)), r) for r in bad)
    lines = []
    for (word, _), of in alike.items():
        presets = ', '.join(row.preset for row in of) if len(rows) > len(of) else ''
        lines.append(': '.join(filter(None, (word, presets, of[0].reason))))
    is_compared = any(row.word == PASS for row in rows)
    alone = f'{VALID}: the figure is right; no reference to compare it with'
    return lines[:2] or [f'{PASS}: within the reference' if is_compared else alone]


def next_line(rows: list[Row], is_low: bool, is_disturbed: bool) -> str:
    again, full, node, page = 'membw run', 'membw run --full', 'membw node', 'membw report'
    if os.path.exists('ci/in-env'):  # they work in the shell of `make run`, too
        again, full = 'make run', 'make run ARGS=--full'
        node, page = f'ci/in-env {node}', f'ci/in-env {page}'
    words = {row.word for row in rows}
    if rows and not any(row.figures for row in rows):
        return f'Next: {again}; docs/troubleshooting.md has what to do about each reason'
    if INVALID in words or UNDECIDED in words and not is_disturbed:
        return 'Next: docs/troubleshooting.md has what to do about each reason'
    if UNDECIDED in words or has_least(rows):
        return f'Next: {again}, when it is quiet; as a page: {page}'
    if is_low or FAIL in words:
        return f'Next: {node} (slow, and why?), {page} (a page)'
    return f'Next: {page} (a page), {full} (all presets)'
