"""Says what JUnit files of pytest hold: the counts and every skip's reason; fails on nothing.

usage: python3 ci/count.py [--few | --durations] results/tests*.xml
  --few: whether so few tests failed that each may be run once more, with nothing in parallel
  --durations: the seconds of each file that ran to tests/durations.json, which orders the next
  `make test`
"""

import collections
import json
import os
import pathlib
import sys
import xml.etree.ElementTree as ET

DURATIONS = pathlib.Path('tests/durations.json')
FEW = 3
AGAIN = 'tests-again.xml'  # of ci/stages.sh


def cases(paths):
    """(its name, outcome, testcase) of each test."""
    for case in (case for path in paths for case in ET.parse(path).iter('testcase')):
        outcome = next((c.tag for c in case if c.tag in ('failure', 'error', 'skipped')), 'passed')
        yield f'{case.get("classname")}.{case.get("name")}', outcome, case


def read(paths):
    """(counts by outcome, tests by reason of their skip, those that passed when run again)."""
    counts, skips = collections.Counter(), collections.defaultdict(list)
    again = {name: outcome for name, outcome, _ in cases(p for p in paths if AGAIN in p)}
    passed_again = set()
    for name, outcome, case in cases(p for p in paths if AGAIN not in p):
        if outcome in ('failure', 'error') and again.get(name) == 'passed':
            passed_again.add(name)
            outcome = 'passed'
        counts[outcome] += 1
        if outcome == 'skipped':
            skips[case.find('skipped').get('message')].append(case.get('name'))
    return counts, skips, sorted(passed_again)


def few_failed(paths):
    failed = {name for name, outcome, _ in cases(paths) if outcome in ('failure', 'error')}
    if len(failed) <= FEW:
        print('test: failed, now once more with nothing in parallel:', *sorted(failed))
    return 0 < len(failed) <= FEW


def write_durations(paths):
    seconds = collections.Counter()
    for _, _, case in cases(paths):
        seconds[case.get('classname').replace('.', '/') + '.py'] += float(case.get('time'))
    known = {
        file: s for file, s in json.loads(DURATIONS.read_text()).items() if os.path.exists(file)
    }
    known |= {file: round(s) for file, s in seconds.items()}
    ordered = dict(sorted(known.items(), key=lambda row: -row[1]))
    DURATIONS.write_text(json.dumps(ordered, indent=1) + '\n')


def main(words):
    paths = [word for word in words if not word.startswith('--')]
    try:
        if '--few' in words:
            return int(not few_failed(paths))
        if '--durations' in words:
            write_durations(paths)
        counts, skips, passed_again = read(paths)
    except (OSError, ET.ParseError) as err:
        print(f'ci: no result of pytest: {err}')
        return 1
    for reason, tests in sorted(skips.items()):
        print(f'ci: skipped {len(tests)}: {reason} ({", ".join(tests[:3])})')
    for test in passed_again:
        print(f'ci: failed, and passed when run again with nothing in parallel: {test}')
    failed = counts['failure'] + counts['error']
    more = f', {len(passed_again)} of them when run again' if passed_again else ''
    print(f'{counts["passed"]} passed{more}, {failed} failed, {counts["skipped"]} skipped')
    if not counts['passed']:
        print('ci: no test passed: that is not green')
    return int(failed > 0 or not counts['passed'])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
