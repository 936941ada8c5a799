"""OpenMetrics text, which Prometheus's older text format takes, too: gauges in base units.

Samples have no time stamps: node_exporter's textfile collector refuses them.
"""

import re
import shutil
from codecs import StreamWriter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO

from membw.export.rows import NAMES, Unmeasured, Words, row_of
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
Family = tuple[str, str, str]  # name, unit, help


def write(
    stream: StreamWriter, figures: Iterable[Figure], unmeasured: Unmeasured, words: Words,
    shown: Callable[[Figure], bool],
) -> None:  # fmt: skip
    """The newest figure of each series, and what was not measured since. A verdict is of all
    figures, shown or not. A family stands together: each waits in a file of its own."""
    verdicts: dict[tuple[str, ...], str] = {}
    families: dict[Family, IO[str]] = {}

    def add(family: Family, labels: str, value: float) -> None:
        if family not in families:
            families[family] = files.enter_context(TemporaryFile('w+', encoding='utf-8'))
        families[family].write(f'{family[0]}{{{labels}}} {float(value)!r}\n')

    def judge(row: Mapping[str, object]) -> None:
        """One series per node and test, that does not end where a reason has other words."""
        place, word = tuple(str(row.get(name, '')) for name in NAMES), str(row['verdict'])
        verdicts[place] = worst([word, verdicts.get(place, word)])

    with ExitStack() as files:
        for figure in figures:
            row = row_of(figure, words)
            judge(row)
            if shown(figure):
                labels = _quoted({name: row[name] for name in (*NAMES, 'metric', 'better')})
                for family, value in _samples(figure, row):
                    add(family, labels, value)
        for lost in unmeasured:
            judge(lost)
        for place, word in verdicts.items():
            of_place = _quoted(dict(zip((*NAMES, 'verdict'), (*place, word), strict=True)))
            add(('membw_verdict', '', VERDICT), of_place, 1.0)
        for (name, unit, about), file in sorted(families.items(), key=itemgetter(0)):
            stream.write(f'# TYPE {name} gauge\n')
            stream.write(f'# UNIT {name} {unit}\n' * bool(unit))
            stream.write(f'# HELP {name} {about}\n')
            file.seek(0)
            shutil.copyfileobj(file, stream)
    stream.write('# EOF\n')


def _samples(figure: Figure, row: Mapping[str, object]) -> Iterator[tuple[Family, float]]:
    when = 'membw_measured_timestamp_seconds', 'seconds', 'when it was measured'
    yield when, figure.time
    as_name = re.sub(r'\W+', '_', figure.unit.replace('/', '_per_')).strip('_').lower()
    unit, factor = BASE.get(figure.unit, (as_name, 1))
    for key, (kind, about) in KINDS.items():
        value = row[key]
        if isinstance(value, float):
            name = '_'.join(filter(None, ('membw', kind, unit)))
            yield (name, unit, about), value * factor
    if isinstance(row['ratio'], float):
        yield ('membw_ratio', 'ratio', 'figure / reference'), row['ratio']


def _quoted(labels: Mapping[str, object]) -> str:
    texts = ((k, printable(v, keep='\n').replace('\\', '\\\\')) for k, v in labels.items() if v)
    quoted = ((k, v.replace('"', '\\"').replace('\n', '\\n')) for k, v in texts)
    return ','.join(f'{k}="{v}"' for k, v in quoted)
