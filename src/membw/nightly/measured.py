"""What a night measured, beside what earlier nights did: rows that ended.

measured.json of a night has each row that was ever measured on this system, with its last night. A
row of the same command that did not arrive is named each night, until somebody writes its line to
acknowledged.txt of the system.
"""

import os
import shutil
from pathlib import Path

import msgspec

from membw import strict
from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text, write_whole
from membw.nightly.night import Night
from membw.results import reframe
from membw.results.case import named, of_display_name
from membw.results.rows import Row
from membw.summary.command import read
from membw.words import MISSING

FILE, ACKNOWLEDGED = 'measured.json', 'acknowledged.txt'
# of this night alone, for those who read folders
LINKED = REPORTS, RECORDS = 'reports', 'records'


class Last(msgspec.Struct):
    night: str
    options: list[str]  # of `membw run`


def take(night: Night) -> None:
    """Reads the reports of the night, links them and all records to its folder, and notes what is
    missing."""
    for name in LINKED:  # of an earlier try
        shutil.rmtree(night.folder / name, ignore_errors=True)
    problems = night.state.problems = {}
    rows: list[Row] = []
    for report in night.state.reports:
        try:
            run = read(report)
        except MembwError as err:
            problems.setdefault('reports', {})[report] = str(err)
            continue
        link(report, night.folder / REPORTS)
        link(os.path.splitext(report)[0] + '.ledger', night.folder / REPORTS)
        rows += run.rows
        for case in run.cases:
            if file := reframe.record_file(case, report):
                link(file, night.folder / RECORDS)
            elif case.record:
                problems.setdefault('records', {})[case.record] = 'is gone'
    for where in night.campaigns.values():  # of jobs that no report of ReFrame has
        for file in Path(root(), 'results', 'records').glob(f'*-{where.replace(":", "-")}-*'):
            if file.stat().st_mtime >= night.state.begun.timestamp():
                link(file, night.folder / RECORDS)
    compare(night, {label(row): row for row in rows})


def link(file: str | Path, folder: Path) -> None:
    """The file in another folder, without its bytes where the file system can."""
    file, there = Path(file), folder / Path(file).name
    if file.exists() and not there.exists():
        folder.mkdir(exist_ok=True)
        try:
            os.link(file, there)
        except OSError:
            shutil.copy(file, there)


def label(row: Row) -> str:
    """As acknowledged.txt has it: 'thin:batch stream gcc-o2 pinning=omp', and the node where
    --distribute wanted it there."""
    of = [of_display_name(one.case.display_name or '') for one in row.attempts]
    node = next((one.node for one in of if one.node), '')
    words = row.case.where, row.test, row.preset, named(row.parameters.items()), node
    return ' '.join(filter(None, words))


def compare(night: Night, rows: dict[str, Row]) -> None:
    """Writes what was measured; what earlier nights had and this one has not is a problem."""
    every, options = earlier(night), night.state.options
    file = night.folder.parent / ACKNOWLEDGED
    lines = read_text(file).splitlines() if file.exists() else []
    known = {line.partition(': ')[0] for line in lines}
    arrived = {name for name, row in rows.items() if row.word != MISSING}
    gone = {}
    for name, last in sorted(every.items()):
        since = f'since {last.night}'  # of a row that ended again, later, it is another one
        is_expected = last.options == options and f'{name} {since}' not in known
        if name not in arrived and is_expected:
            why = rows[name].reason if name in rows else 'not in this run'
            gone[name] = f'{since}: {MISSING} {why}'
    if gone:
        night.state.problems['rows'] = gone
    every |= {name: Last(night.folder.name, options) for name in arrived}
    write_whole(night.folder / FILE, msgspec.json.format(msgspec.json.encode(every), indent=1))
    night.write()


def earlier(night: Night) -> dict[str, Last]:
    """Of the newest earlier night that can be read: it has what those before it had."""
    for file in sorted(night.folder.parent.glob(f'2*/{FILE}'), reverse=True):
        if file.parent.name < night.folder.name:
            try:
                return strict.file(file, dict[str, Last])
            except (OSError, strict.Damaged) as err:
                damaged = {file.parent.name: f'{err}: its rows are not expected'}
                night.state.problems['nights'] = damaged
    return {}
