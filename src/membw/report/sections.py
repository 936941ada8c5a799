"""Puts the report together: sections in their order, verdicts first."""

import time

from membw.errors import MembwError
from membw.plural import plural
from membw.rank import fleet as fleets
from membw.report import (
    arithmetic,
    bandwidth,
    compilers,
    history,
    numa,
    openmp,
    pairs,
    past,
    ranking,
    verdicts,
)
from membw.report.model import Report
from membw.report.rows import failed_builds, rows_of
from membw.results.hostlist import expected_nodes, match_expected, read_node_check
from membw.run import summary

NAMED = 3  # nodes or processors in the heading
# checks with a section of their own
OTHERS = (arithmetic.TEST, *openmp.SCALING, openmp.OVERHEADS)


def build(inputs, nodes=''):
    """A Report of the Inputs; `nodes`: those expected; an error where nothing was measured."""
    rows = rows_of(inputs.cases)
    records = inputs.records
    fleet = _judge(records, expected_nodes(nodes) if nodes else _asked(inputs.cases))
    if not fleet.nodes and not any(map(_tells, rows)):
        raise _nothing(inputs, rows)
    nights = past.read(inputs.databases, inputs.nights)
    sections = [
        bandwidth.section([r for r in rows if r.test not in OTHERS], inputs.ratios),
        numa.section(rows), arithmetic.section(rows), openmp.section(rows),
        ranking.section(fleet), pairs.section(records, inputs.cases, fleet.links),
        history.section(nights), compilers.section(rows),
    ]  # fmt: skip
    verdict, headline, counts = verdicts.overall(rows, failed_builds(inputs.cases), fleet, nights)
    return Report(
        title=_title(rows, fleet),
        verdict=verdict,
        headline=headline,
        counts=counts,
        attention=verdicts.attention(rows, failed_builds(inputs.cases), fleet, nights),
        facts=_facts(inputs, records, rows),
        sections=[section for section in sections if section],
        provenance={row.id: row.provenance for row in rows} | past.provenance(nights),
        fleet=ranking.as_data(fleet, records),
        problems=inputs.problems,
    )


def _tells(row):
    """A run that went wrong tells something, too; a dry run, and one of another kind, do not."""
    return row.figures or row.others or row.verdict in ('FAIL', 'INVALID')


def _asked(cases):
    """The nodes that whole-cluster runs were given, by the node-check file that they leave."""
    names = set()
    for case in cases:
        names |= {name for name, _, _ in read_node_check(case.get('node_check') or '.')}
    return sorted(names)


def _judge(records, expected):
    return fleets.judge(records, match_expected({r.host for r in records}, expected))


def _nothing(inputs, rows):
    """A run that skipped everything, or a dry run, has nothing to show."""
    files = ', '.join(str(file) for file, _ in inputs.reports)
    why = 'a dry run' if rows else summary.verdict(inputs.cases)[0].lower()
    return MembwError(
        f"'{files}' measured nothing: {why}", 'name an older one: membw report results/reports/...'
    )


def _title(rows, fleet):
    systems = sorted({row.where.split(':')[0] for row in rows})
    count = len({node.name for node in fleet.nodes})
    return f'Memory bandwidth of {", ".join(systems) or plural(count, "node")}'


def _span(info):
    """'2026-11-21 16:34 to 16:45 UTC' of a session."""
    times = [info.get(f'time_{which}_unix') for which in ('start', 'end')]
    start, end = (time.gmtime(t) if t else None for t in times)
    if not start:
        return ''
    until = f' to {time.strftime("%H:%M", end)}' if end else ''
    return f'{time.strftime("%Y-%m-%d %H:%M", start)}{until} UTC'


def _machines(inputs, records, rows):
    """Nodes, processors and time of the run, as far as known: what a reader asks first."""
    nodes = {r.host for r in records} | {row.provenance.get('node') for row in rows}
    cpus = {r.traits.get('cpu_model') for r in records}
    cpus |= {row.provenance.get('cpu model') for row in rows}
    for names in (nodes, cpus):
        known = sorted(str(name) for name in names if name)
        more = f' and {len(known) - NAMED} more' if len(known) > NAMED else ''
        yield ', '.join(known[:NAMED]) + more
    yield from [_span(info) for _, info in inputs.reports][:1]


def _facts(inputs, records, rows):
    """What was measured, and read: (name, text)."""
    facts = [('measured', '; '.join(filter(None, _machines(inputs, records, rows))))]
    for file, info in inputs.reports:
        facts.append(('run', _span(info)))
        facts.append(('report', str(file)))
        facts.append(('command', info.get('cmdline', '')))
        facts.append(('ReFrame', info.get('version', '')))
    facts.append(('records', f'{inputs.count} in {len(inputs.files)} files'))
    facts += [('history', str(file)) for file in inputs.databases]
    facts.append(('written', time.strftime('%Y-%m-%d %H:%M:%S %z')))
    return [(name, text) for name, text in facts if text]
