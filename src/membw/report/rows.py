"""Rows of the run: each test case with its figures, its references, its peak, its verdict."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from membw.run import summary

KERNELS = summary.KERNELS
# as ReFrame's report names them (reframe-checks/measurement.py), then what the record adds
FROM_CASE = (
    'display_name', 'system', 'partition', 'environ', 'pinning', 'node', 'job_completion_time',
    'array_size', 'ntimes', 'threads', 'threads_on', 'compiler', 'compile_line', 'source_sha256',
    'binary_sha256', 'spack_hash', 'built_with', 'stores', 'peak_gbs', 'peak_source',
    'kernel_release', 'thp', 'numa_balancing', 'verdict', 'reasons', 'record', 'report', 'uuid',
)  # fmt: skip
UNPINNED = '-'
NAMES = {'peak_gbs': 'peak, GB/s', 'verdict': 'figure is'}
FROM_FACTS = ('cpu_model', 'microcode', 'governor', 'numa_nodes', 'mem_total_mib', 'dimms')


@dataclass
class Figure:
    """GB/s, and what it is held to: reference with its bounds, theoretical peak; None: unknown."""

    value: float
    reference: float = None
    low: float = None
    high: float = None
    peak: float = None

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
    figures: dict = field(default_factory=dict)  # kernel -> Figure
    others: dict = field(default_factory=dict)  # other performance variables -> (value, unit)
    codegen: dict = field(default_factory=dict)  # kernel -> what `membw codegen` read
    threads: str = ''
    provenance: dict = field(default_factory=dict)


def rows_of(cases):
    """A Row for each case that ran, in the order of the report."""
    ran = [case for case in cases if summary.measures(case)]
    return [_row(f'run-{number}', case) for number, case in enumerate(ran, 1)]


def failed_builds(cases):
    """(what, why) of each build that failed."""
    return [
        (f'{case["display_name"].split()[0]} of {case["environ"]}', summary.judge(case)[1])
        for case in cases
        if case.get('fixture') and case['result'] not in ('pass', 'skip')
    ]


def _row(number, case):
    record = record_of(case)
    verdict, why = summary.judge(case)
    where = f'{case["system"]}:{case["partition"]}'
    peak = case.get('peak_gbs') or record.get('peak_gbs') or None
    found = {} if verdict == 'INVALID' else _perfvalues(case)
    return Row(
        id=number,
        test=case['name'].split()[0],
        where=where,
        preset=case['environ'],
        pinning=case.get('pinning') or UNPINNED,
        verdict=verdict,
        why=why or summary.allowed(record),
        figures={k: _figure(found[k], peak) for k in KERNELS if k in found},
        others={k: (v[0], v[4]) for k, v in found.items() if k not in KERNELS},
        codegen=record.get('codegen') or {},
        threads=summary.placed(record),
        provenance=provenance(case, record),
    )


def _perfvalues(case):
    values = case.get('perfvalues') or {}
    return {k.split(':')[-1]: v for k, v in values.items() if v[0] is not None}


def _figure(perfvalue, peak):
    value, reference, low, high, *_ = perfvalue
    if not reference:
        return Figure(value, peak=peak)
    bounds = [reference * (1 + t) if t is not None else None for t in (low, high)]
    return Figure(value, reference, *bounds, peak)


def record_of(case):
    """The JSON record that the case names, also after its results were copied elsewhere."""
    if not case.get('record'):
        return {}
    path = Path(case['record'])
    moved = Path(case.get('report', '.')).resolve().parent.parent / 'records' / path.name
    for file in (path, moved):
        try:
            return json.loads(file.read_text().partition('\n')[0])
        except (OSError, ValueError):
            continue
    return {}


def provenance(case, record):
    """What stands behind the figures of a case: name -> text, in the order to be read."""
    known = {key: case.get(key) for key in FROM_CASE}
    known |= {key: (record.get('facts') or {}).get(key) for key in FROM_FACTS}
    for name, (value, reference, _, _, unit, *_) in _perfvalues(case).items():
        held = f', reference {reference:g}' if reference else ''
        known[name] = f'{value:g} {unit}{held}'
    known['judged'] = ': '.join(filter(None, summary.judge(case)))
    texts = {NAMES.get(key, key.replace('_', ' ')): _text(v) for key, v in known.items()}
    return {key: text for key, text in texts.items() if text}


def _text(value):
    if isinstance(value, list):
        return ', '.join(map(str, value))
    return '' if value in (None, 0) else str(value)
