"""Says of each machine, userland, site and release of the night when it was last green, by which
commit; with --keep FILE, pytest's JUnit file of `make machines`, that is written down.

Of each file of ci/turns.txt a commit of CI has one test more, by its number (ci/machines.sh
--turn): CI's log has the end of that one.
"""

import csv
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ET

GREEN = pathlib.Path('tests/machines/green.csv')
COLUMNS = 'test', 'date', 'commit', 'seconds'


def said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def rows() -> dict[str, dict[str, str]]:
    if not GREEN.exists():
        return {}
    with GREEN.open(newline='') as file:
        return {row['test']: row for row in csv.DictReader(file)}


def keep(junit: str) -> None:
    """Of a test that failed, was skipped or did not run the line stays: it was green then."""
    commit = said('git', 'describe', '--always', '--dirty', '--exclude=*')
    green = rows()
    for case in ET.parse(junit).iter('testcase'):
        if not len(case) or {part.tag for part in case} <= {'system-out', 'system-err'}:
            name = f'{case.get("classname", "").replace(".", "/")}.py::{case.get("name")}'
            seconds = f'{float(case.get("time", 0)):.0f}'
            values = name, time.strftime('%Y-%m-%d', time.gmtime()), commit, seconds
            green[name] = dict(zip(COLUMNS, values, strict=True))
    with GREEN.open('w', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator='\n')
        writer.writeheader()
        writer.writerows(green[name] for name in sorted(green))


def main(words: list[str]) -> None:
    if words[:1] == ['--keep']:
        keep(words[1])
        return
    green = rows()
    collect = (sys.executable, '-m', 'pytest', '--collect-only', '-q', '-m', 'night')
    for test in said(*collect).splitlines():
        if '::' in test:
            row = green.get(test)
            print(f'{row["date"]} {row["commit"]} {row["seconds"]:>4} s' if row else 'never', test)


if __name__ == '__main__':
    main(sys.argv[1:])
