"""What was under way when a run was interrupted: told to end, a program writes its record."""

import json
import pathlib
import shutil
import time

from membw.results import archive
from membw.results import case as of_case
from membw.run import rows
from membw.run.judge import DRY, judge, measures

RECORD = 'record.json'  # in the stage folder of its case, which the next run empties
WRITTEN_S = 3.0  # the kernel under way, then the validation


def kept(report, results):
    """A line for each record that is kept, of cases that ReFrame ended without reading it."""
    cases = filter(measures, of_case.cases_of(report))
    for case in (case for case in cases if judge(case)[0] == DRY and case.get('stagedir')):
        record = written(pathlib.Path(case['stagedir'], RECORD))
        if record:
            where, environ = of_case.where(case), case['environ']
            path = archive.record_path(results, where, environ, 'interrupted')
            shutil.copy(record, path)
            yield f'under way was {rows.title(case)}: {path}'


def written(path):
    """The file, once it is a whole record; None where none comes."""
    until = time.monotonic() + WRITTEN_S
    while time.monotonic() < until:
        try:
            json.loads(path.read_text().partition('\n')[0])
            return path
        except (OSError, ValueError):
            time.sleep(0.1)
    return None
