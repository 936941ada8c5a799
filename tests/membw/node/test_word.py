"""The word for a node: by its peers, else by its own first runs, and by its reference."""

import math

import made_up_nodes as made
import numpy as np
import pytest

PEERS = [made.node(f'p{i}', facts_own={'cpus_allowed': 8}) for i in range(8)]
BUSY = {'other_share': 0.4, 'processes': [{'name': 'python', 'cpu_s': 4.0}]}
ALL_BUSY = {name: BUSY for name in made.METRICS}
STOLEN = {name: {'stolen_share': 0.2} for name in made.METRICS}
LOW = 'low once: measure again'


@pytest.mark.parametrize('planted, word, said', [
    ({}, 'PASS', ''),
    ({'busy': ALL_BUSY}, 'UNDECIDED', 'other processes took CPU time'),
    ({'shares': {'rate': 0.875}}, 'UNDECIDED', LOW),
    ({'shares': {'rate': 0.8}, 'busy': ALL_BUSY}, 'UNDECIDED', 'other processes took CPU'),
    ({'shares': {'cache': 0.1, 'l3': 0.5}, 'busy': ALL_BUSY}, 'UNDECIDED', 'other processe'),
    ({'shares': {'rate': 0.8}, 'busy': STOLEN}, 'UNDECIDED', 'the host of this virtual'),
    ({'shares': {'rate': 0.8}, 'counted': {'quota_throttles': 9}}, 'UNDECIDED', 'a quota of'),
    ({'shares': {'rate': 1.3}}, 'UNDECIDED', 'too good: a cache, another size?'),
    ({'dies': 'ladder'}, 'DIED', 'ladder: ended by SIGBUS (signal 7)'),
    ({'late': ['late']}, 'UNDECIDED', 'no triad_at_the_end'),
    ({'late': ['tiers', 'late'], 'dies': 'stream'}, 'DIED', 'stream: ended by SIGBUS'),
    ({'verdicts': {'stream': ('INVALID', 'placement')}}, 'INVALID', 'stream: placement'),
    ({'verdicts': {'ladder': ('INVALID', 'no-level')}}, 'INVALID', 'ladder: no-level'),
    ({'verdicts': {'tiers': ('UNDECIDED', 'noise')}}, 'UNDECIDED', 'tiers: noise'),
    ({'verdicts': {'stream': ('INVALID', 'x')}, 'dies': 'ladder'}, 'DIED', 'ladder: ended'),
])  # fmt: skip
def test_the_word_of_one_measurement(planted, word, said):
    found = made.word(made.node(**planted), PEERS)
    assert found.word == word and said in found.why, found.text


@pytest.mark.parametrize('times, word', [(1, 'UNDECIDED'), (3, 'UNDECIDED'), (4, 'FAIL')])
def test_one_reading_condemns_nobody_and_three_further_ones_do(times, word):
    *before, last = made.measured(times, shares={'rate': 0.875})
    assert made.word(last, [*PEERS, *before]).word == word


def test_low_once_and_well_three_times_passes():
    further = made.measured(3, day=0.01)
    found = made.word(further[-1], [*PEERS, made.node(shares={'rate': 0.9}), *further[:-1]])
    assert found.word == 'PASS' and 'measured again 3 times' in found.why


@pytest.mark.parametrize('peers, word', [(1, 'UNDECIDED'), (2, 'UNDECIDED'), (3, 'PASS')])
def test_a_pass_says_what_it_would_have_noticed_and_is_none_where_it_is_a_channel(peers, word):
    found = made.word(made.node(), PEERS[:peers])
    assert found.word == word
    assert (found.noticed < 1 / 12) == (word == 'PASS')
    assert word == 'PASS' or 'add peers' in found.why


def test_peers_that_scatter_clear_nobody():
    varied = [made.node(f'p{i}', shares={'rate': 1 + (i - 3) / 15}) for i in range(7)]
    found = made.word(made.node(), varied)
    assert found.word == 'UNDECIDED' and '7 peers cannot show one below' in found.why


def test_a_node_without_peers_is_compared_with_its_own_first_runs():
    alone = [made.word(made.node(day=9), made.measured(n)) for n in (0, 1, 2, 6, 7)]
    assert [found.word for found in alone] == ['VALID'] * 4 + ['PASS']
    assert 'nothing to compare with' in alone[0].why
    before = made.measured(7)
    *low, last = made.measured(4, day=9, shares={'rate': 0.8})
    assert made.word(last, before).word == 'UNDECIDED'
    assert made.word(last, [*before, *low]).word == 'FAIL'
    worse = made.node(day=8)  # than it reads: it is judged by nothing, and no yardstick
    for row in worse['metrics'].values():
        row['bound'] = 'upper'
    assert made.word(worse, before).word == 'UNDECIDED'
    assert made.word(made.node(day=9), [*before, worse]).word == 'PASS'


def test_what_failed_before_is_no_yardstick_nor_is_one_of_another_cpu():
    failed = [{**one, 'word': 'FAIL'} for one in made.measured(7)]
    others = [made.node(f'x{i}', facts={'cpu_model': 'Other'}) for i in range(8)]
    for rows in (failed, others):
        assert 'nothing to compare with' in made.word(made.node(day=9), rows).why


@pytest.mark.parametrize('loss, runs', [(0.005, 24), (0.01, 16)])
def test_a_node_that_falls_a_little_each_run_does_not_take_its_yardstick_along(loss, runs):
    """0.5 % a run was FIT down to 0.82 of what it had been."""
    rng = np.random.default_rng(1)
    every = [
        made.node(day=d, shares={'rate': 1 - loss * d}, noise=lambda: 1 + rng.normal(0, 0.003))
        for d in range(runs)
    ]
    words = [made.word(one, every[:n]).word for n, one in enumerate(every)]
    assert words[-1] == 'FAIL', words


@pytest.mark.parametrize('row, word, said', [
    ([180.0, -0.05, 0.1], 'PASS', ''),
    ([200.0, -0.05, 0.1], 'FAIL', 'at least 190 wanted'),
    ([150.0, -0.05, None], 'UNDECIDED', 'too good: a cache, another size?'),  # by a fifth
])  # fmt: skip
def test_a_reference_clears_and_condemns_where_there_is_nobody_else(row, word, said):
    found = made.word(made.node(case={'references': {'triad': row}}))
    assert found.word == word and said in found.why and 'nothing to compare' not in found.why


def test_a_cause_stands_with_its_evidence_behind_the_word():
    planted, _ = made.PLANTED['memory-channel']
    found = made.word(made.node(**planted), PEERS)
    assert found.word == 'UNDECIDED' and found.why.startswith('a memory module or channel is gone')
    assert 'memory channels: 7, not 8' in found.causes[0].evidence
    assert found.noticed == math.inf


def test_pages_elsewhere_and_another_memory_policy_are_named():
    before = {'policy': 'default', 'pages_sampled': 96, 'pages_misplaced': 0}

    def stream_of(node):
        return next(part['record'] for part in node['parts'] if part['name'] == 'stream')

    peers = [made.node(f'p{i}') for i in range(5)]
    for node in peers:
        stream_of(node).update(placement_before=before)
    node = made.node(shares={'rate': 0.8})
    stream_of(node).update(placement_before={**before, 'policy': 'interleave'})
    found = made.word(node, peers)
    assert 'memory policy: interleave, not default' in found.causes[0].evidence
    moved = made.node()
    stream_of(moved).update(placement_after={**before, 'pages_misplaced': 48})
    found = made.word(moved, peers)
    assert 'share of the pages elsewhere: 0.5' in found.causes[0].evidence
