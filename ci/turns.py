"""Says which commit of CI had each machine, userland, site and release last: its log has the end.

Of each file of ci/turns.txt a commit has one test, by its number (ci/machines.sh --turn).
"""

import collections
import pathlib
import subprocess
import sys

FILES = pathlib.Path(__file__).with_name('turns.txt').read_text().split()


def said(*words: str) -> list[str]:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> None:
    total = int(said('git', 'rev-list', '--count', '--first-parent', 'HEAD')[0])
    groups = collections.defaultdict(list)
    for test in said(
        sys.executable, '-m', 'pytest', '--collect-only', '-q', '-m', 'night', *FILES
    ):
        if '::' in test:
            groups[test.partition('::')[0]].append(test)
    for tests in groups.values():
        for number, test in enumerate(tests):
            ago = (total - number) % len(tests)
            log = ('git', 'log', '-1', '--first-parent', f'--skip={ago}', '--format=%h %cs')
            print(*said(*log) or ['not yet'], test)


if __name__ == '__main__':
    main()
