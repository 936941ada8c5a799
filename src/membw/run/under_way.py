"""What an interruption or a time limit cut short: the program writes its record all the same."""

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


def kept(report, results, wait_s=0.0):
    """A line for each record that is kept, of cases that ReFrame ended without reading it.

    `wait_s`: how long a program may take that has only just been told to end.
    """
    cases = filter(measures, of_case.cases_of(report))
    for case in (case for case in cases if judge(case)[0] == DRY and case.get('stagedir')):
        elsewhere = case.get('scheduler') != 'local'  # a local one has ended with ReFrame
        record = written(pathlib.Path(case['stagedir'], RECORD), wait_s if elsewhere else 0.0)
        if record:
            where, environ = of_case.where(case), case['environ']
            path = archive.record_path(results, where, environ, 'cut-short')
            shutil.copy(record, path)
            yield f'cut short was {rows.title(case)}, its record: {path}'


def written(path, wait_s):
    """The file, once it is a whole record; None where none comes."""
    until = time.monotonic() + wait_s
    while True:
        try:
            json.loads(path.read_text().partition('\n')[0])
            return path
        except (OSError, ValueError):
            if time.monotonic() >= until:
                return None
            time.sleep(0.1)
