"""What a night measured, beside what earlier nights did: rows that ended, machines without a past.

measured.json of a night has its machines, and each row that was ever measured on this system, with
its last night. A row of the same command that did not arrive is named each night, until somebody
writes its line to acknowledged.txt of the system.
"""

import os
import shutil
from datetime import datetime
from pathlib import Path

import msgspec

from membw import strict
from membw.checkout import root
from membw.errors import MembwError
from membw.files import read_text, write_whole
from membw.nightly.night import Night
from membw.results import reframe
from membw.results.case import Case, named, of_display_name
from membw.results.record import read_records
from membw.words import MISSING

FILE, ACKNOWLEDGED = 'measured.json', 'acknowledged.txt'
RECENT = 14  # nights
# of this night alone, for those who read folders
LINKED = REPORTS, RECORDS = 'reports', 'records'


class Last(msgspec.Struct):
    night: str
    options: list[str]  # of `membw run`


class Measured(msgspec.Struct):
    hosts: list[str]
    rows: dict[str, Last]


def take(night: Night) -> None:
    """Reads the reports of the night, links them and all records to its folder, and notes what is
    missing."""
    for name in LINKED:  # of an earlier try
        shutil.rmtree(night.folder / name, ignore_errors=True)
    problems = night.state.problems = {}
    cases: list[dict] = []
    for report in night.state.reports:
        try:
            own = reframe.cases_of(reframe.load(report))
        except MembwError as err:
            problems.setdefault('reports', []).append(str(err))
            continue
        link(report, night.folder / REPORTS)
        link(os.path.splitext(report)[0] + '.ledger', night.folder / REPORTS)
        cases += own
        for case in (case for case in own if case.get('record')):
            if file := reframe.record_file(case, report):
                link(file, night.folder / RECORDS)
            else:
                problems.setdefault('records', []).append(f"'{case['record']}' is gone")
    link_campaigns(night)
    records, _ = read_records(*night.folder.glob(f'{RECORDS}/*'))  # `rank` names damaged lines
    compare(night, cases, {one['host'] for one in records} - {''})


def link_campaigns(night: Night) -> None:
    """Of the jobs that no report of ReFrame has."""
    begun = datetime.fromisoformat(night.state.begun).timestamp()
    for where in night.campaigns.values():
        of = f'*-{where.replace(":", "-")}-*'
        for file in Path(root(), 'results', 'records').glob(of):
            if file.stat().st_mtime >= begun:
                link(file, night.folder / RECORDS)


def link(file: str | Path, folder: Path) -> None:
    """The file in another folder, without its bytes where the file system can."""
    file, there = Path(file), folder / Path(file).name
    if file.exists() and not there.exists():
        folder.mkdir(exist_ok=True)
        try:
            os.link(file, there)
        except OSError:
            shutil.copy(file, there)


def compare(night: Night, cases: list[dict], hosts: set[str]) -> None:
    """Writes what was measured; what earlier nights had and this one has not is a problem."""
    date, options = night.folder.name, night.state.options
    rows: dict[str, Last] = {}
    before, damaged = earlier(night.folder)
    if damaged and not before:
        night.state.problems['nights'] = [f'{damaged[0]}: its rows and nodes are not expected']
    for one in before:
        rows |= {r: last for r, last in one.rows.items() if last.night >= rows.get(r, last).night}
    arrived, absent = tonight(cases)
    gone = [
        f'{row} since {last.night}: {MISSING} {absent.get(row, "not in this run")}'
        for row, last in sorted(rows.items())
        if row not in arrived and last.options == options
    ]
    known = read_acknowledged(night.folder.parent)
    if gone := [line for line in gone if not line.startswith(known)]:
        night.state.problems['rows'] = gone
    names = {host for one in before for host in one.hosts}
    if hosts and names and not hosts & names:
        nights = 1 + sum(bool(one.hosts) for one in before)
        text = f'nothing was compared: {len(hosts | names)} names in {nights} nights'
        night.state.problems['names'] = [text]
    rows |= {row: Last(date, options) for row in arrived}
    measured = msgspec.json.encode(Measured(sorted(hosts), rows))
    write_whole(night.folder / FILE, msgspec.json.format(measured, indent=1))
    night.write()


def earlier(folder: Path) -> tuple[list[Measured], list[str]]:
    """Of RECENT nights that were measured before this one, oldest first; what cannot be read."""
    found: list[Measured] = []
    damaged = []
    for file in sorted(folder.parent.glob(f'2*/{FILE}'), reverse=True):
        if file.parent.name < folder.name and len(found) < RECENT:
            try:
                found.append(strict.file(file, Measured))
            except (OSError, strict.Damaged) as err:  # an older one has it
                damaged.append(f'cannot be read: {err}')
    return found[::-1], damaged


def tonight(cases: list[dict]) -> tuple[set[str], dict[str, str]]:
    """(rows that were measured, {row: why it was not}); a row is 'thin:batch stream gcc-o2
    pinning=omp', no build."""
    arrived, absent = set(), {}
    builds = reframe.failed_builds(cases)
    for case in cases:
        if case.get('fixture') or reframe.is_dry(case):
            continue
        row = label(reframe.case_of(case), of_display_name(case.get('display_name') or '').node)
        is_skipped = case['result'] == 'skip'
        word, reason = (MISSING, '') if is_skipped else reframe.outcome(case, builds)
        if word == MISSING:
            absent[row] = reason or reframe.reason_of(case)
        else:
            arrived.add(row)
    return arrived, absent


def label(case: Case, node: str) -> str:
    """As acknowledged.txt has it; `node`: where --distribute wanted it there."""
    values = named([('pinning', case.pinning)] * bool(case.pinning) + [*case.parameters])
    return ' '.join(filter(None, (case.where, case.test, case.preset, values, node)))


def read_acknowledged(system: Path) -> tuple[str, ...]:
    """'ROW since NIGHT:' of each line: a row that ended again, later, is not acknowledged."""
    file = system / ACKNOWLEDGED
    lines = read_text(file).splitlines() if file.exists() else []
    pairs = [line.partition(' since ') for line in lines]
    return tuple(f'{row} since {rest.split(":")[0].strip()}:' for row, _, rest in pairs if rest)
