"""The table of `membw bench`: paired ratios to stream.c as gcc -O2 makes it."""

from membw.bench.build import LINES
from membw.bench.programs import OURS, THEIRS
from membw.bench.stats import best_of, rates, ratio, summary
from membw.results.case import STREAM as KERNELS
from membw.tables import Cell, Column, Table

# what the Standard kernels are meant to reach of stream.c's, by the same compiler line
PARITY = 0.99


def reference(programs):
    """stream.c by the first line; without it our own program by that line."""
    names = [program.name for program in programs]
    wanted = [f'{name}, {LINES[0]}' for name in (THEIRS, OURS)]
    return next((name for name in wanted if name in names), None)


def rows(rounds, programs, base):
    """[{'program': .., 'copy': Ratio or None, ...}] in the order of the table."""
    lines = [
        {'program': p.name, **{k: ratio(rounds, p.name, base, k) for k in KERNELS}}
        for p in programs
        if p.part != 'likwid'
    ]
    return lines + best_rows(rounds, programs, base)


def best_rows(rounds, programs, base):
    """likwid-bench: of its plain and of its non-temporal kernels the best one each."""
    lines = []
    for nontemporal, name in ((False, 'best of plain'), (True, 'best of non-temporal')):
        family = [p.name for p in programs if p.part == 'likwid' and p.nontemporal == nontemporal]
        best = {kernel: best_of(rounds, family, kernel) for kernel in KERNELS}
        if any(best.values()):
            row = {'program': f'likwid-bench, {name}', 'of': {k: v for k, v in best.items() if v}}
            row |= {k: ratio(rounds, best[k], base, k) if best[k] else None for k in KERNELS}
            lines.append(row)
    return lines


def parity(rounds, programs):
    """Ours against stream.c by the same line: [{'line': .., 'copy': Ratio, ...}]."""
    names = {program.name for program in programs}
    return [
        {
            'line': str(line),
            **{k: ratio(rounds, f'{OURS}, {line}', f'{THEIRS}, {line}', k) for k in KERNELS},
        }
        for line in LINES
        if {f'{OURS}, {line}', f'{THEIRS}, {line}'} <= names
    ]


def against_peers(rounds, programs):
    """The tuned kernels against the best of all likwid-bench kernels: {'copy': Ratio, ..}."""
    mine = next((p.name for p in programs if p.part == 'tuned'), None)
    peers = [p.name for p in programs if p.part == 'likwid']
    best = {kernel: best_of(rounds, peers, kernel) for kernel in KERNELS}
    if not mine or not any(best.values()):
        return []
    return [
        {
            'program': f'{mine} to the best of likwid-bench',
            **{
                k: ratio(rounds, mine, best[k], k, 'mean_mbs') if best[k] else None
                for k in KERNELS
            },
        }
    ]


# --- as a table ---------------------------------------------------------------------------------


def table(title, first, rows):
    """A name, then median and MAD of each kernel."""
    columns = [Column(first, first), *(Column(k, k.capitalize(), True) for k in KERNELS)]
    lines = [[row[first], *(cell(row[kernel]) for kernel in KERNELS)] for row in rows]
    return Table(title, tuple(columns), lines)


def cell(middle):
    return Cell(
        *((middle.median, f'{middle.median:.2f} ±{middle.mad:.2f}') if middle else (None, '-'))
    )


def base_rates(rounds, base):
    """'copy 45.1, ...': the reference's own figures, and how they swing, in GB/s."""
    words = []
    for kernel in KERNELS:
        values = [v / 1000 for v in rates(rounds, base, kernel) if v]
        if values:
            middle = summary(values)
            words.append(f'{kernel} {middle.median:.1f} ({min(values):.1f} to {max(values):.1f})')
    return ', '.join(words)


def missed(rows):
    """'gcc -O2: copy 0.97': where parity does not hold."""
    return [
        f'{row["line"]}: {kernel} {row[kernel].median:.3f}'
        for row in rows
        for kernel in KERNELS
        if row[kernel] and row[kernel].median < PARITY
    ]
