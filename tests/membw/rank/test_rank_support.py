"""`membw rank` and the intervals of records: what a node's own interval takes back."""

import fleet_generator as gen
import numpy as np
import pytest
from with_intervals import with_intervals

from membw.rank.fleet import judge
from membw.results.record import parse_record


def fleet(halves, nodes=20, slow=(3,), share=0.08, ranks=1):
    """Records of a fleet with slow nodes; halves: {node: half width, a fraction}, else 3 %."""
    healthy = gen.healthy(nodes, seed=5, ranks=ranks)
    gen.slow(healthy, slow, share)
    rows = gen.records(healthy)
    for row in rows if halves is not None else ():
        with_intervals(row, halves.get(int(row['host'][1:]) - 1, 0.03))
    return [parse_record(row, 'made up') for row in rows]


def node(records, number=3):
    return next(n for n in judge(records).nodes if n.name == gen.name(number))


def test_a_low_node_fails_when_its_own_interval_supports_it_and_without_one():
    assert node(fleet({})).verdict == 'FAIL'
    assert node(fleet(None)).verdict == 'FAIL'


@pytest.mark.parametrize('ranks', [1, 4])
def test_a_low_node_whose_interval_reaches_the_others_has_to_be_measured_again(ranks):
    found = node(fleet({3: 0.2}, ranks=ranks))
    assert found.verdict == 'PASS' and found.q == 1
    assert found.reason == 'low, but its own interval (+20.0%) reaches its peers: measure again'


def test_no_interval_excuses_a_node_at_a_twentieth():
    found = node(fleet({3: 30.0}, share=0.95))
    assert found.verdict == 'SUSPECT' and 'reaches its peers: measure again' in found.reason


def test_the_others_are_judged_beside_it():
    records = fleet({3: 0.2}, slow=(3, 7))
    assert (node(records).verdict, node(records, 7).verdict) == ('PASS', 'FAIL')


def test_a_slower_part_is_suspect_but_for_nodes_with_wide_intervals():
    slow = tuple(range(8))
    records = fleet({3: 0.2}, nodes=20, slow=slow)
    assert {node(records, i).verdict for i in slow if i != 3} == {'SUSPECT'}
    assert node(records).verdict == 'PASS' and 'measure again' in node(records).reason


def test_a_node_too_fast_to_be_true_is_not_suspect_by_a_figure_that_may_be_half():
    fast = {'slow': (3,), 'share': -0.5}
    assert node(fleet({}, **fast)).verdict == 'SUSPECT'
    assert node(fleet({3: 0.5}, **fast)).verdict == 'PASS'


def of_times(figures):
    """Records of `src/overheads`: {construct: (us, low, high)} of each node."""
    (row,) = gen.records(gen.healthy(1, seed=1))
    row |= {'schema': 'membw-record-2', 'kernels': {}}
    keys = 'value', 'low', 'high'
    return [
        parse_record(row | {'host': gen.name(n), 'metrics': {
            name: {'unit': 'us', 'better': 'lower'} | dict(zip(keys, ends, strict=True))
            for name, ends in of_node.items()
        }}, 'made up')
        for n, of_node in enumerate(figures)
    ]  # fmt: skip


def test_a_time_that_may_be_0_holds_nothing_against_a_node_and_excuses_no_other_figure():
    """An overhead of 0.5 us may be -0.5 to 1.5: nothing is known of it."""
    rng = np.random.default_rng(3)
    ends = np.array([1, 0.97, 1.03])
    usual = {'parallel': 2.0, 'barrier': 1.0, 'copyin': 0.1}
    fleet = [{k: us * rng.normal(1, 0.005) * ends for k, us in usual.items()} for _ in range(20)]
    fleet[3]['copyin'] = np.array([0.5, -0.5, 1.5])
    fleet[5]['copyin'] *= 5
    fleet[7] = {k: 1.4 * figure for k, figure in fleet[7].items()} | {'copyin': fleet[3]['copyin']}
    found = [node(of_times(fleet), n) for n in (3, 5, 7)]
    assert [each.verdict for each in found] == ['PASS', 'FAIL', 'FAIL']
    assert 'own interval (a figure that may be 0) reaches its peers' in found[0].reason
    # so in a slower part of the fleet: what is known of a node decides
    for of_node in fleet[:8]:
        of_node |= {k: 1.5 * of_node[k] for k in ('parallel', 'barrier')}
    assert all(node(of_times(fleet), n).verdict != 'PASS' for n in range(8))
