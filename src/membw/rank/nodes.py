"""From records of ranks to nodes: the latest run of each, complete or not."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from membw.rank import attendance, support
from membw.results.metrics import node_rates
from membw.results.record import STRICT
from membw.results.runs import split_runs, usual_ranks

# measured and to be believed, but nothing shows that it is as fast as it should be
SUSPECT = 'SUSPECT'


@dataclass
class Node:
    """One node in one configuration, or one that did not report."""

    name: str
    verdict: str = 'PASS'
    notes: list = field(default_factory=list)
    group: int = 0
    metrics: tuple = ()
    rates: np.ndarray = None  # larger is better (results/metrics.py), ranks x metrics
    ends: np.ndarray = None  # 2 x ranks x metrics: of each rate's interval, else the rate itself
    steadiness: float = 1.0
    traits: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)  # provenance.FIELDS
    time: float = 0.0
    sockets: int = 1
    channels: int = 0
    ratios: dict = field(default_factory=dict)  # metric -> node's rate / median
    z: float = 0.0
    q: float = 1.0
    pattern: str = ''

    @property
    def reason(self):
        return '; '.join(self.notes)

    @property
    def kernels(self):
        return tuple(metric.name for metric in self.metrics)

    @property
    def totals(self):
        """Rates of the whole node."""
        return node_rates(self.rates, self.metrics)

    @property
    def figures(self):
        """{metric: figure} of the whole node, in the metric's own unit."""
        return {
            metric.name: float(metric.figure(rate))
            for metric, rate in zip(self.metrics, self.totals, strict=True)
        }

    def percent(self, kernel, ratio):
        """'+5.0%' of the figure, from a ratio of rates."""
        return self.metrics[self.kernels.index(kernel)].percent(ratio)

    @property
    def threads(self):
        return int(self.traits.get('threads', 1)) * self.traits['ranks']


def assemble(records, problems=None):
    """The nodes that the records speak of, once for each program, build and set of metrics."""
    problems = [] if problems is None else problems
    runs = [_latest_run(unit) for unit in units_of(records)]
    usual = _usual_ranks(runs)
    of_jobs, lost = attendance.ranks_of_jobs(records)
    problems += lost
    order = {}  # of the metrics: another one is no other set
    nodes = []
    for run in runs:
        first = run[0]
        metrics = order.setdefault(frozenset(first.metrics), first.metrics)
        ranks = of_jobs.get((first.host, first.ranks), usual[_run_key(first)])
        nodes.append(_node(run, metrics, ranks))
    return nodes


def units_of(records):
    """Records that speak of one node in one configuration."""
    units = defaultdict(list)
    for record in records:
        key = (record.host, *(record.traits.get(t) for t in STRICT), frozenset(record.metrics))
        units[key].append(record)
    return list(units.values())


def _latest_run(records):
    """The newest run of a node; its ranks as they lie in the node."""
    newest = max(split_runs(records), key=lambda run: max(r.time for r in run))
    return sorted(newest, key=lambda r: (r.domain, r.rank))


def _run_key(record):
    return record.ranks, record.traits.get('cpu_model'), record.traits.get('flags')


def _usual_ranks(runs):
    """How many ranks a node has, of each number of ranks, CPU and flags."""
    alike = defaultdict(list)
    for run in runs:
        alike[_run_key(run[0])].append(run)
    return {key: usual_ranks(members) for key, members in alike.items()}


def _node(run, metrics, usual):
    first = run[0]
    node = Node(first.host, metrics=metrics, facts=first.provenance)
    node.time = max(r.time for r in run)
    node.traits = dict(first.traits, ranks=len(run))
    node.sockets, node.channels = first.sockets, first.channels
    node.steadiness = min(r.steadiness for r in run)
    node.rates = np.array([[r.rates[m.name] for m in metrics] for r in run])
    node.ends = support.ends_of(run, metrics)
    invalid = sorted({reason for r in run for reason in r.invalid})
    if len(run) < usual:
        node.verdict = 'MISSING'
        node.notes.append(f'{usual - len(run)} of {usual} ranks did not report')
    if invalid:
        node.verdict = 'INVALID'
        node.notes.append(', '.join(invalid))
    return node
