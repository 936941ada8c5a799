"""Each planted cause is named, with its evidence, and nothing else is; two at a time are both."""

import sys

import made_up_nodes as made
import numpy as np
import pytest
from places import ROOT

from membw.node import counters
from membw.node.quantities import FACTS, counted_of, facts_of
from membw.site.cpu_peak import facts_of as table_of

sys.path.insert(0, str(ROOT / 'tests/evidence'))
import causes as evidence  # noqa: E402

TABLE = table_of('causes')['causes']
# every fact that a battery may have; the last two need requested pages
NEWEST = made.word(made.node()).newest
READ = {*FACTS, *facts_of(NEWEST), *counted_of(NEWEST), *counters.EVERY}
READ |= {'huge_share', 'memory_policy'}
PEERS = [made.node(f'p{i}') for i in range(12)]


def judged(**planted):
    *before, last = made.measured(**planted)
    return made.word(last, [*PEERS, *before])


@pytest.mark.parametrize('name', made.PLANTED)
def test_a_planted_cause_is_named_with_its_evidence(name):
    planted, _ = made.PLANTED[name]
    found = judged(**planted)
    cause = name.split(',')[0]
    assert found.word == 'FAIL'
    assert {c.name for c in found.causes} - {cause} <= made.ALSO.get(cause, set())
    row = next(c for c in found.causes if c.name == cause)
    assert row.evidence and row.sentence in found.why


def test_two_causes_at_a_time_are_both_named_and_another_setting_is_one():
    planted = evidence.both(made.PLANTED['memory-channel'][0], made.PLANTED['corrected-errors'][0])
    assert {c.name for c in judged(**planted).causes} == {'memory-channel', 'corrected-errors'}
    (cause,) = judged(shares={'latency': 0.9}, facts={'clock_source': 'hpet'}).causes
    assert cause.name == 'settings' and 'clock source: hpet, not tsc' in ' '.join(cause.evidence)


def test_a_clock_of_the_uncore_that_is_as_that_of_the_peers_is_no_cause():
    shares = made.PLANTED['fabric-clock'][0]['shares']
    peers = [made.node(f'p{i}', facts_own={'uncore_max_khz': 2.4e6}) for i in range(5)]
    cores = {'l1': 0.8, 'l2': 0.8}  # do not stay as the pattern wants them: the fact is known
    both = ['fabric-clock', 'core-clock']
    for khz, more, names in ((2.4e6, {}, []), (1.2e6, {}, both[:1]), (1.2e6, cores, both)):
        node = made.node(shares=shares | more, facts_own={'uncore_max_khz': khz})
        assert [cause.name for cause in made.word(node, peers).causes] == names


@pytest.mark.parametrize('planted, why', [
    ({'shares': {'rate': 0.875}}, 'triad 157.5 GB/s'),
    # less memory without a loss of bandwidth makes no node slow
    ({'facts': {'mem_total_mib': 229_376}}, ''),
    # the speed is known, and as that of the peers
    ({'shares': {'rate': 0.75, 'latency': 0.9}}, 'triad 135 GB/s'),
    ({'shares': {'l1': 0.7}}, 'l1_latency'),
    # the clock of the cores moves L1 and L2 alike, that of the uncore neither of them
    ({'shares': {'l1': 0.83, 'l2': 0.9}}, 'l1_latency'),
    # a pattern that any low node may have: prefetchers, a busy sibling
    ({'shares': {'one': 0.5}}, 'triad_one_thread'),
])  # fmt: skip
def test_no_cause_is_named_without_its_evidence(planted, why):
    found = judged(**planted)
    assert found.causes == [] and found.why.startswith(why)
    assert found.word == ('FAIL' if why else 'PASS')


def test_of_a_busy_node_what_a_fact_confirms_is_named_and_a_pattern_is_not():
    busy = {name: {'other_share': 0.4} for name in made.METRICS}
    planted, _ = made.PLANTED['memory-channel']
    found = judged(**planted, busy=busy)
    assert found.word == 'UNDECIDED'
    assert {c.name for c in found.causes} == {'memory-channel', 'other-processes'}
    assert 'Triad ≥ 0.698 of the reference' in found.causes[0].evidence
    link = judged(**made.PLANTED['socket-link'][0], busy=busy)
    assert [c.name for c in link.causes] == ['other-processes']


def test_at_most_2_percent_of_made_up_nodes_under_noise_get_a_wrong_cause():
    counts = sum(evidence.table(1, [0.02]).values(), evidence.Counter())
    assert counts['wrong'] <= 0.02 * counts.total()
    assert counts['right'] > 0.5 * counts.total()
    assert evidence.of({}, (), np.random.default_rng(1), 0.01, 40)['right'] >= 38  # noise alone


def test_each_row_of_the_table_is_whole():
    names = {*made.GOOD, 'late', 'domain', 'cards'}
    for row in TABLE:
        assert {'cause', 'sentence', 'source', 'next'} <= row.keys()
        told = [*row.get('moves', {}), *row.get('any', []), *row.get('stays', [])]
        assert {*told, *row.get('alike', [])} <= names
        assert all(('is' in c) != ('above' in c) for c in row.get('facts', []))
        assert row.get('moves') or row.get('any') or row.get('disturbs')
        assert row.get('needs') in (None, 'fact', 'known')
        assert {condition['fact'] for condition in row.get('facts', [])} <= READ
    assert len({row['cause'] for row in TABLE}) == len(TABLE)
