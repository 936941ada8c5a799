"""Puts the page together: the head, a section per benchmark, the fleet, provenance."""

from collections.abc import Sequence

from membw.moments import utc
from membw.presets import version
from membw.printable import plural
from membw.rank.ranking import with_verdicts
from membw.report import battery, history, ranking, record_pictures, summary
from membw.report.model import Page
from membw.report.run import Run
from membw.report.sections import conditions_of, section
from membw.results.hostlist import fold
from membw.results.rows import Row
from membw.results.table import Table
from membw.results.verdict import PASS
from membw.site.cpu_peak import peak_of

CASE_FIELDS = ('session', 'commit', 'compile_line', 'stores', 'modules')


def page_of(run: Run, expected: Sequence[str] = ()) -> Page:
    """The page of a Run, which has a row; `expected`: nodes that were to be measured."""
    table, rows = run.table, run.rows
    fleet = ranking.ranking_of(table, expected)
    rows = with_verdicts(rows, fleet) if fleet else rows
    head = summary.headline_rows(rows)
    peak = peak_of(table.evidence(head[0].headline))[0] if head[0].figures else None
    built = _builds(rows)
    by_test: dict[str, list[Row]] = {head[0].test: []}
    for row in rows:
        by_test.setdefault(row.test, []).append(row)
    sections = []
    for test, same in by_test.items():
        is_in_head = same[0] is head[0] and len(same) <= summary.IN_HEAD
        made = section(
            test, same, built, peak, is_in_head, record_pictures.metrics_of(same, table)
        )
        made.conditions = conditions_of(
            [table.evidence(r.headline) for r in same[:8] if r.figures]
        )
        best = record_pictures.record_of(same, table)
        said = [f for f in table.figures if f.of.word and f.benchmark == test]
        is_one = len({f.node for f in said}) == 1
        made.tables += record_pictures.tables(best)
        made.tables.sort(key=lambda one: one.is_folded)
        made.pictures += [*record_pictures.pictures(best), *record_pictures.maps(same, table)]
        sections += [made, *(battery.sections(table.evidence(said[-1])) if is_one else ())]
    picture = summary.head_picture(head, peak)
    if fleet and run.chosen:
        fleet.choose(set(run.chosen))
    if fleet:
        ranked = ranking.section(fleet)
        picture = ranked.pictures.pop(0) if ranked.pictures else picture
        sections.insert(0, ranked)
    alarms = ranking.alarms(fleet)
    named = {node.name for node in fleet.nodes if node.verdict != PASS} if fleet else set()
    if head[0].figures:
        past, changes = history.section(run.past, head[0].headline, run.chosen)
        sections += [past] if past else []
        alarms += changes
    nodes = len({row.node for row in rows if row.figures})
    return Page(
        title=_title(rows, table),
        subtitle=_subtitle(rows),
        headline=summary.headline(head),
        standing=[*summary.standing(head[0], table, nodes), *run.notes],
        verdict='' if nodes > 1 else head[0].word,
        nodes=summary.nodes_of(fleet),
        counts=summary.counts_of(run._replace(rows=rows)),
        picture=picture,
        # each node once, by what its fleet says
        attention=summary.attention([row for row in rows if row.node not in named], alarms),
        sections=sections,
        provenance=_provenance(rows, built, table),
        problems=table.problems,
        version=version(),
    )


def _builds(rows: Sequence[Row]) -> dict[str, str]:
    """{key of a provenance: id of its entry in the page}."""
    found: dict[str, str] = {}
    for row in rows:
        if row.figures:
            found.setdefault(row.headline.of.key, f'built-{len(found) + 1}')
    return found


def _title(rows: Sequence[Row], table: Table) -> str:
    nodes = sorted({row.node for row in rows if row.node})
    name = nodes[0] if len(nodes) == 1 else f'{plural(len(nodes), "node")}, {fold(nodes)[:60]}'
    measured = next((row for row in rows if row.figures), None)
    if not measured:
        return 'Memory bandwidth: nothing was measured'
    facts = table.evidence(measured.headline).get('facts') or {}
    cores = f', {plural(facts["cores"], "core")}' if facts.get('cores') else ''
    return f'Memory bandwidth of {name} ({facts.get("cpu_model") or "unknown CPU"}{cores})'


def _subtitle(rows: Sequence[Row]) -> str:
    """System, and from when to when it was measured."""
    figures = [row.headline for row in rows if row.figures]
    if not figures:
        return ''
    where = sorted({f'{f.system}:{f.partition}' for f in figures} - {':'})
    times = [f.time for f in figures]
    when = f'measured {utc(min(times), "%Y-%m-%d %H:%M")} to {utc(max(times), "%H:%M")} UTC'
    return ', '.join([*where, when])


Entry = tuple[str, str, list[tuple[str, str]]]  # id, title, [(name, text)]


def _provenance(rows: Sequence[Row], built: dict[str, str], table: Table) -> list[Entry]:
    """Of each build and setting, with the records that have it."""
    entries: dict[str, Entry] = {}
    for row in rows:
        if not row.figures:
            continue
        f = row.headline
        fields, key = list(f.provenance.items()), f.of.key
        case = table.evidence(f).get('case') or {} if key not in entries else {}
        known = {name for name, _ in fields}
        more = [(k, str(case[k])) for k in CASE_FIELDS if case.get(k) and k not in known]
        title = ' '.join(filter(None, (row.test, row.preset, row.pinning, row.node)))
        entry = entries.setdefault(key, (built[key], title, [*fields, *more]))
        if len(entry[2]) < 60 and ('record', f.file) not in entry[2]:
            entry[2].append(('record', f.file))
    return list(entries.values())
