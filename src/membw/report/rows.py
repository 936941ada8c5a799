"""Rows of the run: each test case with its figures, its references, its peak, its verdict."""

from dataclasses import dataclass, field

from membw.report.model import NONE, Cell
from membw.results import case as of_case
from membw.results.intervals import with_interval
from membw.results.metrics import Metric
from membw.run import summary
from membw.run.judge import failed_build
from membw.run.rows import states

# as ReFrame's report names them (reframe-checks/measurement.py), then what the record adds
FROM_CASE = (
    'display_name', 'system', 'partition', 'environ', 'pinning', 'node', 'job_completion_time',
    'array_size', 'ntimes', 'threads', 'threads_on', 'compiler', 'compile_line', 'source_sha256',
    'code_sha256', 'binary_sha256', 'spack_hash', 'built_with', 'stores', 'peak_gbs',
    'peak_source',
    'kernel_release', 'thp', 'numa_balancing', 'verdict', 'reasons', 'record', 'report', 'uuid',
)  # fmt: skip
UNPINNED = '-'
NAMES = {'peak_gbs': 'peak, GB/s', 'verdict': 'figure is'}
FROM_FACTS = ('cpu_model', 'microcode', 'governor', 'numa_nodes', 'mem_total_mib', 'dimms')


@dataclass
class Figure:
    """What was measured, and what it is held to: reference with its bounds, theoretical peak."""

    metric: Metric
    value: float
    reference: float = None
    low: float = None
    high: float = None
    peak: float = None
    interval: tuple = None  # how far the same measurement, started again, would read

    @property
    def text(self):
        return with_interval(self.value, self.interval)

    @property
    def of_reference(self):
        return self.value / self.reference if self.reference else None

    @property
    def of_peak(self):
        return self.value / self.peak if self.peak else None


@dataclass
class Row:
    """One test case that ran; `figures` is empty where the figures must not be believed."""

    id: str
    test: str
    where: str  # system:partition
    preset: str
    pinning: str  # UNPINNED: nothing of it was asked of this test
    verdict: str
    why: str
    figures: dict = field(default_factory=dict)  # metric's name -> Figure, as in the record
    others: dict = field(default_factory=dict)  # other performance variables -> (value, unit)
    codegen: dict = field(default_factory=dict)  # kernel -> what `membw codegen` read
    threads: str = ''
    provenance: dict = field(default_factory=dict)
    parameters: tuple = ()  # values of the test's own, but the pinning

    def cell(self, name):
        """Of a table: the figure of that name."""
        figure = self.figures.get(name)
        return Cell(figure.text, figure.value, self.id) if figure else NONE


def rows_of(cases):
    """A Row for each case that ran, in the order of the report; each state apart."""
    ran = [state for case in cases if summary.measures(case) for state in states(case)]
    return [_row(f'run-{number}', case) for number, case in enumerate(ran, 1)]


def metrics_of(rows):
    """Of all figures, in the order of the records."""
    return list(dict.fromkeys(f.metric for row in rows for f in row.figures.values()))


def failed_builds(cases):
    """(what, why) of each build that failed."""
    return [
        (f'{case["display_name"].split()[0]} of {case["environ"]}', summary.judge(case)[1])
        for case in cases
        if failed_build(case)
    ]


def _row(number, case):
    record = of_case.record(case)
    verdict, why = summary.judge(case)
    peak = case.get('peak_gbs') or record.get('peak_gbs') or None
    measured = {} if verdict == 'INVALID' else of_case.figures(case)
    metrics = of_case.metrics(case, record) if measured else ()
    named = {metric.name for metric in metrics}
    intervals = case.get('intervals') or {}
    return Row(
        id=number,
        test=of_case.test(case),
        where=of_case.where(case),
        preset=case['environ'],
        pinning=case.get('pinning') or UNPINNED,
        verdict=verdict,
        why=why or summary.allowed(record),
        figures={
            m.name: _figure(m, measured[m.name], peak, intervals.get(m.name)) for m in metrics
        },
        others={k: (f.value, f.unit) for k, f in measured.items() if k not in named},
        codegen=record.get('codegen') or {},
        threads=summary.placed(record),
        provenance=provenance(case, record),
        parameters=tuple(of_case.values(of_case.parameters(case))),
    )


def _figure(metric, figure, peak, interval):
    peak = peak if metric.is_bandwidth else None
    value, reference, low, high = figure[:4]
    if not reference:
        return Figure(metric, value, peak=peak, interval=interval)
    bounds = [reference * (1 + t) if t is not None else None for t in (low, high)]
    return Figure(metric, value, reference, *bounds, peak, interval)


def provenance(case, record):
    """What stands behind the figures of a case: name -> text, in the order to be read."""
    known = {key: case.get(key) for key in FROM_CASE}
    known |= {key: (record.get('facts') or {}).get(key) for key in FROM_FACTS}
    for name, figure in of_case.figures(case).items():
        held = f', reference {figure.reference:g}' if figure.reference else ''
        known[name] = f'{figure.value:g} {figure.unit}{held}'
    known['judged'] = ': '.join(filter(None, summary.judge(case)))
    texts = {NAMES.get(key, key.replace('_', ' ')): _text(v) for key, v in known.items()}
    return {key: text for key, text in texts.items() if text}


def _text(value):
    if isinstance(value, list):
        return ', '.join(map(str, value))
    return '' if value in (None, 0) else str(value)
