"""The words of nodes that were measured together, and of those measured again: made-up records."""

import made_up_nodes as made
import pytest

from membw.node import cluster
from membw.node.cluster import to_measure_again, worded

SLOW = {'shares': {'rate': 0.8}}
CHANNEL = made.PLANTED['memory-channel'][0]
BUSY = {'traces': {name: {'other_share': 0.4} for name in made.METRICS}}


def fleet(count=5, minutes=0, **planted):
    """n1.. : those of `planted` as it says, all others healthy."""
    hosts = [f'n{i}' for i in range(1, count + 1)]
    return [made.node(host, minutes / 1440, **planted.get(host, {})) for host in hosts]


def words(records):
    """{host: (word, why) of its last record}."""
    return {node['host']: (node['word'], node['why']) for node in worded(records)}


def test_each_node_is_compared_with_all_others_of_its_minute():
    found = words(fleet(n1={'dies': 'ladder'}, n4=CHANNEL, n5={**SLOW, **BUSY}))
    assert found['n1'] == ('DEAD', 'ladder: ended by SIGBUS (signal 7)')
    assert found['n2'] == found['n3'] == ('FIT', '')
    assert found['n4'] == ('SLOW', 'a memory module or channel is gone')
    assert found['n5'][0] == 'NOT JUDGED'


def test_of_many_nodes_those_of_a_kind_are_compared_with_the_same(monkeypatch):
    """The words are as if each were compared with all others; so 2,000 nodes take seconds."""
    records = fleet(30, n4=CHANNEL, n5=SLOW, n6={'facts': {'cpu_model': 'Other'}})
    exact = words(records)
    compared, calls = cluster.compared, []
    monkeypatch.setattr(cluster, 'MANY', 20)
    monkeypatch.setattr(cluster, 'compared', lambda *a: calls.append(a) or compared(*a))
    assert words(records) == exact
    assert len(calls) == 2  # the kind, and n6


@pytest.mark.parametrize(
    'planted, low, beside',
    [
        ({}, [], []),
        ({'n4': SLOW}, ['n4'], ['n1', 'n2', 'n3']),
        ({'n3': SLOW, 'n4': {**SLOW, **BUSY}}, ['n3', 'n4'], ['n1', 'n2', 'n5']),
        # fewer than three that are FIT: nothing to compare with
        ({'n1': SLOW, 'n2': SLOW, 'n3': SLOW}, [], []),
    ],
)
def test_what_is_not_fit_is_measured_again_beside_three_that_are(planted, low, beside):
    assert to_measure_again(worded(fleet(**planted))) == (low, beside)


def test_of_many_the_three_in_the_middle_are_measured_beside():
    shares = {f'n{i}': {'shares': {'rate': 1 + i / 1000}} for i in range(1, 10)}
    assert to_measure_again(worded(fleet(10, n10=SLOW, **shares)))[1] == ['n4', 'n5', 'n6']


@pytest.mark.parametrize(
    'second, word, why',
    [
        (SLOW, 'SLOW', 'cause not known: Triad 0.800 of the reference'),
        ({}, 'FIT', 'measured again; at first SLOW (a memory module or channel is gone)'),
        ({**SLOW, **BUSY}, 'NOT JUDGED', 'other processes took CPU time: Triad ≥ 144 GB/s'),
    ],
)
def test_the_word_of_the_second_measurement_counts(second, word, why):
    again = [node for node in fleet(4, 5, n4=second)]
    found = words([*fleet(n4=CHANNEL), *again])
    assert found['n4'][0] == word and found['n4'][1].startswith(why)
    assert found['n1'] == ('FIT', '')


def test_a_fleet_that_is_slower_as_a_whole_in_the_second_makes_no_node_fit_or_slow():
    """The nodes beside it are measured in the same minute."""
    slower = {f'n{i}': {'shares': {'rate': 0.8}} for i in range(1, 5)}
    assert words([*fleet(12, n4=SLOW), *fleet(4, 5, **slower)])['n4'][0] == 'FIT'
    slower['n4'] = {'shares': {'rate': 0.76}}  # 5 % below those
    assert words([*fleet(12, n4=SLOW), *fleet(4, 5, **slower)])['n4'][0] == 'SLOW'


def test_one_that_died_in_the_second_is_dead():
    again = fleet(4, 5, n4={'dies': 'loaded'})
    assert words([*fleet(n4=SLOW), *again])['n4'][0] == 'DEAD'
