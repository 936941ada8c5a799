"""Says what JUnit files of pytest hold: the counts and every skip's reason; fails on nothing.

usage: python3 ci/count.py [--durations] results/tests*.xml
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


def read(paths):
    """(counts by outcome, tests by reason of their skip)."""
    counts, skips = collections.Counter(), collections.defaultdict(list)
    for case in (case for path in paths for case in ET.parse(path).iter('testcase')):
        outcome = next((c.tag for c in case if c.tag in ('failure', 'error', 'skipped')), 'passed')
        counts[outcome] += 1
        if outcome == 'skipped':
            skips[case.find('skipped').get('message')].append(case.get('name'))
    return counts, skips


def write_durations(paths):
    seconds = collections.Counter()
    for case in (case for path in paths for case in ET.parse(path).iter('testcase')):
        seconds[case.get('classname').replace('.', '/') + '.py'] += float(case.get('time'))
    known = {
        file: s for file, s in json.loads(DURATIONS.read_text()).items() if os.path.exists(file)
    }
    known |= {file: round(s) for file, s in seconds.items()}
    ordered = dict(sorted(known.items(), key=lambda row: -row[1]))
    DURATIONS.write_text(json.dumps(ordered, indent=1) + '\n')


def main(words):
    paths = [word for word in words if word != '--durations']
    try:
        if paths != words:
            write_durations(paths)
        counts, skips = read(paths)
    except (OSError, ET.ParseError) as err:
        print(f'ci: no result of pytest: {err}')
        return 1
    for reason, tests in sorted(skips.items()):
        print(f'ci: skipped {len(tests)}: {reason} ({", ".join(tests[:3])})')
    failed = counts['failure'] + counts['error']
    print(f'{counts["passed"]} passed, {failed} failed, {counts["skipped"]} skipped')
    if not counts['passed']:
        print('ci: no test passed: that is not green')
    return int(failed > 0 or not counts['passed'])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
