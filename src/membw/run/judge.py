"""PASS, KNOWN, XPASS, FAIL, INVALID or not measured: what one test case of a report is."""

import json
import re

from membw.printable import printable

DRY = 'NOT MEASURED'
# expected failures: '$xfail' in a references file; ReFrame marks each figure of the report
EXPECTED = {'xfail': 'KNOWN', 'xpass': 'XPASS'}
MET = "met what '$xfail' says it misses: take the '$xfail' out of the references file"
# no figure was to be had: not a figure outside its reference, which is what FAIL says
NOT_RUN = ('startup', 'setup', 'compile', 'compile_complete', 'compile_wait', 'cleanup')
NOT_RUN_BY = re.compile(
    r'KeyboardInterrupt|aborted due to|another session of .* is under way|not measured, no record'
    r'|job timed out'
)
# sbatch that refuses, as ReFrame tells it
SPAWNED = re.compile(
    r"spawned process error: command '(.*?)' failed with exit code \d+: "
    r'--- stdout --- (.*?)--- stdout --- --- stderr --- (.*?)--- stderr ---'
)


def measures(case):
    """Is this a row of the table: a run, not a build, that was not skipped?"""
    return not case.get('fixture') and case['result'] != 'skip'


def failed_build(case):
    """Not where somebody ended it, nor where what it needs did not work."""
    if not case.get('fixture') or case['result'] in ('pass', 'skip', 'fail_deps'):
        return False
    return not NOT_RUN_BY.search(case.get('fail_reason') or '')


def judge(case):
    """PASS, KNOWN, XPASS, FAIL or INVALID, and why.

    A dry run passes in ReFrame, having measured nothing.
    """
    if case['result'] == 'pass' and case.get('verdict') == '':
        return DRY, 'a dry run'
    if case['result'] == 'pass':
        return 'PASS', case.get('note', '')
    if marked(case):
        return EXPECTED[marked(case)], expected(case, marked(case))
    why = printable(' '.join((case.get('fail_reason') or case['result']).split()))
    if case.get('fail_phase') in NOT_RUN or NOT_RUN_BY.search(why):
        return DRY, why
    invalid = re.search(r'INVALID:?\s*(.*)', why)
    if invalid:
        return 'INVALID', invalid.group(1)
    if case.get('fail_phase') == 'run':  # ReFrame's word for handing it to the scheduler
        return DRY, SPAWNED.sub(r"'\1' failed: \2\3", why).strip()
    missed = '; '.join(outside(case)) if case.get('fail_phase') == 'performance' else ''
    if missed:
        return 'FAIL', missed
    return 'FAIL', why if ' error: ' in why else f'{case.get("fail_phase") or "run"}: {why}'


def outside(case):
    """'triad 91.3 GB/s, at least 158.2 wanted: -45 % to its reference', of each such figure."""
    for key, row in (case.get('perfvalues') or {}).items():
        value, reference, low, high, unit = row[:5]
        if value is None or not reference or row[-1] in EXPECTED:
            continue
        bounds = [('at least', low, value < reference * (1 + (low or 0))),
                  ('at most', high, value > reference * (1 + (high or 0)))]  # fmt: skip
        for word, tolerance, is_missed in bounds:
            if tolerance is not None and is_missed:
                name, wanted = printable(key.rsplit(':', 1)[-1]), reference * (1 + tolerance)
                yield (f'{name} {value:.4g} {unit}, {word} {wanted:.4g} wanted: '
                       f'{100 * (value / reference - 1):+.0f} % to its reference')  # fmt: skip


def marked(case):
    """'xfail' or 'xpass' where the whole case is that; ReFrame reports the latter as 'fail'."""
    if case['result'] == 'xfail':
        return 'xfail'
    outcomes = [row[-1] for row in (case.get('perfvalues') or {}).values()]
    missed = case['result'] == 'fail' and case.get('fail_phase') == 'performance'
    return 'xpass' if missed and 'xpass' in outcomes and 'fail' not in outcomes else ''


def expected(case, outcome):
    """What the references file says of the metrics that failed, or passed, as '$xfail' has it."""
    rows = (case.get('perfvalues') or {}).items()
    names = [key.rsplit(':', 1)[-1] for key, row in rows if row[-1] == outcome]
    messages = json.loads(case.get('known_issues') or '{}')
    said = printable(', '.join(f'{k}: {messages[k]}' if k in messages else k for k in names))
    return said if outcome == 'xfail' else f'{said} ({MET})'
