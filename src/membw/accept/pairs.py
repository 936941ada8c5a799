"""Pairs of nodes: what a contract is held to where `cluster_pairs` measures.

Each link of `pingpong --nodes` takes the place of a node: it has runs, a figure, a retest. Its
`latency` is the time of the smallest message, its `bandwidth` that of the largest.
"""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations

from membw.results.metrics import HIGHER, LOWER, Metric
from membw.results.runs import split_runs

TEST = 'cluster_pairs'
FIGURES = (Metric('latency', 'us', LOWER), Metric('bandwidth', 'GB/s', HIGHER))
BETWEEN = '~'  # in no name of a node


def are_held(runs):
    """Whether the runs of a protocol are of pairs."""
    return runs.get('test') == TEST


def item(runs, count=1):
    """What a contract of such runs is about, in words."""
    some = 's' * (count != 1)
    return f'pair{some} of nodes' if are_held(runs) else f'node{some}'


def names(nodes):
    """'n001~n002' of each two of the names."""
    return [BETWEEN.join(pair) for pair in combinations(sorted(nodes), 2)]


def ends(pair):
    return pair.split(BETWEEN)


def count(nodes):
    """The pairs of so many nodes."""
    return nodes * (nodes - 1) // 2


def counted(nodes):
    """`nodes` of a protocol, as pairs: how many are measured, and of how many."""
    return nodes | {key: count(nodes[key]) for key in ('count', 'of') if key in nodes}


def of_links(records, renamed):
    """A record of each link in place of its nodes'; `renamed` is {host of a record: name}."""
    by_pair = defaultdict(list)
    for record in records:
        for other, reason, times in record.links:
            sides = (renamed.get(host, host) for host in (record.host, other))
            by_pair[BETWEEN.join(sorted(sides))].append(_of_link(record, reason, times))
    return [
        replace(_both_ends(run), host=pair)
        for pair, of_pair in by_pair.items()
        for run in split_runs(of_pair)
    ]


def _of_link(record, reason, times):
    """A node that may not be believed discredits all its links."""
    invalid = tuple(dict.fromkeys((*record.invalid, *filter(None, [reason]))))
    rates = {'latency': 1 / times[min(times)], 'bandwidth': max(times) / times[max(times)] / 1000}
    return replace(
        record, rates=rates, metrics=FIGURES, invalid=invalid, findings=invalid, spans={}, links=()
    )


def _both_ends(run):
    """One of the two: both nodes wrote the same times down."""
    invalid = tuple(dict.fromkeys(reason for end in run for reason in end.invalid))
    allowed = tuple(dict.fromkeys(reason for end in run for reason in end.allowed))
    return replace(run[0], rank=0, ranks=1, invalid=invalid, findings=invalid, allowed=allowed)


def in_common(failed):
    """'n003 is in 7 of them' of failed pairs: a slow node is not so many slow links."""
    most = Counter(end for pair in failed for end in ends(pair)).most_common(1)
    if len(failed) > 2 and 2 * most[0][1] > len(failed):
        yield f'{most[0][0]} is in {most[0][1]} of them'
