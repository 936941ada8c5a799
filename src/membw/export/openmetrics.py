"""OpenMetrics text, which Prometheus's older text format takes, too: gauges in base units.

Samples have no time stamps: node_exporter's textfile collector refuses them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from membw.export.rows import NAMES, Unmeasured, Words, row_of
from membw.grouped import grouped
from membw.printable import printable
from membw.results.figure import Figure
from membw.words import worst

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
Sample = tuple[str, str, str, Mapping[str, object], float]  # name, unit, help, labels, value


def as_text(
    figures: Sequence[Figure],
    unmeasured: Unmeasured,
    words: Words,
    shown: Callable[[Figure], bool] = lambda _: True,
) -> str:
    """The newest figure of each series, and what was not measured since; `figures` are in order of
    time. A verdict is of all figures, shown or not."""
    newest = {(f.of.row, f.metric): f for f in figures}
    rows: list[Mapping[str, object]] = [row_of(figure, words) for figure in newest.values()]
    pairs = zip(newest.values(), rows, strict=True)
    every = [sample for f, row in pairs if shown(f) for sample in _samples(f, row)]
    # one series per node and test, that does not end where a reason has other words
    words_of = [(_place(row), str(row['verdict'])) for row in [*rows, *unmeasured]]
    for place, verdicts in grouped(words_of).items():
        labels = dict(zip(NAMES, place, strict=True), verdict=worst(verdicts))
        every.append(('membw_verdict', '', VERDICT, labels, 1.0))
    lines = []
    for (name, unit, about), samples in sorted(grouped((s[:3], s[3:]) for s in every).items()):
        lines += [f'# TYPE {name} gauge', *[f'# UNIT {name} {unit}'] * bool(unit)]
        lines.append(f'# HELP {name} {about}')
        series = {f'{name}{{{_quoted(labels)}}}': float(value) for labels, value in samples}
        lines += [f'{one} {value!r}' for one, value in series.items()]
    return '\n'.join([*lines, '# EOF\n'])


def _place(row: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(str(row.get(name, '')) for name in NAMES)


def _samples(figure: Figure, row: Mapping[str, object]) -> Iterator[Sample]:
    labels = {name: row[name] for name in (*NAMES, 'metric', 'better')}
    when = 'membw_measured_timestamp_seconds', 'seconds', 'when it was measured'
    yield *when, labels, figure.time
    as_name = re.sub(r'\W+', '_', figure.unit.replace('/', '_per_')).strip('_').lower()
    unit, factor = BASE.get(figure.unit, (as_name, 1))
    for key, (kind, about) in KINDS.items():
        value = row[key]
        if isinstance(value, float):
            name = '_'.join(filter(None, ('membw', kind, unit)))
            yield name, unit, about, labels, value * factor
    if isinstance(row['ratio'], float):
        yield 'membw_ratio', 'ratio', 'figure / reference', labels, row['ratio']


def _quoted(labels: Mapping[str, object]) -> str:
    texts = ((k, printable(v, keep='\n').replace('\\', '\\\\')) for k, v in labels.items() if v)
    quoted = ((k, v.replace('"', '\\"').replace('\n', '\\n')) for k, v in texts)
    return ','.join(f'{k}="{v}"' for k, v in quoted)
