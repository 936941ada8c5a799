"""Rank 0 of a big job: what it prints of CEA's published nodes, and what 8,192 ranks cost it."""

import re

import pytest
from cluster_growth import build_generator, made_up

# node6201 to node6204, 128 threads each: as published in the README of CEA's MPI_STREAM
CEA = (336870.222291, 336899.087888, 336828.994303, 336809.300049)


@pytest.fixture(scope='module')
def generator(tmp_path_factory):
    return build_generator(tmp_path_factory.mktemp('growth'))


def test_the_block_of_ceas_four_nodes_is_the_published_one(generator):
    _, text = made_up(generator, 4, 1, *CEA)
    block = text.partition('SUMMARY====')[2]
    for line in (
        'TRIAD_MAX          = 336899.087888\t\t MB/s on node6202',
        'TRIAD_MIN          = 336809.300049\t\t MB/s on node6204',
        'TRIAD_AVG          = 336851.901133\t\t MB/s',
        'TRIAD_AVG_per_proc = 2631.655478\t\t MB/s',
    ):
        assert f'\n{line}\n' in block
    # published as ...064, of rates that were not rounded
    assert float(re.search(r'TRIAD_STDD +=\s+([\d.]+)', block)[1]) == pytest.approx(
        40.422064, abs=2e-6
    )
    listed = text.partition('Triad Rate (MB/s):\n')[2].partition('\n\n')[0].splitlines()
    assert listed == [
        'node6202\t\t336899.087888',
        'node6201\t\t336870.222291',
        'node6203\t\t336828.994303',
        'node6204\t\t336809.300049',
    ]
    assert '\nSlowest node: node6204, Triad 336809.3 MB/s, ' in text


@pytest.mark.parametrize('ranks_per_node', [1, 4])
def test_8192_ranks_cost_rank_0_seconds_at_most_and_a_few_mb(generator, ranks_per_node):
    cost, text = made_up(generator, 8192, ranks_per_node)
    listed = text.partition('Triad Rate (MB/s):\n')[2].partition('\n\n')[0].splitlines()
    assert len(listed) == 8192 // ranks_per_node
    assert cost['seconds'] < 30 and cost['mib'] < 16


def test_the_cost_grows_gently(generator):
    """65,536 ranks cost memory in proportion, not with the square."""
    small, large = made_up(generator, 8192)[0], made_up(generator, 65536)[0]
    assert large['mib'] < 16 * small['mib'] and large['seconds'] < 60
