"""Attempts at a row by the state of the machine: a host that moves virtual cores has several."""

import collections

from membw.results import case as of_case
from membw.results import regimes

MOVED = 'the nearest cores were moved while it measured'


def of_hosts(cases):
    """{host: its states}, as results/regimes.py has them, from all rows of a report; [] of a host
    that stayed in one."""
    by_host = collections.defaultdict(list)
    for data in map(of_case.record, cases):
        by_host[data.get('host')].append(regimes.latencies(data))
    return {host: of_host(pairs) for host, pairs in by_host.items()}


def of_host(pairs):
    groups = regimes.groups(map(regimes.latency, pairs))
    return groups if len(groups) > 1 or any(map(regimes.crossed, pairs)) else []


def parts(cases, hosts):
    """[(how far apart the nearest cores were, attempts)], the usual state first.

    Nothing is said of a machine with one state.  What crossed from one to another is in none,
    unless there is nothing else.
    """
    records = [of_case.record(case) for case in cases]
    pairs = [regimes.latencies(data) for data in records]
    groups = hosts.get(records[0].get('host'), [])
    if not groups and not any(map(regimes.crossed, pairs)):
        return [('', cases)]
    by_group = collections.defaultdict(list)
    for case, pair in zip(cases, pairs):
        number = regimes.number(regimes.latency(pair), groups)
        if number >= 0 or not pair:
            by_group[number].append(case)
    if not by_group:
        return [(MOVED, cases)]
    usual_first = sorted(by_group.items(), key=lambda part: -len(part[1]))
    return [
        (f'nearest cores {regimes.text(groups[number])} apart' if number >= 0 else '', of_state)
        for number, of_state in usual_first
    ]
