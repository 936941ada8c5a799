"""One run of one node: its ranks' records together, each met once; what the node did in it."""

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from membw.results.metrics import node_rates

# Records of one node belong to one run when they are no further apart.
SPAN_S = 900


def once(records):
    """A record met twice counts once; the one with more known about it (from a report) stays."""
    best = {}
    for record in records:
        key = record.identity
        if key not in best or _known(record) > _known(best[key]):
            best[key] = record
    return list(best.values())


def _known(record):
    """Of two copies without a report: beside the one in records/ lies what was kept of its job."""
    return len(record.traits), Path(record.file).parent.name == 'records'


def by_host(records):
    hosts = defaultdict(list)
    for record in records:
        hosts[record.host].append(record)
    return hosts


def split_runs(records):
    """One node's records, run by run, in order of time: each rank of a job once, within minutes.

    Ranks of one job write one file, or each a file of its own.
    """
    if len(records) == 1:
        return [records]
    per_file = Counter(r.file for r in records)
    jobs = defaultdict(list)
    for record in records:
        jobs[record.ranks, record.file if per_file[record.file] > 1 else ''].append(record)
    runs = [run for of_job in jobs.values() for run in _in_turn(of_job)]
    return sorted(runs, key=lambda run: (run[0].time, run[0].file))


def _in_turn(records):
    runs = []
    for record in sorted(records, key=lambda r: (r.time, r.rank)):
        run = runs[-1] if runs and record.ranks > 1 else None
        if (
            run
            and record.time - run[0].time <= SPAN_S
            and record.rank not in {r.rank for r in run}
        ):
            run.append(record)
        else:
            runs.append([record])
    return runs


def usual_ranks(runs):
    """How many ranks a node has: what most runs have, the more of two."""
    counts = Counter(map(len, runs))
    return max(counts, key=lambda n: (counts[n], n))


def rates_of(run):
    """{metric: rate} of the node, of what all its ranks measured."""
    if len(run) == 1:
        return run[0].rates
    metrics = [m for m in run[0].metrics if all(m.name in r.rates for r in run)]
    table = np.array([[r.rates[m.name] for m in metrics] for r in run]).reshape(len(run), -1)
    return dict(zip((m.name for m in metrics), node_rates(table, metrics).tolist(), strict=True))
