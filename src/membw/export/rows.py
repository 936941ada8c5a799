"""One row per figure, as CSV and as JSON."""

import csv
import io
import json
from collections.abc import Sequence

from membw.moments import utc
from membw.results.table import Figure
from membw.results.verdict import INVALID, of_figure


def row_of(figure: Figure) -> dict[str, object]:
    """The columns of a figure; None is what is not known, or the number of an INVALID figure.

    `value`, `lower_bound` (of a figure that is a bound), `low`, `high` and `reference` are in
    `unit`; `ratio` is the value divided by the reference.
    """
    f, verdict = figure, of_figure(figure)
    value = None if verdict == INVALID else f.value
    is_known = value is not None
    return {
        'time': utc(f.time),
        'test': f.benchmark,
        'parameters': f.parameters,
        'system': f.system,
        'partition': f.partition,
        'preset': f.preset,
        'pinning': f.pinning,
        'node': f.node,
        'verdict': verdict,
        'metric': f.metric,
        'value': None if f.is_bound else value,
        'lower_bound': value if f.is_bound else None,
        'unit': f.unit,
        'better': f.better,
        'low': f.low if is_known else None,
        'high': f.high if is_known else None,
        'reference': f.reference,
        'ratio': value / f.reference if value is not None and f.reference else None,
        'reason': f.reasons or f.known_issue,
    }


def as_csv(figures: Sequence[Figure]) -> str:
    """A line of titles, and a line per figure."""
    rows = [row_of(figure) for figure in figures]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator='\n')
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(figures: Sequence[Figure]) -> str:
    """{"schema", "figures": [...]}, a figure per line."""
    lines = ',\n'.join(json.dumps(row_of(figure), allow_nan=False) for figure in figures)
    return f'{{"schema": "membw-export-2", "figures": [\n{lines}\n]}}\n'
