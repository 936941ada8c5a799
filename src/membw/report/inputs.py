"""What the report is made of: the newest run, records of nodes, NUMA curves, the database."""

import sqlite3
import sys
from dataclasses import dataclass, field
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import open_to_read, unreadable_folders
from membw.history.cache import load
from membw.history.series import Collector
from membw.results.case import cases_of
from membw.results.latest import Latest
from membw.results.read import STDIN, each_of_stream, each_result, is_database, report_of
from membw.results.record import BadRecord, names_record
from membw.results.reframe import (
    MeasuredNothing,
    is_report,
    parse_report,
    read_session,
    stored_sessions,
)
from membw.results.runs import once
from membw.run import newest, ratios, rows

HINT = "'membw run' measures this node; or name results: membw report RESULTS"
ENDINGS = ('.json', '.jsonl', '.db')


@dataclass
class Inputs:
    """What was found, and where; `cases` are ReFrame's test cases, fixtures too.

    Of records, of which there may be millions, those are held that say how a node is now or have
    pairs of cores; of all the others what a history needs (`nights`).
    """

    cases: list = field(default_factory=list)
    reports: list = field(default_factory=list)  # (file, session_info)
    latest: Latest = field(default_factory=Latest)
    timed: list = field(default_factory=list)  # records of pingpong
    nights: Collector = field(default_factory=Collector)
    count: int = 0  # of records, and of the files that they were in
    files: set = field(default_factory=set)
    databases: list = field(default_factory=list)
    ratios: list = field(default_factory=list)  # presets and pinnings, paired within rounds
    problems: list = field(default_factory=list)  # what could not be read
    passed_over: list = field(default_factory=list)  # newer reports that measured nothing

    @property
    def records(self):
        return once([*self.latest.records(), *self.timed])

    def add(self, records, problems=()):
        """Of one source, or of a piece of it; what a report says of its cases is no problem of
        the file: such a case has a row that says so."""
        self.latest.add(records)
        self.timed += [r for r in records if r.timings]
        self.nights.add(None, records, ())
        self.count += len(records)
        self.files.update(r.file for r in records)
        self.problems += [p for p in problems if not isinstance(p, MeasuredNothing)]


def gather(paths, cache=None):
    """Inputs of the files and folders; without any, of this checkout's results. `cache`: that of
    membw history."""
    inputs = Inputs(nights=load(cache))
    paths = paths or [_own_results()]
    for path in map(Path, paths):
        if str(path) == STDIN:
            _take_stream(inputs, sys.stdin.buffer, 'stdin')
            continue
        if not path.exists():
            raise MembwError(f"no such file or folder '{path}'", HINT)
        for file in _of_folder(path, inputs) if path.is_dir() else [path]:
            _take(inputs, file)
    if not inputs.cases and not inputs.count:
        for database in inputs.databases:
            for text in _newest_session(database):
                _take_report(inputs, database, text)
    if not inputs.cases and not inputs.count:
        said = f': {inputs.problems[0]}' if inputs.problems else ''
        raise MembwError(f"nothing was measured in '{' '.join(map(str, paths))}'{said}", HINT)
    return inputs


def _own_results():
    folder = Path(root(), 'results')
    if not folder.is_dir():
        raise MembwError("nothing was measured yet: there is no 'results'", HINT)
    return folder


def _of_folder(folder, inputs):
    """The newest report that measured something, and the database; where there is no report,
    every record."""
    inputs.problems += unreadable_folders(folder)
    files = [f for f in sorted(folder.rglob('[!.]*')) if f.suffix in ENDINGS and f.is_file()]
    databases = [f for f in files if f.suffix == '.db']
    reports = [f for f in files if f.suffix == '.json' and is_report(newest.head(f))]
    if reports:
        report, empty = newest.that_measured(reports)
        inputs.passed_over += empty
        return [report, *databases]
    return [f for f in files if f.suffix != '.db' and names_record(newest.head(f))] + databases


def _take(inputs, file):
    """One file, by what is in it."""
    try:
        if not file.is_file():  # <(zcat records.jsonl.gz): what is read of it is gone from it
            with open_to_read(file, HINT) as stream:
                _take_stream(inputs, stream, str(file))
        elif file.suffix == '.db' or is_database(file):
            inputs.databases.append(file)
        elif is_report(newest.head(file)):
            text = file.read_text(encoding='utf-8', errors='replace')
            _take_report(inputs, file, text)
        else:
            for records, problems in each_result([str(file)]):
                inputs.add(records, problems)
    except OSError as err:
        raise MembwError(f"cannot read '{file}': {err.strerror}") from err


def _take_stream(inputs, stream, name):
    """A report is one whole; records come piece by piece."""
    text = report_of(stream)
    if text is not None:
        _take_report(inputs, name, text)
        return
    for _, load_piece in each_of_stream(stream, name):
        inputs.add(*load_piece())


def _newest_session(database):
    """The report that ReFrame stored last, if any; the database is only read."""
    try:
        return stored_sessions(database, 'ORDER BY session_start_unix DESC LIMIT 1')
    except sqlite3.DatabaseError as err:
        raise MembwError(f"'{database}' is no results database of ReFrame: {err}", HINT) from err


def _take_report(inputs, file, text):
    try:
        report = parse_report(text)
        attempts = [case | {'report': str(file)} for case in cases_of(report)]
        cases = rows.of_report({'runs': [{'testcases': attempts}]})
        records, problems = read_session({'runs': [{'testcases': cases}]}, str(file))
    except BadRecord as err:
        inputs.problems.append(f'{file}: {err}')
        return
    inputs.reports.append((file, report.get('session_info', {})))
    inputs.cases += cases
    inputs.ratios += ratios.groups(report)
    inputs.add(records, problems)
