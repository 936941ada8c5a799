"""`membw summary`: what a ReFrame report says, as one table and one verdict."""

import collections
import os
import sys

from membw import tables
from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text
from membw.plural import plural
from membw.rank import node_verdicts
from membw.results import case as of_case
from membw.results.intervals import shown, with_interval
from membw.results.metrics import common_unit
from membw.results.read import STDIN
from membw.results.record import BadRecord
from membw.results.reframe import parse_report
from membw.run import ratios, rows
from membw.run.judge import DRY, EXPECTED, failed_build, judge, measures
from membw.run.newest import reports
from membw.run.skips import shorten, skip_lines, skip_reasons
from membw.run.told_once import told_once
from membw.site.cpulist import compress
from membw.tables import Cell, Column, Table

NO_REFERENCE = 'no reference: recorded only'


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'summary',
        help='print the table of a run again',
        description='Prints the figures of a ReFrame report with references and verdicts. Exit '
        'status: 0 all passed or failed as the references expect (KNOWN), 1 some failed, passed '
        'unexpectedly (XPASS) or are invalid, 2 not a report.',
    )
    parser.add_argument('report', nargs='?',
                        help='a file, or - for stdin (the newest of results/reports)')  # fmt: skip
    tables.add_argument(parser)
    parser.set_defaults(func=lambda args: show(args.report or reports()[0], form=args.format))


def load(path):
    """A ReFrame report, of a file or of - (stdin); anything else is refused."""
    if str(path) == STDIN:
        return parse(sys.stdin.buffer.read().decode(errors='replace'), 'stdin')
    try:
        return parse(read_text(path, "'membw run' makes a report"), path)
    except OSError as err:
        raise MembwError(f"cannot read '{path}': {err.strerror}", "'membw run' makes a report")


def parse(text, name):
    """The same of its text."""
    if not text.strip():
        raise MembwError(f"'{name}' is empty", 'was the disk full when ReFrame wrote it?')
    try:
        return parse_report(text)
    except BadRecord as err:
        raise MembwError(f"'{name}' is no report: {err}", 'give the .json file of a run') from err


def believed(path):
    """How many runs of a report have figures that may be believed."""
    cases = rows.of_report(load(path))
    return sum(judge(case)[0] in rows.BELIEVED for case in cases if measures(case))


def show(path, seconds=None, left_out=None, form='plain'):
    """Print the table; the exit status that it deserves."""
    report = load(path)
    cases = rows.of_report(report)
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run' without -n runs them all")
    text, status = verdict(cases)
    took = f' ({seconds:.0f} s)' if seconds is not None else ''
    blocks = [*blocks_of(report, cases, path, left_out or {}), f'Verdict: {text}{took}']
    print(tables.as_text(blocks, form))
    return status


def blocks_of(report, cases, path, left_out):
    """Tables, and the lines between them."""
    yield from tables_of([case for case in cases if measures(case)])
    yield from ratio_tables(report)
    yield from other_lines([c for c in cases if not measures(c) and c['result'] == 'fail'])
    yield from skip_lines(cases, skip_reasons(path))
    yield from left_out_lines(left_out)
    yield from place_lines(path)
    yield from rows.quality([case for case in cases if measures(case)])


# one case


def row(case, metrics):
    """Cells of the table whose columns are these metrics."""
    word, why = judge(case)
    measured = of_case.figures(case)
    valid = word != 'INVALID'
    intervals = case.get('intervals') or {}
    cells = [
        Cell(measured[m.name].value, with_interval(measured[m.name].value, intervals.get(m.name)))
        if valid and m.name in measured
        else Cell(None, '-')
        for m in metrics
    ]
    data = of_case.record(case)
    share, against = (of_peak(case, data), compare(measured)) if valid else (None, '')
    if against and case.get('reference_expired'):
        against += f' (it expired on {case["reference_expired"]})'
    where = [case['environ'], Cell(case.get('pinning'), case.get('pinning') or '-')]
    stores = Cell(case.get('stores'), case.get('stores') or '?')
    rest = [percent(share), against, stores, placed(data), word, why or allowed(data)]
    return [*where, *cells, *rest]


def percent(share):
    return Cell(share, '' if share is None else f'{share:.1%}')


def allowed(data):
    """What would have made it INVALID, had the caller not allowed it."""
    names = [r['reason'] for r in data.get('reasons', []) if r.get('allowed')]
    return f'allowed: {", ".join(names)}' if names else ''


def placed(data):
    """The real affinity of the threads, as the program read it from the kernel."""
    masks = [t['affinity'] for t in data.get('threads_on', [])]
    if not masks:
        return ''
    if not all(mask.isdigit() for mask in masks):
        return f'free on {shorten(sorted(set(masks)))}'
    cpus = sorted({int(mask) for mask in masks})
    if len(cpus) < len(masks):
        return f'{len(masks)} crowded on {compress(cpus)}'
    return f'one per CPU: {compress(cpus)}'


def compare(measured):
    """The figures against their references, else the plain truth."""
    ratios = [f'{k} {f.value / f.reference:.0%}' for k, f in measured.items() if f.reference]
    if ratios:
        return 'of reference: ' + ', '.join(ratios)
    return NO_REFERENCE if measured else ''


def of_peak(case, data):
    """The last bandwidth of the record (STREAM's: Triad), or the best of a curve, of the peak."""
    peak = data.get('peak_gbs')
    measured = of_case.figures(case)
    listed = [measured[m.name].value for m in of_case.metrics(case, data) if m.is_bandwidth]
    points = [figure.value for figure in measured.values() if figure.unit == 'GB/s']
    if not peak or not points:
        return None
    return (listed[-1] if listed else max(points)) / peak


# what is printed


def tables_of(cases):
    groups = collections.defaultdict(list)
    for case in cases:
        name = case['name'].split()[0]
        groups[name, f'{case["system"]}:{case["partition"]}'].append(case)
    for (name, where), members in groups.items():
        records = [of_case.record(case) for case in members]
        metrics = metrics_of(members, records)
        unit = f', {common_unit(metrics)}' if common_unit(metrics) else ''
        title = f'{name} on {where}{unit}{conditions(records)}'
        yield ''
        if len(metrics) > rows.WIDE:
            yield from table_of_figures(title, members, metrics)
        elif metrics or not any(map(of_case.figures, members)):
            states = [state for case in members for state in rows.states(case)]
            yield table(title, states, metrics)
        else:
            yield table_of_points(title, members)
        for line in [line for case in members for line in node_verdicts.lines_of(case)]:
            yield f'  {line}'


def metrics_of(cases, records):
    """Those that any of the cases measured, in the order of the records."""
    pairs = zip(cases, records, strict=True)
    return list(dict.fromkeys(m for case, data in pairs for m in of_case.metrics(case, data)))


def table(title, cases, metrics):
    unit = common_unit(metrics)
    heads = [(m.name, m.name.capitalize() if unit else m.title, True) for m in metrics]
    columns = [('preset', 'preset'), ('pinning', 'pinning'), *heads,
               ('of_peak', '% of peak', False, True),
               ('reference', 'reference'), ('stores', 'stores'), ('threads', 'threads'),
               ('verdict', 'verdict'), ('reason', '')]  # fmt: skip
    lines = [row(case, metrics) for case in cases]
    lines.sort(key=lambda cells: (cells[0], str(cells[1])))
    return Table(title, tuple(Column(*column) for column in columns), list(told_once(lines)))


def table_of_figures(title, cases, metrics):
    """More figures than a line holds: a line per figure and a column per case, then the
    verdicts."""
    told = [case['display_name'].split()[1:] for case in cases]
    alike = set.intersection(*map(set, told))
    names = [
        ' '.join(
            [case['environ'], *(word.partition('=')[2] for word in words if word not in alike)]
        )
        for case, words in zip(cases, told, strict=True)
    ]
    cells = [dict(zip(metrics, row(case, metrics)[2:])) for case in cases]
    columns = [Column('figure', 'figure'), *(Column(name, name, True) for name in names)]
    common = common_unit(metrics)
    lines = [[m.name if common else m.title, *(of[m] for of in cells)] for m in metrics]
    yield Table(title, tuple(columns), lines)
    for case, name in zip(cases, names, strict=True):
        yield '  ' + ' '.join(filter(None, [f'{name}:', *judge(case)]))


POINTS = tuple(Column(name, name, name == 'value') for name in
               ('preset', 'case', 'figure', 'value', 'unit', 'verdict', 'reason'))  # fmt: skip


def table_of_points(title, cases):
    """A test with figures of its own: one line per case for people."""
    cases = sorted(cases, key=lambda c: (c['environ'], c['display_name']))
    points = [point for case in cases for point in points_of(case)]
    return Table(title, POINTS, points, lines=list(map(plain_line, cases)))


def points_of(case):
    word, why = judge(case)
    detail = ' '.join(case['display_name'].split()[1:])
    figures = of_case.figures(case).items() if word != 'INVALID' else ()
    points = [[name, figure.value, figure.unit] for name, figure in figures]
    return [[case['environ'], detail, *point, word, why] for point in points or [[None] * 3]]


def plain_line(case):
    word, why = judge(case)
    figures = ', '.join(f'{k} {shown(f.value)}' for k, f in of_case.figures(case).items())
    detail = ' '.join(case['display_name'].split()[1:])
    figures = figures if word != 'INVALID' else ''
    share = of_peak(case, of_case.record(case)) if figures else None
    best = share and f'best {share:.1%} of peak'
    return '  ' + '  '.join(filter(None, [case['environ'], detail, figures, best, word, why]))


def conditions(records):
    """Array size, threads and node of the group, where its records agree on them."""
    parts = []
    for what, behind, key in (('element', ' per array', 'array_size'), ('thread', '', 'threads')):
        values = {r[key] for r in records if r.get(key)}
        if len(values) == 1:
            parts.append(plural(values.pop(), what) + behind)
    peaks = {(r['peak_gbs'], r.get('peak_note')) for r in records if r.get('peak_gbs')}
    parts += ['peak {:g} GB/s ({})'.format(*peaks.pop())] if len(peaks) == 1 else []
    policies = {r.get('scheduling') for r in records}
    parts += ['real-time priority'] if policies == {'fifo'} else []
    hosts = {r['host'] for r in records if r.get('host')}
    parts += [f'node {", ".join(sorted(hosts))}'] if 0 < len(hosts) < 4 else []
    return f': {", ".join(parts)}' if parts else ''


def ratio_tables(report):
    """Presets and pinnings held to the first of each, measured in the same round."""
    groups = ratios.groups(report)
    for group in (group for group in groups if group.lines):
        metrics = [Column(m.name, m.name.capitalize()) for m in group.metrics]
        columns = (Column('name', ''), *metrics, Column('base', 'pairs'))
        lines = [
            [Cell(name, f'{name} is'), *(ratio_cell(paired.get(m.name)) for m in group.metrics),
             Cell(base, f'of {base}, {pairs}')]
            for name, base, paired, pairs in group.lines
        ]  # fmt: skip
        yield ''
        yield Table(f'ratios of {group.test} on {group.where}, each within one round',
                    columns, lines)  # fmt: skip
    for line in ratios.left_out(groups):
        yield from ('', line)


def ratio_cell(ratio):
    return Cell(ratio.median if ratio else None, ratios.text(ratio))


def other_lines(cases):
    for case in cases:
        word, why = judge(case)
        where = f'{case["system"]}:{case["partition"]}+{case["environ"]}'
        yield f'  {word} {case["display_name"].split()[0]} @{where}: {why}'


# what was left out


def left_out_lines(presets_by_reason):
    if presets_by_reason:
        yield from ('', 'presets left out')
    for reason, presets in sorted(presets_by_reason.items()):
        yield f'  {reason}: {", ".join(presets)}'


def place_lines(path):
    """Relative where the reader stands in the checkout."""
    base = os.path.abspath(os.path.splitext(path)[0])
    try:
        here = root()
    except MembwError:  # a report is read where there is no checkout, too
        here = None
    is_ours = here and base.startswith(os.path.join(here, ''))
    if is_ours and os.path.samefile(os.curdir, here):  # of a folder that was removed, too
        base, here = os.path.relpath(base, here), ''
    yield from ('', f'report {base}.json, all that ReFrame said {base}.log')
    if is_ours:
        results = os.path.join(here, 'results')
        yield f"history {results}/results.db, ReFrame's log {results}/perflogs"


def verdict(cases):
    """The last line, and the exit status."""
    runs = [case for case in cases if not case.get('fixture')]
    words = collections.Counter(judge(c)[0] for c in runs if measures(c))
    builds = sum(map(failed_build, cases))
    skips = sum(case['result'] == 'skip' for case in runs)
    counts = f'{words["PASS"]} passed, {words["FAIL"]} failed, {words["INVALID"]} invalid'
    counts += ''.join(f', {words[w]} {w}' for w in EXPECTED.values() if words[w])
    counts += f', {skips} skipped' + (f', {builds} builds failed' if builds else '')
    asked = [case for case in cases if case['result'] not in ('pass', 'skip')]
    ended = sum(judge(case)[0] == DRY and not failed_build(case) for case in asked)
    counts += f', {ended} not measured' if ended else ''
    if words['FAIL'] or builds:
        return f'FAIL: {counts}', 1
    unjudged = sum(rows.unjudged(case) for case in runs if measures(case))
    if words['INVALID'] > unjudged:
        return f'INVALID: {counts}', 1
    if words['XPASS']:
        return f'XPASS: {counts}', 1
    if ended:
        return f'NOT MEASURED: {counts}', 1
    if words['KNOWN']:
        return f'KNOWN: {counts}', 0
    if words[DRY]:
        return f'NOTHING MEASURED: a dry run of {words[DRY]} cases', 0
    if words['INVALID'] and not words['PASS']:
        return f'INVALID: {counts}', 1
    if not words['PASS']:
        return f'NOTHING MEASURED: all {skips} cases were skipped, for the reasons above', 0
    return f'PASS{" of what could be measured" if unjudged else ""}: {counts}', 0
