"""What the report is made of: the newest run, records of nodes, NUMA curves, the database."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import refuse_endless
from membw.results.case import cases_of
from membw.results.record import BadRecord, names_record, read_lines
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
    """What was found, and where; `cases` are ReFrame's test cases, fixtures too."""

    cases: list = field(default_factory=list)
    reports: list = field(default_factory=list)  # (file, session_info)
    records: list = field(default_factory=list)
    databases: list = field(default_factory=list)
    ratios: list = field(default_factory=list)  # presets and pinnings, paired within rounds
    problems: list = field(default_factory=list)  # what could not be read
    passed_over: list = field(default_factory=list)  # newer reports that measured nothing


def gather(paths):
    """Inputs of the files and folders; without any, of this checkout's results."""
    inputs = Inputs()
    paths = [Path(path) for path in paths] or [_own_results()]
    for path in paths:
        if not path.exists():
            raise MembwError(f"no such file or folder '{path}'", HINT)
        refuse_endless(path, HINT)
        for file in _of_folder(path, inputs) if path.is_dir() else [path]:
            _take(inputs, file)
    if not inputs.cases and not inputs.records:
        for database in inputs.databases:
            for text in _newest_session(database):
                _take_report(inputs, database, text)
    if not inputs.cases and not inputs.records:
        said = f': {inputs.problems[0]}' if inputs.problems else ''
        raise MembwError(f"nothing was measured in '{' '.join(map(str, paths))}'{said}", HINT)
    inputs.records = once(inputs.records)
    return inputs


def _own_results():
    folder = Path(root(), 'results')
    if not folder.is_dir():
        raise MembwError("nothing was measured yet: there is no 'results'", HINT)
    return folder


def _of_folder(folder, inputs):
    """The newest report that measured something, and the database; where there is no report,
    every record."""
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
        data = file.read_bytes() if file.suffix != '.db' else b''
    except OSError as err:
        raise MembwError(f"cannot read '{file}': {err.strerror}") from err
    text = data.decode('utf-8', errors='replace')
    if file.suffix == '.db' or text.startswith('SQLite format 3'):
        inputs.databases.append(file)
    elif is_report(text):
        _take_report(inputs, file, text)
    else:
        records, problems = read_lines(text.split('\n'), str(file))
        inputs.records += records
        inputs.problems += problems or ([] if records else [f'{file}: is empty: no record'])


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
    inputs.records += records
    # a case without a figure has a row that says so
    inputs.problems += [p for p in problems if not isinstance(p, MeasuredNothing)]
