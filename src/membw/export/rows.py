"""One row per figure, as CSV and as JSON."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

from membw.moments import utc
from membw.results.table import Figure
from membw.results.verdict import INVALID, of_figure

COLUMNS = (
    'time test parameters system partition preset pinning node verdict metric value lower_bound '
    'unit better low high reference ratio reason'
).split()


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
