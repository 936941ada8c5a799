"""Puts the page together: the head, a section per benchmark, fleet, pairs, history."""

from collections.abc import Sequence

from membw.moments import utc
from membw.plural import plural
from membw.presets.presets import version
from membw.report import pairs, summary
from membw.report.model import Page
from membw.report.rows import Row, newest_run, rows_of
from membw.report.sections import section
from membw.results.hostlist import fold
from membw.results.table import Table

CASE_FIELDS = ('session', 'commit', 'compile_line', 'modules')


def page_of(table: Table, nodes: str | None = None) -> Page:
    """The page of a Table, which is not empty."""
    rows = rows_of(newest_run(table))
    head = summary.headline_rows(rows)
    peak, _ = summary.peak_of(head[0], table)
    by_test: dict[str, list[Row]] = {head[0].figure.benchmark: []}
    for row in rows:
        by_test.setdefault(row.figure.benchmark, []).append(row)
    sections = []
    for test, same in by_test.items():
        is_in_head = same[0] is head[0] and len(same) <= summary.IN_HEAD
        made = section(test, same, peak, is_in_head, pairs.metrics_of(same[0], table))
        made.pictures += pairs.pictures(same, table)
        sections.append(made)
    verdict, counts = summary.counts(rows, [])
    return Page(
        title=_title(rows, table),
        subtitle=_subtitle(rows),
        headline=summary.headline(head),
        standing=summary.standing(head[0], table, len({row.figure.node for row in rows})),
        verdict=verdict,
        counts=counts,
        picture=summary.head_picture(head, peak),
        attention=summary.attention(rows, []),
        sections=sections,
        provenance=_provenance(rows, table),
        problems=table.problems,
        version=version(),
    )


def _title(rows: Sequence[Row], table: Table) -> str:
    nodes = sorted({row.figure.node for row in rows})
    facts = table.record(rows[0].figure).get('facts') or {}
    model = facts.get('cpu_model') or 'unknown CPU'
    name = nodes[0] if len(nodes) == 1 else f'{plural(len(nodes), "node")}, {fold(nodes)[:60]}'
    cores = facts.get('cores')
    return f'Memory bandwidth of {name} ({model}{f", {cores} cores" if cores else ""})'


def _subtitle(rows: Sequence[Row]) -> str:
    """System, and from when to when it was measured."""
    where = sorted({f'{row.figure.system}:{row.figure.partition}' for row in rows} - {':'})
    times = [row.figure.time for row in rows]
    when = f'measured {utc(min(times), "%Y-%m-%d %H:%M")} to {utc(max(times), "%H:%M")} UTC'
    return ', '.join([*where, when])


def _provenance(rows: Sequence[Row], table: Table) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """(id, title, fields) of each build and setting, with the records that have it."""
    entries: dict[str, tuple[str, str, list[tuple[str, str]]]] = {}
    for row in rows:
        f = row.figure
        fields = list(table.provenance(f).items())
        case = table.record(f).get('case') or {} if row.id not in entries else {}
        known = {name for name, _ in fields}
        more = [(k, str(case[k])) for k in CASE_FIELDS if case.get(k) and k not in known]
        title = ' '.join(filter(None, (f.benchmark, f.preset, f.pinning, f.node)))
        entry = entries.setdefault(row.id, (row.id, title, [*fields, *more]))
        if len(entry[2]) < 60:
            entry[2].append(('record', f.file))
    return list(entries.values())
