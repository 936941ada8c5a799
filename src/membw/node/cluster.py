"""The words of nodes that were measured together, and which of them are measured again."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from membw.node.baseline import Base, Known, compared
from membw.node.figures import Record, of_node
from membw.node.judge import FIT, NOT_JUDGED, SLOW, Judgement, judge
from membw.possible.peak import facts_of

BESIDE = 3  # FIT nodes, measured again with those that are not
MANY = 100  # nodes of one kind are compared with the same ones: one moves no median


def worded(records: Iterable[Record], system: str = '') -> list[Record]:
    """The records with their words, the first ones of all nodes before the second ones.

    A node's first one is compared with those of all other nodes. The second one, whose word
    counts, is compared with the second ones of nodes that were FIT, by the limits of the first.
    """
    first: dict[str, Known] = {}
    second: dict[str, Known] = {}
    for node in sorted(records, key=lambda node: node['time']):
        (second if node['host'] in first else first)[node['host']] = Known.of(node)
    kinds = Counter(node.kind for node in first.values())
    judged, bases = {}, {}
    for host, known in first.items():
        key = known.kind if kinds[known.kind] >= MANY else host
        if key not in bases:
            bases[key] = compared(known, first.values(), (), system)
        judged[host] = judge(known, *bases[key], facts_of('causes')['causes'])
    beside = [node for host, node in second.items() if judged[host].word == FIT]
    made = [known.record | judged[host].said() for host, known in first.items()]
    for host, known in second.items():
        was = judged[host]
        if was.word == FIT:
            said = was.said()
        else:
            said = again(beside, known, system, was.bases).said()
            if said['word'] == FIT:
                said['why'] = f'measured again; at first {was.text}'
        made.append(known.record | said)
    return made


def again(
    beside: Iterable[Known], node: Known, system: str, limits: Mapping[str, Base]
) -> Judgement:
    """`limits`: of the spread of all nodes, which a few do not show."""
    bases, usual = compared(node, beside, (), system)
    for name, of_all in limits.items():
        if name in bases:
            bases[name] = bases[name]._replace(limit=of_all.limit, varies=of_all.varies)
    return judge(node, bases, usual, facts_of('causes')['causes'])


def to_measure_again(nodes: Sequence[Record]) -> tuple[list[str], list[str]]:
    """(hosts that are SLOW or NOT JUDGED, FIT ones with them), of words; none, where there are
    not enough FIT ones."""
    low = [node['host'] for node in nodes if node['word'] in (SLOW, NOT_JUDGED)]
    fit = {node['host']: of_node(node).get('rate') for node in nodes if node['word'] == FIT}
    rates = sorted((rate.value, host) for host, rate in fit.items() if rate)
    begin = (len(rates) - BESIDE) // 2  # those in the middle
    beside = [host for _, host in rates[max(begin, 0) : begin + BESIDE]]
    return (low, beside) if low and len(rates) >= BESIDE else ([], [])
