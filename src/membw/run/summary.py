"""`membw summary`: what a ReFrame report says, as one table and one verdict."""

import collections
import glob
import json
import os
import re

from membw.checkout import root
from membw.errors import MembwError
from membw.rank import node_verdicts
from membw.run.skips import print_skips, shorten, skip_reasons
from membw.site.cpulist import compress

KERNELS = ('copy', 'scale', 'add', 'triad')
NO_REFERENCE = 'no reference: recorded only'
DRY = 'NOT MEASURED'


def add_parser(subparsers):
    parser = subparsers.add_parser(
        'summary',
        help='print the table of a run again',
        description='Prints Copy, Scale, Add and Triad of a ReFrame report with references and '
        'verdicts. Exit status: 0 all passed, 1 some failed or are invalid, 2 not a report.',
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


def show(path, seconds=None, left_out=None):
    """Print the table; the exit status that it deserves."""
    report = load(path)
    cases = report['runs'][-1]['testcases'] if report['runs'] else []
    if not cases:
        raise MembwError(f"'{path}' holds no test case", "'membw run' without -n runs them all")
    print_tables([case for case in cases if measures(case)])
    print_others([case for case in cases if not measures(case) and case['result'] == 'fail'])
    print_skips(cases, skip_reasons(path))
    print_left_out(left_out or {})
    print_places(path)
    text, status = verdict(cases)
    took = f' ({seconds:.0f} s)' if seconds is not None else ''
    print(f'Verdict: {text}{took}')
    return status


# one case


def measures(case):
    """Is this a row of the table: a run, not a build, that was not skipped?"""
    return not case.get('fixture') and case['result'] != 'skip'


def judge(case):
    """PASS, FAIL or INVALID, and why; a dry run passes in ReFrame, having measured nothing."""
    if case['result'] == 'pass' and case.get('verdict') == '':
        return DRY, 'a dry run'
    if case['result'] in ('pass', 'xfail'):
        return 'PASS', ''
    why = ' '.join((case.get('fail_reason') or case['result']).split())
    invalid = re.search(r'INVALID:?\s*(.*)', why)
    if invalid:
        return 'INVALID', invalid.group(1)
    return 'FAIL', why if ' error: ' in why else f'{case.get("fail_phase") or "run"}: {why}'


def figures(case):
    """Performance variable -> (value, reference), as far as measured."""
    found = {}
    for key, (value, reference, *_) in (case.get('perfvalues') or {}).items():
        if value is not None:
            found[key.split(':')[-1]] = (value, reference)
    return found


def row(case):
    word, why = judge(case)
    got = figures(case)
    valid = word != 'INVALID'
    cells = [f'{got[k][0]:.1f}' if valid and k in got else '-' for k in KERNELS]
    found = record(case) or {}
    share, against = (of_peak(found, got), compare(got)) if valid else ('', '')
    why = why or allowed(found)
    if against and case.get('reference_expired'):
        against += f' (it expired on {case["reference_expired"]})'
    stores = case.get('stores') or '?'
    where = [case['environ'], case.get('pinning') or '-']
    return [*where, *cells, share, against, stores, placed(found), word, why]


def allowed(found):
    """What would have made it INVALID, had the caller not allowed it."""
    names = [r['reason'] for r in found.get('reasons', []) if r.get('allowed')]
    return f'allowed: {", ".join(names)}' if names else ''


def placed(found):
    """The real affinity of the threads, as the program read it from the kernel."""
    masks = [t['affinity'] for t in found.get('threads_on', [])]
    if not masks:
        return ''
    if not all(mask.isdigit() for mask in masks):
        return f'free on {shorten(sorted(set(masks)))}'
    cpus = sorted({int(mask) for mask in masks})
    if len(cpus) < len(masks):
        return f'{len(masks)} crowded on {compress(cpus)}'
    return f'one a CPU: {compress(cpus)}'


def compare(got):
    """The figures against their references, else the plain truth."""
    ratios = [f'{k} {v / ref:.0%}' for k, (v, ref) in got.items() if ref]
    if ratios:
        return 'of reference: ' + ', '.join(ratios)
    return NO_REFERENCE if got else ''


def of_peak(found, got):
    """Triad as a share of the theoretical peak that the record carries; '' where none does."""
    peak = found.get('peak_gbs')
    return f'{got["triad"][0] / peak:.1%}' if peak and 'triad' in got else ''


def best_of_peak(case):
    """The best bandwidth of a test with figures of its own, as a share of the peak."""
    peak = (record(case) or {}).get('peak_gbs')
    rates = [value for value, *_, unit, _ in (case.get('perfvalues') or {}).values()
             if value is not None and unit == 'GB/s']  # fmt: skip
    return f'best {max(rates) / peak:.1%} of peak' if peak and rates else ''


# what is printed


def print_tables(cases):
    groups = collections.defaultdict(list)
    for case in cases:
        name = case['name'].split()[0]
        groups[name, f'{case["system"]}:{case["partition"]}'].append(case)
    for (name, where), members in groups.items():
        table = any(set(KERNELS) & set(figures(c)) for c in members) or name == 'stream'
        print(f'\n{name} on {where}{", GB/s" if table else ""}{conditions(members)}')
        if table:
            print_table([row(case) for case in members])
        else:
            print_plain(members)
        for line in [line for case in members for line in node_verdicts.lines_of(case)]:
            print(f'  {line}')


def print_table(rows):
    kernels = [kernel.capitalize() for kernel in KERNELS]
    head = ['preset', 'pinning', *kernels, '% of peak', 'reference', 'stores', 'threads']
    head += ['verdict', '']
    lines = [head, *sorted(rows, key=lambda r: r[:2])]
    if not any(line[6] for line in rows):
        lines = [line[:6] + line[7:] for line in lines]  # no peak is known
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        cells = [
            cell.rjust(width) if 2 <= i < 6 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ]
        print('  ' + '  '.join(cells).rstrip())


def print_plain(cases):
    """A test with figures of its own: one line a case."""
    for case in sorted(cases, key=lambda c: (c['environ'], c['display_name'])):
        word, why = judge(case)
        got = ', '.join(f'{k} {v:.1f}' for k, (v, _) in figures(case).items())
        detail = ' '.join(case['display_name'].split()[1:])
        shown = got if word != 'INVALID' else ''
        share = best_of_peak(case) if shown else ''
        print('  ' + '  '.join(filter(None, [case['environ'], detail, shown, share, word, why])))


def conditions(cases):
    """Array size, threads and node of the group, where its records agree on them."""
    records = [r for r in map(record, cases) if r]
    parts = []
    for text, key in (('{} elements an array', 'array_size'), ('{} threads', 'threads')):
        values = {r[key] for r in records if r.get(key)}
        if len(values) == 1:
            parts.append(text.format(values.pop()))
    peaks = {(r['peak_gbs'], r.get('peak_note')) for r in records if r.get('peak_gbs')}
    parts += ['peak {:g} GB/s ({})'.format(*peaks.pop())] if len(peaks) == 1 else []
    hosts = {r['host'] for r in records if r.get('host')}
    parts += [f'node {", ".join(sorted(hosts))}'] if 0 < len(hosts) < 4 else []
    return f': {", ".join(parts)}' if parts else ''


def record(case):
    """The membw record of a case, where the run left one."""
    path = case.get('record')
    try:
        with open(os.path.join(case.get('stagedir') or '', path or '')) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


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
    base = os.path.relpath(os.path.splitext(path)[0], root())
    if base.startswith('..'):
        base = os.path.splitext(path)[0]
    print(f'\nreport {base}.json, all that ReFrame said {base}.log')
    print('history results/perflogs, results/results.db')


def verdict(cases):
    """The last line, and the exit status."""
    runs = [case for case in cases if not case.get('fixture')]
    words = collections.Counter(judge(c)[0] for c in runs if measures(c))
    builds = sum(c['result'] not in ('pass', 'skip') for c in cases if c.get('fixture'))
    skips = sum(case['result'] == 'skip' for case in runs)
    counts = f'{words["PASS"]} passed, {words["FAIL"]} failed, {words["INVALID"]} invalid'
    counts += f', {skips} skipped' + (f', {builds} builds failed' if builds else '')
    if words['FAIL'] or builds:
        return f'FAIL: {counts}', 1
    if words['INVALID']:
        return f'INVALID: {counts}', 1
    if words[DRY]:
        return f'NOTHING MEASURED: a dry run of {words[DRY]} cases', 0
    if not words['PASS']:
        return f'NOTHING MEASURED: all {skips} cases were skipped, for the reasons above', 0
    return f'PASS: {counts}', 0
