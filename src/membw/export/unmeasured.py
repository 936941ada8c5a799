"""Cases without a figure, from ReFrame's reports: a build that failed is in no record."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from membw.errors import MembwError
from membw.moments import utc
from membw.results.table import Figure
from membw.results.verdict import NOT_MEASURED
from membw.summary import outcome

NAMES = ('test', 'parameters', 'system', 'partition', 'preset', 'pinning')


def unmeasured(folders: Sequence[str], problems: list[str]) -> list[dict[str, str]]:
    """A row per case of each report in FOLDER/reports of which no round has a figure: NAMES,
    time, verdict and reason. What cannot be read goes to `problems`."""
    rows: dict[tuple, dict[str, str]] = {}
    for file in sorted(f for folder in folders for f in Path(folder).glob('reports/run-*.json')):
        try:
            report = outcome.load(str(file))
        except MembwError as err:
            problems.append(str(err))
            continue
        cases = outcome.cases_of(report)
        builds = outcome.failed_builds(cases)
        began = utc(report['session_info'].get('time_start_unix') or 0)
        measured = {_key(case) for case in cases if case.get('record')}
        for case in cases:
            word, reason = outcome.outcome(case, builds)
            key = _key(case)
            if (
                word == NOT_MEASURED
                and outcome.is_row(case)
                and not outcome.is_dry(case)
                and key not in measured
            ):
                row = dict(zip(NAMES, key, strict=True))
                of_run = (file, *key)
                rows[of_run] = {'time': began, **row, 'verdict': word, 'reason': reason}
    return list(rows.values())


def newest(
    rows: Sequence[Mapping[str, str]], figures: Sequence[Figure]
) -> list[Mapping[str, str]]:
    """The last row of each case that was not measured since."""
    last = {tuple(row[name] for name in NAMES): row for row in rows}
    for f in figures:
        key = f.benchmark, f.parameters, f.system, f.partition, f.preset, f.pinning
        if key in last and utc(f.time) >= last[key]['time']:
            del last[key]
    return list(last.values())


def _key(case: dict) -> tuple[str, ...]:
    named = outcome.parameters(case)
    pinning = named.pop('pinning', '')
    parameters = ' '.join(f'{name}={value}' for name, value in named.items())
    where = case.get('system') or '', case.get('partition') or ''
    return outcome.test_of(case), parameters, *where, case.get('environ') or '', pinning
