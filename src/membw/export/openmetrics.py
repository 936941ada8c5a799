"""OpenMetrics text, which Prometheus's older text format takes, too: gauges in base units.

Samples have no time stamps: node_exporter's textfile collector refuses them.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from membw.export.rows import NAMES, Unmeasured, Words, key_of, row_of
from membw.printable import printable
from membw.results.figure import Figure
from membw.results.verdict import worst

# unit of a figure -> the base unit that Prometheus wants in a name, and how many of it
BASE = {
    'GB/s': ('bytes_per_second', 1e9),
    's': ('seconds', 1),
    'ms': ('seconds', 1e-3),
    'us': ('seconds', 1e-6),
    'ns': ('seconds', 1e-9),
    **dict.fromkeys(('GFlop/s', 'Gflop/s', 'GFLOPS', 'Gflops'), ('flops_per_second', 1e9)),
    '%': ('ratio', 0.01),
}
KINDS = {
    'value': ('figure', 'measured and valid'),
    'lower_bound': ('lower_bound', 'the true figure is higher: the run was disturbed'),
    'low': ('figure_low', 'lower end of the range in which a rerun is expected'),
    'high': ('figure_high', 'upper end of the range in which a rerun is expected'),
    'reference': ('reference', 'the reference value of the figure'),
}
VERDICT = 'the worst verdict of a test on a node, as a label'
Families = dict[str, tuple[str, str, dict[str, float]]]  # name -> unit, help, {series: value}


def as_text(
    figures: Sequence[Figure],
    unmeasured: Unmeasured,
    words: Words,
    shown: Callable[[Figure], bool] = lambda _: True,
) -> str:
    """The newest figure of each series, and what was not measured since; `figures` are in order of
    time. A verdict is of all figures, shown or not."""
    families: Families = {}
    of_node: dict[tuple[str, ...], list[str]] = {}
    newest = {key_of(f) + (f.node, f.metric): f for f in figures}
    rows: list[Mapping[str, object]] = [row_of(figure, words) for figure in newest.values()]
    for figure, row in zip(newest.values(), rows, strict=True):
        if shown(figure):
            _add_figure(families, figure, row)
    for row in [*rows, *unmeasured]:
        place = tuple(str(row.get(name, '')) for name in (*NAMES, 'node'))
        of_node.setdefault(place, []).append(str(row['verdict']))
    # one series per node and test, that does not end where a reason has other words
    for place, verdicts in of_node.items():
        labels = dict(zip((*NAMES, 'node'), place, strict=True), verdict=worst(verdicts))
        _add(families, 'membw_verdict', '', VERDICT, labels, 1.0)
    lines = []
    for name, (unit, about, samples) in sorted(families.items()):
        lines += [f'# TYPE {name} gauge', *[f'# UNIT {name} {unit}'] * bool(unit)]
        lines.append(f'# HELP {name} {about}')
        lines += [f'{series} {value!r}' for series, value in samples.items()]
    return '\n'.join([*lines, '# EOF\n'])


def _add_figure(families: Families, figure: Figure, row: Mapping[str, object]) -> None:
    labels = {name: row[name] for name in (*NAMES, 'node', 'metric', 'better')}
    name = 'membw_measured_timestamp_seconds'
    _add(families, name, 'seconds', 'when it was measured', labels, figure.time)
    as_name = re.sub(r'\W+', '_', figure.unit.replace('/', '_per_')).strip('_').lower()
    unit, factor = BASE.get(figure.unit, (as_name, 1))
    for key, (kind, about) in KINDS.items():
        value = row[key]
        if isinstance(value, float):
            name = '_'.join(filter(None, ('membw', kind, unit)))
            _add(families, name, unit, about, labels, value * factor)
    if isinstance(row['ratio'], float):
        _add(families, 'membw_ratio', 'ratio', 'figure / reference', labels, row['ratio'])


def _add(
    families: Families,
    name: str,
    unit: str,
    about: str,
    labels: Mapping[str, object],
    value: float,
) -> None:
    texts = ((k, printable(v, keep='\n').replace('\\', '\\\\')) for k, v in labels.items() if v)
    quoted = ((k, v.replace('"', '\\"').replace('\n', '\\n')) for k, v in texts)
    series = ','.join(f'{k}="{v}"' for k, v in quoted)
    families.setdefault(name, (unit, about, {}))[2][f'{name}{{{series}}}'] = float(value)
