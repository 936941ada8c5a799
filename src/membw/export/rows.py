"""One row per figure, as CSV and as JSON; and per case that has none: what is missing in records,
and in ReFrame's reports the cases without a record, as after a failed build."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from membw.errors import MembwError
from membw.moments import utc
from membw.results import reframe
from membw.results.rows import LOST
from membw.results.table import Figure, Lost
from membw.results.verdict import INVALID, of_figure

COLUMNS = (
    'time test parameters system partition preset pinning node verdict metric value lower_bound '
    'unit better low high reference ratio reason'
).split()
NAMES = ('test', 'parameters', 'system', 'partition', 'preset', 'pinning')
# the same of a Figure, or of a Lost
key_of = attrgetter('benchmark', *NAMES[1:])


def row_of(figure: Figure) -> dict[str, object]:
    """The columns of a figure; None is what is not known, or the number of an INVALID figure.

    `value`, `lower_bound` (of a figure that is a bound), `low`, `high` and `reference` are in
    `unit`; `ratio` is the value divided by the reference.
    """
    f, verdict = figure, of_figure(figure)
    value = None if verdict == INVALID else f.value
    is_known = value is not None
    row = {
        **f._asdict(),
        'time': utc(f.time),
        'test': f.benchmark,
        'verdict': verdict,
        'value': None if f.is_bound else value,
        'lower_bound': value if f.sign == '≥ ' else None,
        'low': f.low if is_known else None,
        'high': f.high if is_known else None,
        'ratio': value / f.reference if value is not None and f.reference else None,
        'reason': f.reasons or f.known_issue,
    }
    return {name: row[name] for name in COLUMNS}


def as_csv(figures: Sequence[Figure], unmeasured: Sequence[Mapping[str, str]] = ()) -> str:
    """A line of titles, and a line per figure and per case without one."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator='\n')
    writer.writeheader()
    writer.writerows([*map(row_of, figures), *unmeasured])
    return text.getvalue()


def as_json(figures: Sequence[Figure], unmeasured: Sequence[Mapping[str, str]] = ()) -> str:
    """{"schema", "figures": [...]}, a figure, or a case without one, per line."""
    rows = [*map(row_of, figures), *(dict.fromkeys(COLUMNS) | dict(case) for case in unmeasured)]
    lines = ',\n'.join(json.dumps(row, allow_nan=False) for row in rows)
    return f'{{"schema": "membw-export-2", "figures": [\n{lines}\n]}}\n'


# --- what has no figure --------------------------------------------------------------------------


def of_records(lost: Iterable[Lost]) -> list[dict[str, str]]:
    """A row per launch that is missing: NAMES, node, time, verdict and reason."""
    return [
        {
            'time': utc(one.time),
            **dict(zip(NAMES, key_of(one), strict=True)),
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
    """The last row of each case and node, where no run has measured it since; of a report's case
    the node is not known."""
    last = {(*(row[name] for name in NAMES), row.get('node', '')): row for row in rows}
    for f in figures:
        for node in (f.node, ''):
            key = (*key_of(f), node)
            # a report has the begin of its run, a record the end: of that it is not since
            if key in last and (utc(f.time), not node) > (last[key]['time'], False):
                del last[key]
    return list(last.values())


def _key(case: dict) -> tuple[str, ...]:
    named = reframe.parameters(case)
    pinning = named.pop('pinning', '')
    parameters = ' '.join(f'{name}={value}' for name, value in named.items())
    where = case.get('system') or '', case.get('partition') or ''
    return reframe.test_of(case), parameters, *where, case.get('environ') or '', pinning
