"""`membw history` finds planted changes of synthetic histories, and only these."""

import os
import resource
import time

import history_generator as gen
import numpy as np
import pytest

from membw.history.changes import judge

# Figures are printed: `pytest -s tests/test_history.py`.
# MEMBW_HISTORY_FULL=1: the full size of the fleet, more seeds, every night (5 minutes, 1 GiB).
FULL = bool(os.environ.get('MEMBW_HISTORY_FULL'))
EVERYONE = slice(None)


def scopes(found):
    return {(c.scope, c.node, c.direction) for c in found}


def delays(make, who, night, most=5):
    """Nights until each of `who` is told, judged night after night; None: not within `most`."""
    found = {}
    series = make()
    for nights in range(1, most + 1):
        for c in judge([gen.truncated(series, night + nights)]):
            if c.node in who and c.direction == 'slower':
                found.setdefault(c.node, nights)
    return [found.get(n) for n in who]


@pytest.mark.parametrize('before', [30, 90])
def test_a_step_of_3_percent_in_noise_of_half_a_percent_is_found_within_5_nights(before):
    took = []
    for seed in range(100 if FULL else 4):
        series = gen.healthy(60, before + 5, seed)
        bad = np.random.default_rng(seed).choice(60, 3, replace=False)
        for node in bad:
            gen.step(series, node, before, 0.03)
        took += delays(lambda s=series: s, [series.nodes[n] for n in bad], before)
    found = [t for t in took if t]
    print(f'\n3 % after {before} nights: {len(found)} of {len(took)} found, delay '
          f'median {np.median(found):.0f}, worst {max(found)} nights')  # fmt: skip
    assert len(found) == len(took)
    assert np.median(found) <= 4


def test_a_step_of_a_node_without_a_fleet_is_found_within_5_nights():
    took = []
    for seed in range(100 if FULL else 10):
        series = gen.healthy(1, 65, seed)
        gen.step(series, 0, 60, 0.03)
        took += delays(lambda s=series: s, series.nodes, 60)
    found = [t for t in took if t]
    print(f'\none node alone: {len(found)} of {len(took)} found, worst {max(found)} nights')
    assert len(found) >= 0.97 * len(took)


def false_alarms(seeds, nodes, nights, every, **options):
    """Alarms that any night raised in clean fleets, each node and kernel counted once."""
    alarms, judged = 0, 0
    for seed in seeds:
        series = gen.healthy(nodes, nights, seed, **options)
        gen.outliers(series, seed)
        gen.week_off(series, nights // 2)
        told = set()
        for known in range(10, nights + 1, every):
            told |= {(c.node, c.kernel) for c in judge([gen.truncated(series, known)])}
            judged += 1
        alarms += len(told)
    years = len(seeds) * nodes * nights / 365
    print(f'\nclean, {options}: {alarms} false alarms in {len(seeds)} fleets of {nodes} nodes '
          f'x 4 kernels, judged {judged} times: {years:.0f} node-years with outliers')  # fmt: skip
    return alarms


@pytest.mark.parametrize('noise', [0.002, 0.005, 0.008])
def test_clean_fleets_raise_no_alarm_in_any_night(noise):
    seeds, every = (range(20), 1) if FULL else (range(1), 8)
    alarms = false_alarms(seeds, 150, 120, every, noise=noise, absent=0.02)
    assert alarms == 0


@pytest.mark.parametrize('kind', ['heavy', 'remembering'])
def test_noise_that_is_not_normal_hardly_raises_alarms_and_hides_no_step(kind):
    alarms = found = 0
    seeds = range(20 if FULL else 4)
    for seed in seeds:
        series = gen.healthy(200, 180, seed, noise=1e-6)
        gen.noisier(series, seed, kind)
        gen.step(series, 7, 120, 0.05)
        told = {c.node for c in judge([series])}
        found += series.nodes[7] in told
        alarms += len(told - {series.nodes[7]})
    years = len(seeds) * 200 * 180 / 365
    print(f'\n{kind} noise: 5 % found {found} of {len(seeds)}, {alarms} false alarms in '
          f'{years:.0f} node-years')  # fmt: skip
    assert found == len(seeds) and alarms <= years / 500


def test_one_off_outliers_and_a_missing_week_hide_no_step():
    found = truth = false = 0
    for seed in range(10):
        series = gen.healthy(100, 100, seed, absent=0.03)
        bad = np.random.default_rng(seed).choice(100, 5, replace=False)
        gen.outliers(series, seed, chance=0.02)
        for node in bad:
            gen.step(series, node, 54, 0.03)
        gen.week_off(series, 50)
        told = {c.node for c in judge([series])}
        names = {series.nodes[n] for n in bad}
        found, truth, false = found + len(told & names), truth + 5, false + len(told - names)
    print(f'\nwith outliers and a missing week: {found} of {truth}, {false} false alarms')
    assert found == truth and false == 0


def test_one_bad_night_is_no_change_and_three_are():
    for nights, told in ((1, False), (2, False), (3, True)):
        series = gen.healthy(40, 60, 3)
        series.rates[:, 5, 60 - nights :] *= 0.9
        assert bool(judge([series])) is told, nights


@pytest.mark.parametrize('share, nights', [(0.05, 100), (0.04, 60)])
def test_a_slow_drift_is_told_as_a_drift_of_its_whole_size(share, nights):
    shapes, sizes, first = [], [], []
    for seed in range(20 if FULL else 3):
        series = gen.healthy(40, 200, seed)
        gen.drift(series, 7, 60, nights, share)
        mine = [c for c in judge([series]) if c.kernel == 'triad']
        assert scopes(mine) == {('node', series.nodes[7], 'slower')}
        shapes += [c.shape for c in mine]
        sizes.append(sum(c.percent for c in mine))
        known = range(80, 201, 20)
        first.append(next(n - 60 for n in known if judge([gen.truncated(series, n)])))
    print(f'\ndrift of {share:.0%} in {nights} nights: {shapes.count("drift")} of {len(shapes)} '
          f'told as drift, size {np.median(sizes):.1f} %, first told after {np.median(first):.0f} '
          f'nights (worst {max(first)})')  # fmt: skip
    assert shapes.count('drift') >= 0.9 * len(shapes)
    assert np.median(sizes) == pytest.approx(-100 * share, abs=0.4)
    # told at the latest when it has gone its whole way
    assert max(first) <= nights + 10


def test_a_fleet_that_shifts_is_no_node():
    for seed in range(20):
        series = gen.healthy(50, 90, seed)
        gen.step(series, EVERYONE, 60, 0.03)
        assert scopes(judge([series])) == {('fleet', None, 'slower')}


def test_a_fleet_shift_is_found_within_5_nights():
    took = []
    for seed in range(20 if FULL else 4):
        series = gen.healthy(50, 65, seed, common=0.002)
        gen.step(series, EVERYONE, 60, 0.02)
        took += delays(lambda s=series: s, [None], 60)
    print(f'\nfleet shift of 2 %: delays {sorted(took, key=str)}')
    assert all(took)


def test_a_node_and_the_fleet_are_told_apart_in_one_history():
    series = gen.healthy(50, 120, 1)
    gen.step(series, EVERYONE, 40, 0.03)
    gen.step(series, 7, 43, 0.05)
    gen.step(series, 9, 90, 0.04)
    assert scopes(judge([series])) == {
        ('fleet', None, 'slower'),
        ('node', series.nodes[7], 'slower'),
        ('node', series.nodes[9], 'slower'),
    }


@pytest.mark.parametrize('field, value', [
    ('compiler', 'gcc 13.1.0'), ('kernel_release', '6.12.0'), ('microcode', '0x2b000661'),
    ('source_sha256', 'c' * 64), ('thp', 'never'), ('array_size', '400000000'),
])  # fmt: skip
def test_an_update_is_told_as_software_and_its_field_is_named(field, value):
    for seed in range(5):
        series = gen.healthy(50, 90, seed)
        gen.update(series, EVERYONE, 60, **{field: value})
        gen.step(series, EVERYONE, 60, 0.03)
        found = judge([series])
        assert scopes(found) == {('software', None, 'slower')}
        assert {c.field for c in found} == {field}
        assert found[0].fields[field] == [series.provenances[0][field], value]


@pytest.mark.parametrize('code, cause', [('e' * 64, 'kernel_release'), ('f' * 64, 'code_sha256')])
def test_another_spack_is_not_blamed_where_the_code_is_the_same(code, cause):
    """Its hash stands in the RPATH, so in the file's checksum; the kernel was new, too."""
    series = gen.healthy(50, 90, 3)
    series.provenances[0] |= {
        'code_sha256': 'e' * 64,
        'spack_hash': '6bbf',
        'binary_sha256': 'a' * 64,
    }
    gen.update(series, EVERYONE, 60, code_sha256=code, spack_hash='c9cc', binary_sha256='b' * 64,
               kernel_release='6.12.0')  # fmt: skip
    gen.step(series, EVERYONE, 60, 0.03)
    found = judge([series])
    assert {c.field for c in found} == {cause}
    assert {'spack_hash', 'binary_sha256'} <= set(found[0].fields)


def test_an_update_that_changes_nothing_is_not_told():
    series = gen.healthy(50, 90, 1)
    gen.update(series, EVERYONE, 60, compiler='gcc 13.1.0')
    assert judge([series]) == []


@pytest.mark.parametrize('first, second', [(25, 25), (10, 0), (40, 10)])
def test_an_update_node_by_node_is_told_once_and_no_node_is_blamed(first, second):
    """`first` nodes get it in night 40, `second` in night 60, the others keep what they have."""
    for seed in range(5):
        series = gen.healthy(50, 100, seed)
        for nodes, night in ((slice(0, first), 40), (slice(first, first + second), 60)):
            gen.step(series, nodes, night, 0.04)
            series.software[nodes, night:] = 1
        series.provenances.append({**gen.MADE, 'kernel_release': '6.12.0'})
        found = judge([series])
        assert scopes(found) == {('software', None, 'slower')}
        assert {c.field for c in found} == {'kernel_release'} and len(found) == 4
        assert np.median([c.percent for c in found]) == pytest.approx(-4, abs=0.4)


def test_software_of_one_node_alone_is_told_with_its_name():
    series = gen.healthy(50, 90, 2)
    gen.update(series, 7, 60, numa_balancing='1')
    series.provenances[0]['numa_balancing'] = '0'
    gen.step(series, 7, 60, 0.04)
    found = judge([series])
    assert scopes(found) == {('software', series.nodes[7], 'slower')}
    assert {c.field for c in found} == {'numa_balancing'}


def test_a_lost_dimm_is_the_nodes_own_fault():
    series = gen.healthy(50, 90, 2)
    series.provenances[0]['memory_gib'] = '256'
    gen.update(series, 7, 60, memory_gib='240')
    gen.step(series, 7, 60, 0.06)
    found = judge([series])
    assert scopes(found) == {('node', series.nodes[7], 'slower')}
    assert {c.field for c in found} == {'memory_gib'}


def test_most_of_the_fleet_slow_does_not_make_the_others_fast():
    series = gen.healthy(50, 90, 4)
    gen.step(series, slice(0, 30), 60, 0.04)
    assert {c.direction for c in judge([series])} == {'slower'}


def test_what_recovered_is_told_as_recovered():
    series = gen.healthy(50, 120, 5)
    gen.step(series, 7, 60, 0.05)
    gen.step(series, 7, 90, 1 - 1 / 0.95)
    found = [c for c in judge([series]) if c.kernel == 'triad']
    assert [(c.direction, c.recovered, c.back) for c in found] == [
        ('slower', True, series.night(90))
    ]


def test_a_year_of_nights_is_judged_in_a_minute_and_two_gib():
    """A tenth of it by default: 800 nodes in a tenth of the bounds."""
    nodes = 8000 if FULL else 800
    series = gen.healthy(nodes, 365, 11, absent=0.02)
    gen.outliers(series, 11, 0.005)
    gen.week_off(series, 200)
    bad = np.random.default_rng(1).choice(nodes, nodes // 100, replace=False)
    for i, node in enumerate(bad):
        gen.step(series, node, 30 + 4 * (i % 80), 0.03)
    gen.update(series, EVERYONE, 300, compiler='gcc 13.1.0')
    gen.step(series, EVERYONE, 300, -0.02)
    begun = time.process_time()
    found = judge([series])
    took = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    names = {series.nodes[n] for n in bad}
    told = {c.node for c in found if c.node}
    print(f'\n{nodes} nodes x 4 kernels x 365 nights: {took:.1f} s of CPU, peak {peak:.2f} GiB of '
          f'the whole process; {len(told & names)} of {len(names)} found, '
          f'{len(told - names)} false alarms')  # fmt: skip
    assert told == names
    assert [c.field for c in found if not c.node] == ['compiler'] * 4
    assert took < 60 and peak < 2
