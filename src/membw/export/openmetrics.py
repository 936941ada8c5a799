"""OpenMetrics text, which Prometheus's older text format takes as well (node_exporter's textfile
collector, promtool): gauges, base units, no time stamps on samples."""

import re

from membw.printable import printable

# of a unit of ours: the base unit that Prometheus wants in a name, and how many of it
BASE = {
    'GB/s': ('bytes_per_second', 1e9),
    'MB/s': ('bytes_per_second', 1e6),
    'B/s': ('bytes_per_second', 1),
    's': ('seconds', 1),
    'ms': ('seconds', 1e-3),
    'us': ('seconds', 1e-6),
    'ns': ('seconds', 1e-9),
    'GFlop/s': ('flops_per_second', 1e9),
    '%': ('ratio', 0.01),
}
WHAT = {
    'figure': ('measured and believed', 'value'),
    'figure_low': ('lower end of the interval in which the same run would read again', 'low'),
    'figure_high': ('upper end of the interval in which the same run would read again', 'high'),
    'reference': ('what the figure is held to', 'reference'),
}


def as_text(rows):
    families = {}
    for row in rows:
        _add_row(families, row)
    lines = []
    for name in sorted(families):
        unit, about, samples = families[name]
        lines += [f'# TYPE {name} gauge', *[f'# UNIT {name} {unit}'] * bool(unit)]
        # a series that two rows would share is one series: the newer of them
        lines += [f'# HELP {name} {about}', *(f'{key} {value}' for key, value in samples.items())]
    return '\n'.join([*lines, '# EOF'])


def _add_row(families, row):
    add = _adder(families)
    labels = row.labels | {'verdict': row.verdict}
    add('membw_verdict', '', 'the verdict of a test case or a node, as a label',
        labels | {'reason': row.reason}, 1)  # fmt: skip
    if row.time:
        add(
            'membw_measured_timestamp_seconds', 'seconds', 'when it was measured', labels, row.time
        )
    for figure in row.figures:
        unit, factor = BASE.get(figure.unit, (_as_name(figure.unit), 1))
        of_figure = labels | {'metric': figure.metric, 'better': figure.better}
        for kind, (about, field) in WHAT.items():
            value = getattr(figure, field)
            if value is not None:
                name = '_'.join(filter(None, ('membw', kind, unit)))
                add(name, unit, f'{about}, {unit or "a plain number"}', of_figure, value * factor)
        if figure.ratio is not None:
            add('membw_ratio', 'ratio', 'of the reference, or of the median node', of_figure,
                figure.ratio)  # fmt: skip


def _adder(families):
    def add(name, unit, about, labels, value):
        series = ','.join(f'{k}="{_quoted(v)}"' for k, v in labels.items() if v != '')
        samples = families.setdefault(name, (unit, about, {}))[2]
        samples[f'{name}{{{series}}}'] = repr(float(value))

    return add


def _as_name(unit):
    """A unit that no table here knows, as a part of a name."""
    return re.sub(r'\W+', '_', unit.replace('/', '_per_')).strip('_').lower()


def _quoted(text):
    text = printable(text, keep='\n')
    return text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
