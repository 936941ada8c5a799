"""`membw summary`: what a ReFrame report says, as one table and one verdict."""

import collections
import glob
import json
import os

from membw.checkout import root
from membw.errors import MembwError
from membw.rank import node_verdicts
from membw.results import case as of_case
from membw.results.intervals import shown, with_interval
from membw.results.metrics import common_unit
from membw.run import ratios, rows
from membw.run.judge import DRY, EXPECTED, judge, measures
from membw.run.skips import print_skips, shorten, skip_reasons
from membw.site.cpulist import compress

NO_REFERENCE = 'no reference: recorded only'


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'summary',
        help='print the table of a run again',
        description='Prints the figures of a ReFrame report with references and verdicts. Exit '
        'status: 0 all passed or failed as the references expect (KNOWN), 1 some failed, passed '
        'unexpectedly (XPASS) or are invalid, 2 not a report.',
    )
    parser.add_argument('report', nargs='?', help='default: the newest of results/reports')
    parser.set_defaults(func=lambda args: show(args.report or newest()))


def newest():
    reports = glob.glob(os.path.join(root(), 'results', 'reports', '*.json'))
    if not reports:
        raise MembwError("no report in 'results/reports'", "'membw run' makes one")
    return max(reports, key=os.path.getmtime)


def load(path):
    """A ReFrame report; anything else is refused."""
    try:
        with open(path) as file:
            report = json.load(file)
    except OSError as err:
        raise MembwError(f"cannot read '{path}': {err.strerror}", "'membw run' makes a report")
    except ValueError as err:
        raise MembwError(f"'{path}' is not JSON: {err}", 'give the .json file of a run')
    if not isinstance(report, dict) or not {'session_info', 'runs'} <= set(report):
        raise MembwError(f"'{path}' is not a ReFrame report", 'give the .json file of a run')
    return report


def believed(path):
    """How many runs of a report have figures that may be believed."""
    cases = rows.of_report(load(path))
    return sum(judge(case)[0] in rows.BELIEVED for case in cases if measures(case))


def show(path, seconds=None, left_out=None):
    """Print the table; the exit status that it deserves."""
    report = load(path)
    cases = rows.of_report(report)
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run' without -n runs them all")
    print_tables([case for case in cases if measures(case)])
    print_ratios(report)
    print_others([case for case in cases if not measures(case) and case['result'] == 'fail'])
    print_skips(cases, skip_reasons(path))
    print_left_out(left_out or {})
    print_places(path)
    text, status = verdict(cases)
    for line in rows.quality([case for case in cases if measures(case)]):
        print(line)
    took = f' ({seconds:.0f} s)' if seconds is not None else ''
    print(f'Verdict: {text}{took}')
    return status


# one case


def row(case, metrics):
    """Cells of the table whose columns are these metrics."""
    word, why = judge(case)
    measured = of_case.figures(case)
    valid = word != 'INVALID'
    intervals = case.get('intervals') or {}
    cells = [
        with_interval(measured[m.name].value, intervals.get(m.name))
        if valid and m.name in measured
        else '-'
        for m in metrics
    ]
    data = of_case.record(case)
    share, against = (of_peak(case, data), compare(measured)) if valid else ('', '')
    if against and case.get('reference_expired'):
        against += f' (it expired on {case["reference_expired"]})'
    where = [case['environ'], case.get('pinning') or '-']
    rest = [share, against, case.get('stores') or '?', placed(data), word, why or allowed(data)]
    return [*where, *cells, *rest]


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
        return ''
    return f'{(listed[-1] if listed else max(points)) / peak:.1%}'


# what is printed


def print_tables(cases):
    groups = collections.defaultdict(list)
    for case in cases:
        name = case['name'].split()[0]
        groups[name, f'{case["system"]}:{case["partition"]}'].append(case)
    for (name, where), members in groups.items():
        records = [of_case.record(case) for case in members]
        metrics = metrics_of(members, records)
        unit = f', {common_unit(metrics)}' if common_unit(metrics) else ''
        print(f'\n{name} on {where}{unit}{conditions(records)}')
        if metrics or not any(map(of_case.figures, members)):
            lines = [row(state, metrics) for case in members for state in rows.states(case)]
            print_table(lines, metrics)
        else:
            print_plain(members)
        for line in [line for case in members for line in node_verdicts.lines_of(case)]:
            print(f'  {line}')


def metrics_of(cases, records):
    """Those that any of the cases measured, in the order of the records."""
    pairs = zip(cases, records, strict=True)
    return list(dict.fromkeys(m for case, data in pairs for m in of_case.metrics(case, data)))


def print_table(rows, metrics):
    titles = [m.name.capitalize() if common_unit(metrics) else m.title for m in metrics]
    head = ['preset', 'pinning', *titles, '% of peak', 'reference', 'stores', 'threads']
    lines = [[*head, 'verdict', ''], *sorted(rows, key=lambda r: r[:2])]
    peak = 2 + len(metrics)
    if not any(line[peak] for line in rows):
        lines = [line[:peak] + line[peak + 1 :] for line in lines]  # no peak is known
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = [
            cell.rjust(width) if 2 <= i < 2 + len(metrics) else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ]
        print('  ' + '  '.join(cells).rstrip())


def print_plain(cases):
    """A test with figures of its own: one line per case."""
    for case in sorted(cases, key=lambda c: (c['environ'], c['display_name'])):
        word, why = judge(case)
        figures = ', '.join(f'{k} {shown(f.value)}' for k, f in of_case.figures(case).items())
        detail = ' '.join(case['display_name'].split()[1:])
        figures = figures if word != 'INVALID' else ''
        share = of_peak(case, of_case.record(case)) if figures else ''
        share = share and f'best {share} of peak'
        print('  ' + '  '.join(filter(None, [case['environ'], detail, figures, share, word, why])))


def conditions(records):
    """Array size, threads and node of the group, where its records agree on them."""
    parts = []
    for text, key in (('{} elements per array', 'array_size'), ('{} threads', 'threads')):
        values = {r[key] for r in records if r.get(key)}
        if len(values) == 1:
            parts.append(text.format(values.pop()))
    peaks = {(r['peak_gbs'], r.get('peak_note')) for r in records if r.get('peak_gbs')}
    parts += ['peak {:g} GB/s ({})'.format(*peaks.pop())] if len(peaks) == 1 else []
    hosts = {r['host'] for r in records if r.get('host')}
    parts += [f'node {", ".join(sorted(hosts))}'] if 0 < len(hosts) < 4 else []
    return f': {", ".join(parts)}' if parts else ''


def print_ratios(report):
    """Presets and pinnings held to the first of each, measured in the same round."""
    for group in ratios.groups(report):
        print(f'\nratios of {group.test} on {group.where}, each within one round')
        titles = [m.name.capitalize() for m in group.metrics]
        lines = [['', *titles, 'pairs']]
        for name, base, found, pairs in group.lines:
            lines.append([f'{name} is', *(ratios.text(found.get(m.name)) for m in group.metrics),
                          f'of {base}, {pairs}'])  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*lines)]
        for line in lines:
            print('  ' + '  '.join(c.ljust(w) for c, w in zip(line, widths)).rstrip())


def print_others(cases):
    for case in cases:
        word, why = judge(case)
        where = f'{case["system"]}:{case["partition"]}+{case["environ"]}'
        print(f'  {word} {case["display_name"].split()[0]} @{where}: {why}')


# what was left out


def print_left_out(presets_by_reason):
    if presets_by_reason:
        print('\npresets left out')
    for reason, presets in sorted(presets_by_reason.items()):
        print(f'  {reason}: {", ".join(presets)}')


def print_places(path):
    """Relative where the reader stands in the checkout."""
    base = os.path.abspath(os.path.splitext(path)[0])
    try:
        here = root()
    except MembwError:  # a report is read where there is no checkout, too
        here = None
    is_ours = here and base.startswith(os.path.join(here, ''))
    if is_ours and os.path.realpath(os.curdir) == os.path.realpath(here):
        base, here = os.path.relpath(base, here), ''
    print(f'\nreport {base}.json, all that ReFrame said {base}.log')
    if is_ours:
        results = os.path.join(here, 'results')
        print(f'history {results}/perflogs, {results}/results.db')


def verdict(cases):
    """The last line, and the exit status."""
    runs = [case for case in cases if not case.get('fixture')]
    words = collections.Counter(judge(c)[0] for c in runs if measures(c))
    builds = sum(c['result'] not in ('pass', 'skip') for c in cases if c.get('fixture'))
    skips = sum(case['result'] == 'skip' for case in runs)
    counts = f'{words["PASS"]} passed, {words["FAIL"]} failed, {words["INVALID"]} invalid'
    counts += ''.join(f', {words[w]} {w}' for w in EXPECTED.values() if words[w])
    counts += f', {skips} skipped' + (f', {builds} builds failed' if builds else '')
    ended = sum(judge(c)[0] == DRY and c['result'] != 'pass' for c in runs if measures(c))
    counts += f', {ended} not measured' if ended else ''
    if words['FAIL'] or builds:
        return f'FAIL: {counts}', 1
    if words['INVALID']:
        return f'INVALID: {counts}', 1
    if words['XPASS']:
        return f'XPASS: {counts}', 1
    if ended:
        return f'NOT MEASURED: {counts}', 1
    if words['KNOWN']:
        return f'KNOWN: {counts}', 0
    if words[DRY]:
        return f'NOTHING MEASURED: a dry run of {words[DRY]} cases', 0
    if not words['PASS']:
        return f'NOTHING MEASURED: all {skips} cases were skipped, for the reasons above', 0
    return f'PASS: {counts}', 0
