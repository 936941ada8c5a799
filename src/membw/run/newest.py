"""The newest report of a run, and the newest that measured something."""

import itertools
import re
import time
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import naming
from membw.results.case import cases_of
from membw.results.record import BadRecord
from membw.results.reframe import parse_report
from membw.run.judge import DRY, judge, measures

AHEAD_S = 60  # a file server's clock beside ours
BEGUN = re.compile(r'"time_start_unix": ([\d.]+)')


def files_here():
    """The reports of this checkout, if any."""
    return set(Path(root(), 'results', 'reports').glob('*.json'))


def reports():
    """Those of this checkout, the newest first."""
    files = files_here()
    if not files:
        raise MembwError("no report in 'results/reports'", "'membw run' makes one")
    return newest_first(files)


def newest_first(files):
    """What begins later than now is of a clock that has been set right since: that is the last."""
    now = time.time() + AHEAD_S
    return sorted(files, key=lambda file: (begun(file) <= now, begun(file)), reverse=True)


def begun(report):
    """When its run began; copying changes the time of a file, not what is in it."""
    said = BEGUN.search(head(report))
    return float(said[1]) if said else report.stat().st_mtime


def head(file):
    with naming(file), open(file, encoding='utf-8', errors='replace') as stream:
        return stream.read(600)


def that_measured(files):
    """(the newest of the reports that measured something, the newer ones that did not); where
    none did, the newest of all."""
    files = newest_first(files)
    empty = list(itertools.takewhile(lambda file: not measured(file), files))
    return (files[len(empty)], empty) if len(empty) < len(files) else (files[0], [])


def measured(report):
    """Not where all was skipped, and not in a dry run; a build that failed tells something, and
    what cannot be read is told later."""
    try:
        cases = cases_of(parse_report(report.read_text(encoding='utf-8', errors='replace')))
    except BadRecord:
        return True
    broken = any(case['result'] == 'fail' for case in cases if case.get('fixture'))
    return broken or any(judge(case)[0] != DRY for case in filter(measures, cases))
