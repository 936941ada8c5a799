"""What was to be measured and has no figure: of records what is missing, of ReFrame's reports the
cases without a record, as after a failed build."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from membw.errors import MembwError
from membw.moments import utc
from membw.results import reframe
from membw.results.rows import LOST
from membw.results.table import Figure, Lost

NAMES = ('test', 'parameters', 'system', 'partition', 'preset', 'pinning')


def of_records(lost: Iterable[Lost]) -> list[dict[str, str]]:
    """A row per launch that is missing: NAMES, node, time, verdict and reason."""
    return [
        {
            'time': utc(one.time),
            **dict(zip(NAMES, _key_of(one), strict=True)),
            'node': one.node,
            'verdict': one.word,
            'reason': one.text,
        }
        for one in lost
    ]


def of_reports(folders: Sequence[str], problems: list[str]) -> list[dict[str, str]]:
    """A row per case of each report in FOLDER/reports that left no record. What cannot be read
    goes to `problems`."""
    rows: dict[tuple, dict[str, str]] = {}
    for file in sorted(f for folder in folders for f in Path(folder).glob('reports/run-*.json')):
        try:
            report = reframe.load(str(file))
        except MembwError as err:
            problems.append(str(err))
            continue
        cases = reframe.cases_of(report)
        builds = reframe.failed_builds(cases)
        began = utc(report['session_info'].get('time_start_unix') or 0)
        for case in filter(reframe.is_row, cases):
            word, reason = reframe.outcome(case, builds)
            if word in LOST and not case.get('record') and not reframe.is_dry(case):
                named = dict(zip(NAMES, _key(case), strict=True))
                row = {'time': began, **named, 'verdict': word, 'reason': reason}
                of_run = (file, *named.values())
                rows[of_run] = row
    return list(rows.values())


def newest(
    rows: Sequence[Mapping[str, str]], figures: Sequence[Figure]
) -> list[Mapping[str, str]]:
    """The last row of each case, where no run has measured it since."""
    last = {tuple(row[name] for name in NAMES): row for row in rows}
    for f in figures:
        key = _key_of(f)
        # a report has the begin of its run, a record the end: what it has is not measured since
        if key in last and (utc(f.time), 'node' not in last[key]) > (last[key]['time'], False):
            del last[key]
    return list(last.values())


def _key_of(f: Figure | Lost) -> tuple[str, ...]:
    return f.benchmark, f.parameters, f.system, f.partition, f.preset, f.pinning


def _key(case: dict) -> tuple[str, ...]:
    named = reframe.parameters(case)
    pinning = named.pop('pinning', '')
    parameters = ' '.join(f'{name}={value}' for name, value in named.items())
    where = case.get('system') or '', case.get('partition') or ''
    return reframe.test_of(case), parameters, *where, case.get('environ') or '', pinning
