"""src/tiers by hand: the matrix of this machine, and what makes it INVALID."""

import pytest
from sides import side

SMALL = ['--array-mib', '8', '--rounds', '3']


@pytest.fixture
def tiers(build_program, run_program):
    """tiers(*options) -> (exit status, output, record)"""
    return lambda *options, changes=(): run_program(
        build_program('tiers', changes=changes), *options
    )


def test_each_pair_has_latency_bandwidths_and_the_place_of_its_pages(tiers):
    _, output, record = tiers(*SMALL, '--allow', 'array-too-small')
    for pair in record['pairs_of_domains']:
        assert len(pair['ns']) == 3
        assert len(pair['read_gbs']) == len(pair['triad_gbs']) == 15
        assert pair['placement_after']['policy'] == 'bind'
        assert pair['placement_after']['policy_domains'] == str(pair['memory'])
        assert pair['placement_after']['pages_on'] == {
            str(pair['memory']): pair['placement_after']['pages_sampled']
        }
        assert f'ns_{pair["cpus"]}_{pair["memory"]}' in record['metrics']
    assert 'not-validated' not in output and 'wrong-placement' not in output
    assert f'{"CPUs of 0":11}' in output and 'Triad, GB/s' in output


def test_arrays_that_a_cache_may_hold_are_undecided(tiers):
    status, output, _ = tiers(*SMALL)
    assert status == 1 and 'not-proven' in output


def test_rates_are_lower_bounds_where_the_kernel_moved_pages_meanwhile(tiers):
    counted = 'visit->migrated = migrated_pages() - visit->migrated;'
    moved = ('tiers/cell.c', counted, 'visit->migrated = 1000000;')
    _, output, record = tiers(*SMALL, '--allow', 'array-too-small', changes=[moved])
    assert 'pages-migrated: 1000000 pages while CPUs of 0 used memory 0' in output
    rates = [m for name, m in record['metrics'].items() if '_gbs_' in name]
    assert rates and all(rate['bound'] == side(record) for rate in rates)
    assert record['metrics']['ns_0_0']['bound'] == side(record, 'upper')
