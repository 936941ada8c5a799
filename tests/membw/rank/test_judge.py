"""Screen, then confirm: low nodes are measured again, and what stays low is FAIL."""

import re

import made_up_records as made
import numpy as np
import pytest
from made_up_records import changed

from membw.rank import units
from membw.rank.judge import judge
from membw.results.hostlist import fold
from membw.results.table import read_table
from membw.statistics.peers import noticed, peers_medians, robust_deviation


@pytest.fixture
def judged(tmp_path):
    """A function: what is judged of records of a first and of further measurements."""

    def figures(rows):
        return read_table([str(made.write(tmp_path / 'r.jsonl', rows))]).figures if rows else []

    def of(rows, further=(), **more):
        return judge(figures(rows), figures(further), **more)

    return of


def again(node, *shares, **fields):
    """Further measurements of a node: each share, or three of the only one."""
    shares = shares * 3 if len(shares) == 1 else shares
    return [
        made.record(node, 0.001 * i, made.stream(share=share), **fields)
        for i, share in enumerate(shares, 1)
    ]


def alike(nodes=20, share=None, **fields):
    """A fleet without noise; `share`: that n003 reaches."""
    rows = [made.record(made.name(n), **fields) for n in range(1, nodes + 1)]
    return rows if share is None else [*rows[:2], at(share), *rows[3:]]


def at(share, node='n003', **more):
    return made.record(node, rows=made.stream(share=share), **more)


def scattered(away, share, nodes=20):
    """A fleet whose robust deviation is 1.4826 times `away`; n003 has this share."""
    return [
        at(share if n == 3 else 1 + away * (n % 3 - 1), made.name(n)) for n in range(1, nodes + 1)
    ]


def bound(node, share, day=0.0, side='lower'):
    rows = made.stream(share=share)
    for row in rows.values():
        row['bound'] = side
    return made.record(node, day=day, rows=rows)


def lower(metric, rows, factor=0.95, node='n003'):
    for row in rows:
        if row['host'] == node:
            of = row['metrics'][metric]
            of |= {name: of[name] * factor for name in ('low', 'value', 'high')}
    return rows


def without(rows, **metrics):
    for row in rows:
        row['metrics'].pop(metrics.get(row['host']), None)
    return rows


def low(found):
    return [node for nodes in found.low.values() for node in nodes]


def words(found):
    return {v.node: v.verdict for v in found.verdicts if v.verdict != 'PASS'}


def reason_of(found):
    (verdict,) = [v for v in found.verdicts if v.reason]
    return verdict.reason


WRONG = {'validation': {'ok': False}}
FIVE, FOUR = made.fleet(20, slow={3: 0.95}), made.fleet(20, slow={3: 0.96})
LOW_BOUND = [*made.fleet(20), bound('n099', 0.5)]
FAIL, UNDECIDED = {'n003': 'FAIL'}, {'n003': 'UNDECIDED'}
OTHERS = made.fleet(20, slow={n: 0.7 for n in range(1, 21)}, case={'pinning': 'none'})
# the first measurement, the further ones, the words that are not PASS, the nodes that are low
RULES = {
    'half the margin': (alike(share=0.9851), [], {}, []),
    'beyond half the margin': (alike(share=0.9849), [], UNDECIDED, ['n003']),
    # 1.73 robust deviations (Student's t of 1/20, 19 degrees) of 1.48 %: 2.56 %
    'within L1 deviations': (scattered(0.01, 0.9745), [], {}, []),
    'beyond L1 deviations': (scattered(0.01, 0.9743), [], UNDECIDED, ['n003']),
    'a tenth too good': (alike(share=1.0999), [], {}, []),
    'more than a tenth': (alike(share=1.1001), [], UNDECIDED, []),
    '5 % of 5': (made.fleet(5, slow={3: 0.95}), again('n003', 0.95), FAIL, ['n003']),
    '5 % of 20': (FIVE, again('n003', 0.95), FAIL, ['n003']),
    '5 % of 100': (made.fleet(100, slow={3: 0.95}), again('n003', 0.95), FAIL, ['n003']),
    'low once': (FIVE, again('n003', 1.0), {}, ['n003']),
    'not measured again': (FIVE, [], UNDECIDED, ['n003']),
    'once again': (FIVE, again('n003', 0.95)[:1], UNDECIDED, ['n003']),
    'twice again': (FIVE, again('n003', 0.95, 0.95), UNDECIDED, ['n003']),
    'further ones are invalid': (FIVE, again('n003', 0.95, **WRONG), UNDECIDED, ['n003']),
    'one lacks a metric': (
        FIVE, [*without(again('n003', 0.95)[:1], n003='copy'), *again('n003', 0.95, 0.95)],
        UNDECIDED, ['n003']),
    'two lack a metric of their peers': (
        without(made.fleet(20), n004='triad', n005='copy'), [],
        {'n004': 'UNDECIDED', 'n005': 'UNDECIDED'}, []),
    'one kernel alone is slow': (lower('copy', made.fleet(20), 0.94), [], UNDECIDED, ['n003']),
    'and again': (lower('copy', made.fleet(20)), lower('copy', again('n003', 1)), FAIL, ['n003']),
    'then another one': (
        lower('copy', made.fleet(20)), lower('triad', again('n003', 1)), UNDECIDED, ['n003']),
    'a scatter of which two deviations are needed': (
        made.fleet(200, noise=0.04, slow={3: 0.8}), again('n003', 0.9), FAIL, None),
    'less than two': (
        made.fleet(200, noise=0.02, slow={3: 0.8}), again('n003', 0.963), {}, None),
    'a bound that is not low': ([*made.fleet(20), bound('n099', 0.99)], [], {}, []),
    'a low bound': (LOW_BOUND, [bound('n099', 0.5, 0.001 * i) for i in (1, 2, 3)],
                    {'n099': 'UNDECIDED'}, ['n099']),
    'a low bound, and figures': (LOW_BOUND, [bound('n099', 0.5, 0.001), *again('n099', 0.5)[1:]],
                                 {'n099': 'UNDECIDED'}, ['n099']),
    'a low bound, well again': (LOW_BOUND, again('n099', 1.0), {}, ['n099']),
    'nobody is left whose facts are compared': (
        [at(1.0, 'n001'), at(0.95, 'n002'), at(0.95, 'n003')], again('n001', *[0.8] * 4),
        {'n001': 'FAIL', 'n002': 'UNDECIDED', 'n003': 'UNDECIDED'}, ['n002', 'n003']),
    'one that may be worse': ([*made.fleet(20), bound('n099', 1.0, side='upper')], [],
                              {'n099': 'UNDECIDED'}, []),
    'measured again, and may be worse': (
        FIVE, [bound('n003', 1.0, 0.001 * i, 'upper') for i in (1, 2, 3)], UNDECIDED, ['n003']),
    'low, then bounds that are not': (
        FIVE, [bound('n003', 1.0, 0.001 * i) for i in (1, 2, 3)], {}, ['n003']),
    'bounds do not move the median': (
        [*made.fleet(20), *(bound(f'b{n}', 0.5) for n in range(30))], [],
        {f'b{n}': 'UNDECIDED' for n in range(30)}, [f'b{n}' for n in range(30)]),
    'bounds alone': ([bound(made.name(n), 1.0) for n in range(5)], [],
                     {made.name(n): 'VALID' for n in range(5)}, []),
    'what half of the nodes lack': (
        without(made.fleet(20), **{made.name(n): 'copy' for n in range(1, 11)}), [], {}, []),
    'another setting': ([*made.fleet(20), *OTHERS], [], {}, []),
    'no peers': ([made.record()], [], {'n1': 'VALID'}, []),
    'two nodes': ([made.record('n1'), at(0.6, 'n2')], again('n2', 0.6),
                  {'n1': 'UNDECIDED', 'n2': 'UNDECIDED'}, ['n2']),
    'three, low in most runs': (made.fleet(3, noise=0, slow={3: 0.95}),
                                again('n003', 0.95, 0.95, 0.975), UNDECIDED, None),
    'in one of three, not the last': (FIVE, again('n003', 0.95, 1, 1), {}, ['n003']),
    'in the last of three': (FIVE, again('n003', 1, 1, 0.95), UNDECIDED, ['n003']),
    'in most of three': (FIVE, again('n003', 0.95, 0.95, 1), UNDECIDED, ['n003']),
    'well, low once, well': (made.fleet(20), again('n003', 1, 0.95, 1), {}, []),
    'well, low twice, well': (made.fleet(20), again('n003', 0.95, 0.95, 1), UNDECIDED, []),
    'well, then low once': (made.fleet(20), again('n003', 0.95)[:1], UNDECIDED, []),
    'well, then low in three': (made.fleet(20), again('n003', 0.95), UNDECIDED, []),
    'well, then low in four': (made.fleet(20), again('n003', 0.95, 0.95, 0.95, 0.95), FAIL, []),
    'well, then within the limit': (made.fleet(20), again('n003', 0.97), {}, []),
    'well, then a low bound': (
        made.fleet(20), [bound('n003', 0.5, 0.001 * i) for i in (1, 2, 3)], {}, []),
    'low, then well once': (FIVE, again('n003', 1.0)[:1], UNDECIDED, ['n003']),
    'three nodes': (
        alike(3), [], dict.fromkeys(['n001', 'n002', 'n003'], 'UNDECIDED'), []),
    'four nodes': (alike(4), [], {}, []),
    'less than two of 3 %': (
        made.fleet(200, noise=0.04, slow={3: 0.8}), again('n003', 0.95), UNDECIDED, None),
    'low, then too good, then well': (FIVE, again('n003', 1.3, 1.3, 1.0), UNDECIDED, ['n003']),
    'low, then too good': (FIVE, again('n003', 1.3), UNDECIDED, ['n003']),
    'well, then too good': (made.fleet(20), again('n003', 1.3), UNDECIDED, []),
    'invalid ones are no peers': (
        [*made.fleet(10), *(at(0.3, f'x{n}', **WRONG) for n in range(9))], [],
        {f'x{n}': 'INVALID' for n in range(9)}, []),
}  # fmt: skip


@pytest.mark.parametrize('first, further, verdicts, are_low', RULES.values(), ids=RULES)
def test_low_is_measured_again_and_what_stays_low_fails(judged, first, further, verdicts, are_low):
    found = judged(first)
    assert are_low is None or sorted(low(found)) == sorted(are_low)
    assert not [n for nodes in found.controls.values() for n in nodes if n in words(found)]
    after = words(judged(first, further))
    if are_low is None:  # of a fleet that scatters
        after = {node: word for node, word in after.items() if node == 'n003'}
    assert after == verdicts


@pytest.mark.parametrize('peers, deviation, loss', [
    (3, 0.005, 0.0116),  # 1.886 (Student's t of 10 %, 2 degrees) x 0.5 % x sqrt(1 + 1.57 / 3)
    (3, 0.010, 0.0233), (19, 0.005, 0.00692), (1, 0.005, float('inf')),
])  # fmt: skip
def test_the_smallest_loss_that_peers_tell_from_chance(peers, deviation, loss):
    assert noticed(peers, deviation) == pytest.approx(loss, rel=0.01)


@pytest.mark.parametrize(
    'apart, word, least', [(0.012, 'PASS', 0.081), (0.013, 'UNDECIDED', 0.088)]
)
def test_a_pass_would_have_noticed_the_loss_of_a_channel_of_twelve(judged, apart, word, least):
    verdicts = judged([at(1 + apart * i, f'n{i}') for i in range(4)]).verdicts
    assert {(v.verdict, round(v.noticed, 3)) for v in verdicts if v.noticed < 1} == {(word, least)}


def test_the_loss_that_a_pass_would_have_shown_is_that_of_the_retest(judged):
    """Its limit, 3.25 %, and 0.86 deviations of 0.5 %: the first look alone sees 1.5 + 0.69 %."""
    assert {round(v.noticed, 5) for v in judged(alike()).verdicts} == {0.0368}


def test_what_is_seen_to_be_low_is_not_called_not_worse(judged):
    """Of eight in two halves neither is the right one."""
    found = judged([at(0.8 if i > 3 else 1.0, f'n{i}') for i in range(8)]).verdicts
    assert {v.verdict for v in found} == {'UNDECIDED'}
    begins = {v.node: v.reason.split(', but 7 peers cannot')[0] for v in found}
    low = {f'n{i}' for i in range(4, 8)}
    assert begins == {n: 'worse by 20.0%' if n in low else 'no loss seen' for n in begins}


@pytest.mark.parametrize('shares, word, said', [
    ((0.95, 0.96, 0.965), 'FAIL', 'low in 3 of 3, -3.5'),
    ((0.95, 0.96, 0.969), 'UNDECIDED', 'low in 2 of 3, median -4.0'),
    ((0.95, 0.97, 0.969), 'PASS', 'low in 1 of 3, median -3.1'),
    ((0.95, 0.95, 0.96, 0.975), 'FAIL', 'low in 3 of 4, -4.0'),
])  # fmt: skip
def test_each_of_three_further_measurements_is_beyond_the_margin(judged, shares, word, said):
    """By half a robust deviation: the margin alone cannot tell -2.9 from -3.1 %. Of four one may
    be within it."""
    found = judged(made.fleet(40, noise=0.001, slow={3: 0.95}), again('n003', *shares))
    assert words(found) == ({'n003': word} if word != 'PASS' else {}) and said in reason_of(found)


def test_the_reason_has_the_numbers_to_recompute_it(judged):
    slow = made.stream(share=0.96) | made.metrics({'triad': 171.0})
    rows = [*alike(63), made.record('n099', rows=slow)]
    found = judged(rows, again('n099', 0.952))
    assert reason_of(found) == (
        'triad 171 GB/s, median of its 63 peers 180: -5.00%; measured again 3 times, compared '
        'with that median: low in 3 of 3, -4.80% or worse, limit -3.25%: the larger of 3% '
        '+ d/2 and 2d, where the robust deviation d is 0.500%'
    )
    assert [v.again for v in found.verdicts if v.reason] == [pytest.approx(0.048)]
    lacking = judged(without(made.fleet(20), n004='triad'))
    assert reason_of(lacking) == 'no triad, which its peers have'


def test_of_a_time_more_is_worse(judged):
    rows = [
        made.record(made.name(n), rows=made.metrics({'lat': 90 + 0.1 * (n % 2)}, 'ns', 'lower'))
        for n in range(20)
    ]
    found = judged(lower('lat', rows, 99 / 90.1))
    assert low(found) == ['n003']
    assert 'lat 99 ns, median of its 19 peers 90: +10.00%' in reason_of(found)


# --- two groups ------------------------------------------------------------------------------


def kits(facts):
    """20 nodes, 8 of them 10 % slower; the slower ones have these facts."""
    slow = made.fleet(8, slow={n: 0.9 for n in range(1, 9)}, seed=2, facts=facts)
    return [*made.fleet(12), *(row | {'host': row['host'].replace('n', 's')} for row in slow)]


def kits_of(fast, slow):
    return [
        made.record(
            row['host'], rows=row['metrics'], facts=slow if row['host'][0] == 's' else fast
        )
        for row in kits({})
    ]


SLOWER = [f's00{n}' for n in range(1, 9)]


@pytest.mark.parametrize('share, word', [(None, 'UNDECIDED'), (0.9, 'UNDECIDED'), (1.0, None)])
def test_the_slower_of_two_groups_is_measured_again_and_no_node_of_it_fails(judged, share, word):
    assert low(judged(kits({}))) == SLOWER
    found = judged(kits({}), [row for node in SLOWER if share for row in again(node, share)])
    assert words(found) == (dict.fromkeys(SLOWER, word) if word else {})
    assert len({v.reason for v in found.verdicts if v.verdict == word}) == (word is not None)
    slower = r'8 of 20 nodes are slower, their median by (9\.[5-9]|10\.[0-4])%'
    assert re.match(slower, found.notes[0])
    assert 'two groups, and no fact says why' in found.notes[0]


@pytest.mark.parametrize('share, fast', [(0.88, 'UNDECIDED'), (0.91, 'PASS')])
def test_a_group_that_is_faster_by_a_tenth_may_have_read_a_cache(judged, share, fast):
    rows = [*alike(12), *(at(share, f's{n}') for n in range(8))]
    found = {v.node[0]: v.verdict for v in judged(rows).verdicts}
    assert found == {'n': fast, 's': 'UNDECIDED'}


@pytest.mark.parametrize('share, word', [
    (0.5, 'UNDECIDED'), (1.0, 'PASS'), (1.08, 'PASS'), (1.12, 'UNDECIDED'), (2.0, 'UNDECIDED'),
])  # fmt: skip
@pytest.mark.parametrize('name, value, unit, better', [
    ('memory_latency', 110.0, 'ns', 'lower'), ('l3_size', 262_144.0, 'KiB', 'higher'),
    ('copy', 165.6, 'GB/s', 'higher'),
])  # fmt: skip
def test_each_metric_may_be_too_good(judged, share, word, name, value, unit, better):
    """Half of the latency of its peers passed: the rates alone were looked at."""
    rows = alike(20)
    for row in rows:
        own = value * (share if better == 'higher' else 1 / share)
        own = own if row['host'] == rows[4]['host'] else value
        row['metrics'] = row['metrics'] | made.metrics({name: own}, unit, better)
    found = {v.node: v.verdict for v in judged(rows).verdicts}
    assert found.pop(rows[4]['host']) == word and {*found.values()} == {'PASS'}


@pytest.mark.parametrize('fast, slow, share, groups', [
    (7, 3, 0.9, 1), (6, 3, 0.9, 0),  # ten nodes
    (16, 4, 0.9, 0), (15, 5, 0.9, 1),  # a fifth
    (14, 6, 0.971, 0), (14, 6, 0.969, 1),  # a gap of the margin
])  # fmt: skip
def test_two_groups_from_both_sides_of_each_limit(judged, fast, slow, share, groups):
    rows = [*alike(fast), *(at(share, f's{n}') for n in range(slow))]
    assert len(judged(rows).notes) == groups


@pytest.mark.parametrize('fast, slow, groups', [
    (12, (0.9, 0.9, 0.9, 0.81, 0.5), 1), (12, (0.9, 0.9, 0.9, 0.79, 0.5), 0),
    (12, (0.9, 0.9, 0.9, 0.9, 0.5), 1),  # one lost more
    (12, (0.9, 0.85, 0.79, 0.79, 0.5), 0),  # the width counts from the first of them
    (7, (0.9, 0.9, 0.9, 0.79, 0.5), 0), (5, (0.9, 0.9, 0.9, 0.79, 0.5), 1),  # half
])  # fmt: skip
def test_nodes_that_lost_this_and_that_are_no_group(judged, fast, slow, groups):
    rows = [*alike(fast), *(at(share, f's{n}') for n, share in enumerate(slow))]
    assert len(judged(rows).notes) == groups


MODULES = [{'size_mib': size, 'type': 'DDR', 'configured_mts': mts}
           for size, mts in ((32_768, 3200), (65_536, 3200), (32_768, 2933))]  # fmt: skip


@pytest.mark.parametrize('fact', [
    {'memory_channels': 7}, {'governor': 'powersave'}, {'thp': 'never'}, {'microcode': '0x2'},
    {'kernel': '6.2.0'}, {'dimms': 7 * MODULES[:1]}, {'dimms': 8 * MODULES[2:]},
])  # fmt: skip
def test_what_was_lost_or_set_explains_the_slower_of_two_groups_and_clears_it_not(judged, fact):
    fast = {'dimms': 8 * MODULES[:1]}
    found = judged(
        kits_of(fast, fast | fact), [row for node in SLOWER for row in again(node, 0.9)]
    )
    assert words(found) == dict.fromkeys(SLOWER, 'FAIL')
    (name,) = fact
    assert ' two groups: ' in found.notes[0] and name.split('_')[0][:4] in found.notes[0]


@pytest.mark.parametrize('fact', [{'dimms': 8 * MODULES[1:2]}, {'sockets': 2}])
def test_what_was_bought_divides_a_fleet(judged, fact):
    fast = {'dimms': 8 * MODULES[:1], 'sockets': 1}
    assert words(judged(kits_of(fast, fast | fact))) == {}


def test_a_fifth_of_the_nodes_and_noise_are_no_group(judged):
    assert judged(made.fleet(10, slow={3: 0.9, 4: 0.9})).notes == []
    for noise, seed in [*((0.005, seed) for seed in range(20)), *((0.03, s) for s in range(20))]:
        assert judged(made.fleet(12, noise=noise, seed=seed)).notes == []


@pytest.mark.parametrize('channels', [7, None])
def test_a_fact_that_the_slow_node_alone_has_is_named_if_it_is_known(judged, channels):
    facts = {'memory_channels': channels}
    reason = reason_of(judged([*made.fleet(20), at(0.87, 'n099', facts=facts)]))
    assert reason.endswith("memory channels '7', not '8'") == (channels == 7)
    assert channels or 'memory channels' not in reason


def test_the_median_of_the_peers_is_without_the_node():
    assert peers_medians([1.0, 2.0, 10.0, 4.0]) == [4.0, 4.0, 2.0, 2.0]
    assert peers_medians([1.0, np.nan, 3.0]) == [3.0, 2.0, 1.0]


def test_the_robust_deviation_is_that_of_normal_noise_and_at_least_half_a_percent():
    noise = np.random.default_rng(1).normal(0, 0.02, 10_000).tolist()
    assert robust_deviation(noise) == pytest.approx(0.02, rel=0.03)
    assert robust_deviation([0.0] * 5) == 0.005


# --- what the healthy nodes beside it say ----------------------------------------------------


@pytest.mark.parametrize('node, others, side, verdicts', [
    (0.95, 0.97, None, {}), (0.93, 0.97, None, FAIL), (0.99, 1.04, None, FAIL),
    (0.95, 0.97, 'lower', FAIL),  # they were disturbed: n003 is compared with the first
    (0.95, None, None, FAIL),
])  # fmt: skip
def test_a_low_node_beside_healthy_ones(judged, node, others, side, verdicts):
    """The whole fleet is 3 % slower, or 4 % faster, when n003 is measured again."""
    (controls,) = judged(FOUR).controls.values()
    assert len(controls) == 3 and 'n003' not in controls
    beside = [row for control in controls if others for row in again(control, others)]
    for row in beside if side else ():
        changed(row, **{f'metrics__{name}__bound': side for name in row['metrics']})
    found = judged(FOUR, again('n003', node) + beside)
    assert words(found) == verdicts
    compared = fold(controls) if others and not side else 'that median'
    assert f'compared with {compared}: ' in reason_of(found)


def test_controls_that_fell_by_more_than_the_hour_are_none(judged):
    (controls,) = judged(FOUR).controls.values()
    beside = [row for control in controls for row in again(control, 0.93)]
    found = words(judged(FOUR, again('n003', 0.9) + beside))
    assert found == {'n003': 'FAIL', **dict.fromkeys(controls, 'UNDECIDED')}


def test_two_controls_are_no_hour_of_each_other(judged):
    (controls,) = judged(FOUR).controls.values()
    beside = [row for control in controls[:2] for row in again(control, 0.96)]
    found = words(judged(FOUR, again('n003', 0.95) + beside))
    assert found == dict.fromkeys(controls[:2], 'UNDECIDED')


# --- a rack is one line ----------------------------------------------------------------------


def racks(slow):
    """4 racks of 16; `slow`: nodes of r02 that are slow."""
    rows = made.fleet(64, slow=dict.fromkeys(range(17, 17 + slow), 0.95))
    for place, row in enumerate(rows):
        row['host'] = f'r{place // 16 + 1:02d}n{place % 16 + 1:02d}'
    return rows


@pytest.mark.parametrize('slow', [5, 11, 12, 16])
def test_a_slow_rack_is_one_reason_and_a_part_of_it_is_nodes(judged, slow):
    nodes = low(judged(racks(slow)))
    found = judged(racks(slow), [row for node in nodes for row in again(node, 0.95)])
    assert len(nodes) == slow
    assert words(found) == dict.fromkeys(nodes, 'FAIL' if slow < 12 else 'UNDECIDED')
    reasons = {v.reason for v in found.verdicts if v.reason}
    whole = rf'r02 is slow as a whole \(by name\): {slow} of its 16 nodes are low'
    assert slow < 12 or [*map(re.compile(whole).match, reasons)] != [None]


@pytest.mark.parametrize('nodes, word', [(3, 'FAIL'), (4, 'UNDECIDED')])
def test_four_nodes_are_a_unit(judged, nodes, word):
    slow = [f'r09n{n:02d}' for n in range(1, nodes + 1)]
    rows = [*alike(), *(at(0.95, node) for node in slow)]
    found = judged(rows, [row for node in slow for row in again(node, 0.95)])
    assert words(found) == dict.fromkeys(slow, word)


def test_more_than_half_of_the_nodes_are_no_unit(judged):
    """What is slow of them is not judged by what the rest has."""
    slow = [f'r09n{n:02d}' for n in range(1, 5)]
    rows = [*alike(4), at(1.0, 'r09n05'), *(at(0.95, node) for node in slow)]
    found = judged(rows, [row for node in slow for row in again(node, 0.95)])
    assert words(found) == dict.fromkeys(slow, 'FAIL')


def test_a_node_of_a_slow_rack_that_is_worse_by_more_than_the_margin_has_its_own_fail(judged):
    rows = racks(16)[:32] + made.fleet(96, seed=2)
    rows[17]['metrics'] = made.stream(share=0.85)
    further = [r for n in low(judged(rows)) for r in again(n, 0.85 if n == 'r02n02' else 0.95)]
    found = words(judged(rows, further))
    assert found.pop('r02n02') == 'FAIL' and set(found.values()) == {'UNDECIDED'}


def test_slurm_s_topology_says_which_nodes_belong_together(tmp_path, monkeypatch):
    leaf = '  RingName=s0 Level=0 LinkSpeed=1 Nodes=n[1-4]'
    root = 'SwitchName=s9 Level=1 LinkSpeed=1 Nodes=n[1-9] Switches=s0'
    (tmp_path / 'scontrol').write_text(f"#!/bin/sh\necho '{leaf}'\necho '{root}'\n")
    (tmp_path / 'scontrol').chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    found = units.units([f'n{i}.site.org' for i in range(1, 8)])
    how = "by Slurm's topology"
    assert [(u.name, u.how, len(u.nodes)) for u in found] == [
        ('ring s0', how, 4), ('switch s9', how, 7)
    ]  # fmt: skip
    assert {u.name for u in units.units(['r03c2n07', 'r03c1n01'])} == {'r03', 'r03c2', 'r03c1'}


def test_the_work_grows_as_the_nodes_do(judged, monkeypatch):
    """A median of all nodes for each node was a minute of 50,000."""
    from membw.statistics import peers

    known, looked_at = peers.known, []

    def counted(values):
        found = known(values)
        looked_at.append(len(found))
        return found

    monkeypatch.setattr(peers, 'known', counted)
    sums = []
    for count in (250, 500):
        looked_at.clear()
        judged(made.fleet(count))
        sums.append(sum(looked_at))
    assert sums[1] < 2.2 * sums[0]


@pytest.mark.parametrize('slow', [4, 8])
def test_what_a_slower_group_lost_is_compared_with_the_faster_one(tmp_path, membw, slow):
    """Half of the nodes are peers of both groups: their medians are of neither."""
    low = dict.fromkeys(range(1, slow + 1), 0.6)
    file = made.write(tmp_path / 'r.jsonl', made.fleet(16, slow=low))
    (said,) = [line for line in membw('rank', file)[1].splitlines() if line.startswith('note: ')]
    assert re.search(rf'{slow} of 16 nodes are slower, their median by (39|40)\.\d%', said), said
