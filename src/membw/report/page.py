"""Puts the page together: the head, a section per benchmark, the fleet, provenance; and its HTML,
which loads nothing."""

import base64
import hashlib
import statistics
from collections.abc import Container, Sequence

from markupsafe import Markup

from membw import templates
from membw.checkout import root
from membw.expected import sentence
from membw.grouped import grouped
from membw.moments import utc
from membw.presets import version
from membw.printable import amount, decimals, plural, signed
from membw.rank.ranking import Ranking, rank_table, with_verdicts
from membw.report import history, ranking, standing, svg
from membw.report.model import Alarm, Entry, Page
from membw.report.run import Run
from membw.report.sections import conditions, section, title_of
from membw.results.hostlist import fold
from membw.results.record import REFRAME, inner
from membw.results.rows import Row
from membw.results.table import Table
from membw.results.verdict import counted
from membw.site.cpu_peak import of_node
from membw.summary.full_table import text_of
from membw.words import GOOD, PASS, VALID, WORDS, WORST_FIRST

LISTED = 20  # lines of what needs attention; the others are folded
FIRST = 'stream'  # the benchmark of the headline, where it was measured
CASE_FIELDS = ('session', 'commit', 'compile_line', 'modules')


def page_of(run: Run, expected: Sequence[str] = ()) -> Page:
    """The page of a Run, which has a row; `expected`: nodes that were to be measured."""
    table, rows = run.table, run.rows
    nodes_of_all = {figure.node for figure in table.figures} | {*expected}
    ranked = rank_table(table, expected)
    fleet = ranked if len(nodes_of_all) > 1 else None
    if fleet or not run.verdict:  # a report of one node has the words of the terminal
        rows = with_verdicts(rows, ranked)
    tests = grouped((row.test, row) for row in rows)
    head = tests.get(FIRST) or tests[rows[0].test]
    tests = {head[0].test: head, **tests}
    entries = _provenance(rows, table)
    built = {key: entry[0] for key, entry in entries.items()}
    page = Page(
        title=_title(rows, table),
        subtitle=_subtitle(rows),
        headline=_headline(head, ranked),
        verdict=head[0].word,
        counts=run.verdict.partition(': ')[2] or ', '.join(counted(row.word for row in rows)),
        provenance=[*entries.values()],
        problems=table.problems,
        version=version(),
        words={row.word for row in rows},
    )
    alarms = []
    if fleet:
        alarms = _show_fleet(page, fleet, run)
        named = {node.name for node in fleet.nodes if node.verdict not in GOOD}
        rows = [row for row in rows if row.node not in named]  # each node once
        # of one row per node the ranking has all
        tests = {test: of for test, of in tests.items() if len({r.node for r in of}) < len(of)}
    page.sections += [section(test, of, table, built) for test, of in tests.items()]
    if not fleet:
        _show_node(page, head, table)
    page.standing += run.notes
    if table.problems:
        page.standing.append(f'{plural(len(table.problems), "line")} not read: see the end.')
    if head[0].figures:
        alarms += history.show(page, run.past, head[0].headline, run.chosen)
    page.attention = _attention(rows, tests, alarms)
    page.words |= {alarm.verdict for alarm in page.attention}
    return page


def _show_fleet(page: Page, fleet: Ranking, run: Run) -> list[Alarm]:
    if run.chosen:
        fleet.choose({*run.chosen})
    made = ranking.section(fleet)
    page.standing, page.headline = [page.headline], ranking.who_is_slow(fleet)
    page.words |= {node.verdict for node in fleet.nodes}
    page.verdict, page.counts = '', ', '.join(counted(node.verdict for node in fleet.nodes))
    page.picture = made.pictures.pop(0) if made.pictures else None
    made.conditions = conditions(run.rows, run.table)
    page.sections = [made]
    return ranking.alarms(fleet)


def _show_node(page: Page, head: Sequence[Row], table: Table) -> None:
    if not head[0].is_valid:
        return  # what needs attention says why
    page.standing = _standing(head[0], table)
    record = table.evidence(head[0].headline)
    top = of_node(record) if head[0].headline.metric == 'triad' else None
    if top and (not top.gbs or top.only_if or top.is_slice):
        top = None
    if top or len(head) > 1:
        page.picture = standing.picture(head, record, top)
    page.sections += [standing.expected(record, top)] if top else []


def _title(rows: Sequence[Row], table: Table) -> str:
    nodes = sorted({row.node for row in rows if row.node})
    name = nodes[0] if len(nodes) == 1 else f'{plural(len(nodes), "node")}, {fold(nodes)[:60]}'
    measured = next((row for row in rows if row.figures), None)
    if not measured:
        return 'Memory bandwidth: nothing was measured'
    if measured.headline.setting.program == REFRAME:
        return f'{measured.test} of {name}'
    facts = inner(table.evidence(measured.headline), 'facts')
    cores = f', {plural(facts["cores"], "core")}' if facts.get('cores') else ''
    return f'Memory bandwidth of {name} ({facts.get("cpu_model") or "unknown CPU"}{cores})'


def _subtitle(rows: Sequence[Row]) -> str:
    figures = [row.headline for row in rows if row.figures]
    if not figures:
        return ''
    where = sorted({f.setting.where for f in figures} - {''})
    times = [f.time for row in rows for a in row.attempts for f in a.figures.values()]
    begin, end = (utc(time, '%Y-%m-%d %H:%M') for time in (min(times), max(times)))
    day = begin[:11]
    return ', '.join([*where, f'measured {begin} to {end.removeprefix(day)} UTC'])


def _headline(rows: Sequence[Row], ranked: Ranking) -> str:
    """'Triad 45.8 ±4.6 GB/s' of the best row; of several nodes the median and the range, of the
    figures that their table has."""
    if not rows[0].is_valid:
        return 'No valid figure'
    f = rows[0].headline
    judged = {v.setting.row.at(v.node): v.figures for v in ranked.verdicts}
    best: dict[str, float] = {}
    for row in rows:
        if row.is_valid:
            one = judged.get(row.case, row.figures).get(f.metric, row.headline)
            best.setdefault(row.node, one.value)
    if len(best) == 1:
        return f'{title_of(f)} {text_of(f)} {f.unit}'
    low, high, middle = min(best.values()), max(best.values()), statistics.median(best.values())
    of = f'median of {len(best)} nodes ({decimals(low, 1)} to {decimals(high, 1)})'
    return f'{title_of(f)} {decimals(middle, 1)} {f.unit}, {of}'


def _standing(row: Row, table: Table) -> list[str]:
    f = row.headline
    lines = [f'{row.name} on {f.node}.']
    if f.metric == 'triad' and f.setting.program != REFRAME:
        lines += sentence.lines_of(table.evidence(f), f.value, f.bound).lines
    if not f.reference:
        return [*lines, 'No reference is set.']
    part = 100 * (f.value / f.reference - 1)
    return [
        *lines,
        f'{signed(part, "+.1f")} % compared with its reference of {amount(f.reference)} {f.unit}.',
    ]


def _attention(rows: Sequence[Row], tests: Container[str], alarms: Sequence[Alarm]) -> list[Alarm]:
    """What is not good, or known, by verdict and then by loss; equal reasons are one line.
    `tests`: those with a section."""
    alike = grouped(((r.word, r.test, r.reason), r) for r in rows if r.word not in (PASS, VALID))
    every, is_fleet = [*alarms], len({row.node for row in rows} - {''}) > 1
    for (word, test, why), same in alike.items():
        names, nodes = {row.name for row in same}, sorted({row.node for row in same})
        what = same[0].name if len(names) == 1 else f'{len(names)} rows'
        several = plural(len(nodes), 'node') if nodes[1:] else ' '.join(nodes)
        where = f' on {several}' if is_fleet and several else ''
        link = f'test-{test}' if test in tests else 'nodes'
        every.append(Alarm(word, f'{test} {what}{where}', why, link))
    order = [*WORST_FIRST, 'CHANGE'].index
    return sorted(every, key=lambda alarm: order(alarm.verdict))


def _provenance(rows: Sequence[Row], table: Table) -> dict[str, Entry]:
    """{key of a build and setting: its entry}, with the records that have it; no path of this
    checkout."""
    entries: dict[str, Entry] = {}
    for f, row in ((row.headline, row) for row in rows if row.figures):
        if f.of.key not in entries:
            case = inner(table.evidence(f), 'case')
            more = {k: str(case[k]) for k in CASE_FIELDS if case.get(k) and k not in f.provenance}
            every = {**f.provenance, **more}.items()
            fields = [(key, text.replace(f'{root()}/', '')) for key, text in every]
            id_of = f'built-{len(entries) + 1}'
            entries[f.of.key] = id_of, f'{row.test} {row.name} {row.node}', fields
        fields, file = entries[f.of.key][2], f.file.replace(f'{root()}/', '')
        if len(fields) < 60 and ('record', file) not in fields:
            fields.append(('record', file))
    return entries


# --- its HTML: style, script, what a browser may do


def render(page: Page) -> str:
    """The HTML of a page."""
    html = templates.html()
    css, script = (templates.HTML.get_source(html, f'report.{x}')[0] for x in ('css', 'js'))
    words = ''.join(f'.{w.name.lower()} {{ color: var(--{w.colour}); }}\n' for w in WORDS)
    style = f'{svg.page_css()}\n{svg.picture_css()}\n{css}{words}'
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return html.get_template('report.html').render(
        style=Markup(style),
        script=Markup(script),
        content_policy=Markup(policy),
        page=page,
        most=LISTED,
        words=[word for word in WORDS if word.name in page.words],
    )


def _hash(text: str) -> str:
    return f'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'
