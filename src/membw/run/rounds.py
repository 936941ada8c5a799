"""Rows in turn: further sessions of ReFrame over what the first one built, in changing order.

ReFrame's own --reruns keeps the order and builds again; --restore-session takes the builds of the
first session as they are, and --exec-order=random has an order of its own each time.
"""

import json
import os
import re

from membw.results import case as of_case
from membw.run import rows
from membw.run.judge import judge, measures

# what repeats or takes over sessions by itself is left alone
OWN_WAYS = ('--reruns', '--duration', '--restore-session', '--repeat', '--max-retries',
            '--distribute', '--dry-run')  # fmt: skip
# longest that the figures of a row are waited for, in all its rounds: a little in each
ROW_S = 2
# what was disturbed or unstable, once more: a row as long as the program waits by itself, all
# rows together so long, but none less than in its rounds
LAST_S, LAST_ALL_S = 30, 30
# what has no such limit (launches of overheads, dgemm) takes as long as it took: so much together
LAST_OTHERS_S = 45
SELECTION = {'-n': '--name', '-p': '--prgenv'}


def applies(rest):
    return not any(word.split('=')[0] in OWN_WAYS for word in rest)


def rows_in_turn(report):
    """Cases to be measured round after round: of this machine and a check that says so, with
    others to compare with."""
    cases = [case for case in rows.of_report(report) if here(case) and case.get('in_rounds')]
    tests = [of_case.test(case) for case in cases]
    return [case for case in cases if tests.count(of_case.test(case)) > 1]


def last_seconds(count):
    """How long each of so many spoilt rows is measured once more."""
    return max(ROW_S, min(LAST_S, LAST_ALL_S / count))


def last_takes(cases):
    """Seconds for all of them, as they are chosen by spoilt()."""
    in_rounds = sum(bool(case.get('in_rounds')) for case in cases)
    others = sum(case.get('time_run') or 0 for case in cases if not case.get('in_rounds'))
    return in_rounds * last_seconds(len(cases)) + others


def spoilt(report):
    """Rows that nothing but the weather made INVALID, as far as there is time; none where it
    spoilt most of them: a weather that lasts is not waited for."""
    cases = [case for case in rows.of_report(report) if here(case)]
    passing = [case for case in cases if rows.transient(case)]
    if 2 * len(passing) > len(cases):
        return []
    others = [case for case in passing if not case.get('in_rounds')]
    in_time, seconds = [case for case in passing if case.get('in_rounds')], 0
    for case in sorted(others, key=lambda case: case.get('time_run') or 0):
        seconds += case.get('time_run') or 0
        in_time += [case] if seconds <= LAST_OTHERS_S else []
    return in_time


def here(case):
    if case.get('scheduler') != 'local' or not measures(case):
        return False
    return judge(case)[0] in rows.BELIEVED or rows.transient(case)


def words(first, rest, cases):
    """Options of ReFrame by which a session measures these cases again; and their neighbours
    of the same tests and environments, where the cases are no rectangle."""
    hashes = sorted({case['hashcode'] for case in cases})
    environs = sorted({re.escape(case['environ']) for case in cases})
    names = [word for code in hashes for word in ('-n', f'/{code}')]
    return [*without_selection(rest), f'--restore-session={first}', '--exec-order=random',
            *names, '-p', f'^({"|".join(environs)})$']  # fmt: skip


def without_selection(rest):
    """-n and -p add up in ReFrame: those of the user have been followed by the first session."""
    kept, skip = [], False
    for word in rest:
        if skip:
            skip = False
        elif word in SELECTION or word in SELECTION.values():
            skip = True
        elif word[:2] in SELECTION and not word.startswith('--'):
            continue
        elif word.split('=')[0] in SELECTION.values():
            continue
        else:
            kept.append(word)
    return kept


def merge(path, other):
    """The runs of another session into the report of the first; the other's file goes."""
    with open(path) as file:
        report = json.load(file)
    with open(other) as file:
        later = json.load(file)
    report['runs'] += later['runs']
    for name in ('time_end', 'time_end_unix'):
        report['session_info'][name] = later['session_info'][name]
    part = f'{path}.part'
    with open(part, 'w') as file:
        json.dump(report, file)
    os.replace(part, path)
    os.unlink(other)
    return report
