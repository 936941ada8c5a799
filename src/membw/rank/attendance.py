"""Who reported, when, and in full: what has to be settled before anything is compared."""

import time
from collections import defaultdict

import numpy as np

from membw.moments import day
from membw.results.latest import AHEAD_S, WINDOW_S
from membw.results.runs import SPAN_S, split_runs

DAY_S = 86_400
MAX_AGE_DAYS = 14
# Two results of one name that differ by more, on half of all nodes, are of two machines.
TWO_MACHINES = 0.10


def without_future(records, now=None):
    """(records up to now, those from later): the fleet's own clock counts where ours is behind."""
    times = defaultdict(float)
    for r in records:
        times[r.host] = max(times[r.host], r.time)
    today = max(time.time() if now is None else now, np.median([*times.values()] or [0.0]))
    past = [r for r in records if r.time <= today + AHEAD_S]
    return past, [r for r in records if r.time > today + AHEAD_S]


def stale(nodes, max_age_days):
    """{name: text} of nodes that were silent while others reported."""
    last = defaultdict(float)
    for node in nodes:
        last[node.name] = max(last[node.name], node.time)
    newest = max(last.values(), default=0)
    return {
        name: f'no record since {day(when)}, {(newest - when) / DAY_S:.0f} days before the newest'
        for name, when in last.items()
        if max_age_days and 0 < when < newest - max_age_days * DAY_S
    }


def ranks_of_jobs(records):
    """({(host, ranks of its job): ranks that the node should have}, problems).

    A record says how many ranks its job had; were all of them heard, each node has had its own.
    """
    usual, problems = {}, []
    for job in _jobs(records):
        total = job[0].ranks
        heard = len({r.rank for r in job})
        if heard >= total:
            continue
        hosts = defaultdict(set)
        for r in job:
            hosts[r.host].add(r.rank)
        most = max(map(len, hosts.values()))
        each = next(
            (n for n in range(most, total + 1) if total % n == 0 and total // n >= len(hosts)), 0
        )
        lacking = sum(each - len(ranks) for ranks in hosts.values()) if each else 0
        usual |= {(host, total): each for host in hosts if each}
        if lacking < total - heard:
            lost = total - heard - lacking
            when = f' of {day(job[0].time)}' if job[0].time else ''
            problems.append(f'{lost} of {total} ranks of the run{when} have no record')
    return usual, problems


def _jobs(records):
    """The newest job of each number of ranks, if it had several."""
    by_ranks = defaultdict(list)
    for r in records:
        if r.ranks > 1:
            by_ranks[r.ranks].append(r)
    for same in by_ranks.values():
        newest = max(r.time for r in same)
        yield [r for r in same if newest - r.time <= SPAN_S]


def shared_names(units, max_age_days):
    """A problem, where half of the nodes have two results that differ as two machines do."""
    apart = set()
    for records in units:
        *before, last = split_runs(records)
        beside = [run for run in before if _may_be_another_machine(run[0], last[0])]
        if beside and _differ(beside[-1], last, max_age_days):
            apart.add(records[0].host)
    hosts = {records[0].host for records in units}
    if len(apart) < max(2, len(hosts) / 2):
        return []
    return [
        f'{len(apart)} of {len(hosts)} nodes have two results more than {TWO_MACHINES:.0%} apart '
        'in two files, or within half an hour: two clusters with the same names? judge one at a '
        'time'
    ]


def _may_be_another_machine(one, last):
    """What a file says later of a node is how it is since; but hardly since half an hour."""
    return one.file != last.file or (one.time and last.time - one.time <= WINDOW_S)


def _differ(one, other, max_age_days):
    one, other = ({r.rank: r for r in run} for run in (one, other))
    common = one.keys() & other.keys()
    if not common:
        return False
    a, b = one[min(common)], other[min(common)]
    near = abs(a.time - b.time) <= (max_age_days or MAX_AGE_DAYS) * DAY_S
    ratios = [a.rates[k] / b.rates[k] for k in a.rates if k in b.rates]
    return near and bool(ratios) and abs(np.log(np.median(ratios))) > TWO_MACHINES
