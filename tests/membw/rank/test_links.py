"""Slow links between nodes, apart from slow nodes: what `membw rank` makes of planted ones."""

import json
import time

import link_fleet
import pytest
from fleet_generator import name

from membw.rank.fleet import judge
from membw.results.record import parse_record


def judged(cluster):
    return judge([parse_record(row, 'synthetic') for row in cluster.records()])


def slow_links(fleet):
    return {link.nodes for link in fleet.links.slow}


def slow_nodes(fleet):
    return {node.name for node in fleet.nodes if node.verdict != 'PASS'}


@pytest.mark.parametrize('seed', range(10))
def test_a_slow_link_and_a_slow_node_are_each_named_and_nothing_else(seed):
    """Two slow links, one of them at the slow node; 12 nodes, 66 links."""
    cluster = link_fleet.Cluster(12, seed)
    cluster.slow_node(3, 0.12)
    cluster.slow_link(3, 7, 0.15)
    cluster.slow_link(0, 1, 0.15, sizes=(4 << 20,))
    fleet = judged(cluster)
    assert slow_links(fleet) == {(name(3), name(7)), (name(0), name(1))}
    assert slow_nodes(fleet) == {name(3)}
    (of_bandwidth,) = [link for link in fleet.links.slow if link.nodes == (name(0), name(1))]
    assert of_bandwidth.reason.startswith('4 MiB take ')


def test_a_clean_cluster_raises_no_more_alarms_than_promised():
    """alpha is 1 % for the nodes and 1 % for the links; 100 clusters of 9 nodes."""
    fleets = [judged(link_fleet.Cluster(9, 1000 + seed)) for seed in range(100)]
    assert sum(bool(slow_links(fleet)) for fleet in fleets) <= 4
    assert sum(bool(slow_nodes(fleet)) for fleet in fleets) <= 4


@pytest.mark.parametrize('nodes, first', [(12, 4), (16, 8), (24, 4), (24, 12)])
def test_links_that_lead_through_another_switch_are_not_called_slow_nor_their_nodes(nodes, first):
    cluster = link_fleet.Cluster(nodes, 5)
    cluster.two_switches(first, 0.25)
    planted = {(name(nodes - 2), name(nodes - 1)), (name(0), name(nodes - 1))}
    for one, other in ((nodes - 2, nodes - 1), (0, nodes - 1)):
        cluster.slow_link(one, other, 0.15)
    cluster.slow_node(1, 0.15)
    fleet = judged(cluster)
    assert slow_links(fleet) == planted and slow_nodes(fleet) == {name(1)}
    parts = f'2 switches by the times of their links: n[00001-{first:05}]; n[{first + 1:05}-'
    (latency, bandwidth) = [text for text in fleet.warnings if 'switches' in text]
    assert latency.startswith(parts) and 'between them 0 B take +2' in latency


@pytest.mark.parametrize('nodes, few', [(24, 2), (24, 3), (48, 4), (12, 2)])
def test_a_few_nodes_behind_a_link_of_their_own_are_a_group_and_not_slow(nodes, few):
    """Fewer links than a population has. A slow link and a slow node are named beside it."""
    cluster = link_fleet.Cluster(nodes, 5)
    cluster.two_switches(nodes - few, 0.25)
    cluster.slow_link(0, 1, 0.15)
    cluster.slow_node(3, 0.15)
    fleet = judged(cluster)
    assert slow_nodes(fleet) == {name(3)} and slow_links(fleet) == {(name(0), name(1))}
    latency, bandwidth = [text for text in fleet.warnings if 'held against no node' in text]
    for text, size in ((latency, '0 B'), (bandwidth, '4 MiB')):
        assert f'n[{nodes - few + 1:05}-{nodes:05}]' in text and f'{size} take +2' in text


def test_two_groups_are_told_apart_and_a_link_may_cost_bandwidth_alone():
    cluster = link_fleet.Cluster(24, 6)
    for first, share in ((0, 0.25), (2, 0.5)):
        group = [first, first + 1]
        others = [node for node in range(24) if node not in group]
        for one in group:
            for other in others:
                cluster.slow_link(one, other, share, sizes=(4 << 20,))
    fleet = judged(cluster)
    assert not slow_nodes(fleet) and not slow_links(fleet)
    (text,) = [text for text in fleet.warnings if 'not with each other: n' in text
               and '4 MiB' in text]  # fmt: skip
    assert 'n[00001-00002] (4 MiB take +2' in text and 'n[00003-00004] (4 MiB take +5' in text


def test_slow_nodes_whose_own_link_is_as_slow_as_both_are_no_group():
    for seed in range(10):
        cluster = link_fleet.Cluster(24, seed)
        for node in (4, 9):
            cluster.slow_node(node, 0.12)
        fleet = judged(cluster)
        assert slow_nodes(fleet) == {name(4), name(9)} and not slow_links(fleet)
        assert not any('not with each other' in text for text in fleet.warnings)


@pytest.mark.parametrize('nodes', [6, 9])
def test_a_node_that_is_far_from_all_others_is_slow_and_behind_no_switch_of_its_own(nodes):
    cluster = link_fleet.Cluster(nodes, 5)
    cluster.slow_node(nodes - 1, 1.0)
    fleet = judged(cluster)
    assert slow_nodes(fleet) == {name(nodes - 1)} and not slow_links(fleet)
    assert not any('switches' in text for text in fleet.warnings)


def test_every_pair_of_192_nodes_is_judged_in_seconds():
    cluster = link_fleet.Cluster(192, 2)
    cluster.slow_link(11, 150, 0.2)
    cluster.slow_node(77, 0.1)
    records = [parse_record(row, 'synthetic') for row in cluster.records()]
    begun = time.process_time()
    fleet = judge(records)
    assert time.process_time() - begun < 60
    assert len(fleet.links.links) == 192 * 191 // 2
    assert slow_links(fleet) == {(name(11), name(150))} and slow_nodes(fleet) == {name(77)}


def test_of_four_nodes_it_says_that_links_cannot_be_told_from_nodes():
    cluster = link_fleet.Cluster(4, 1)
    cluster.slow_link(0, 1, 0.5)
    fleet = judged(cluster)
    assert not fleet.links.slow
    assert any('from its nodes from 5 on' in warning for warning in fleet.warnings)


def test_the_command_names_links_and_its_status_says_so(call, tmp_path):
    cluster = link_fleet.Cluster(8, 4)
    cluster.slow_link(2, 5, 0.3)
    cluster.spoil(0, 6, 'not-validated')
    file = tmp_path / 'all.jsonl'
    file.write_text(''.join(json.dumps(row) + '\n' for row in cluster.records()))
    done = call('membw', 'rank', file)
    assert done.returncode == 1
    *_, invalid, slow, counts = [
        line for line in done.stdout.splitlines() if ' - ' in line or 'links:' in line
    ]
    assert {invalid, slow} >= {f'{name(0)} - {name(6)}  INVALID not-validated'}
    assert any(text.startswith(f'{name(2)} - {name(5)}  FAIL ') for text in (invalid, slow))
    assert counts == '28 links: 26 PASS, 1 FAIL, 1 INVALID'
    found = json.loads(call('membw', 'rank', file, '--json').stdout)['links']
    assert {tuple(k['nodes']) for k in found if k['verdict'] == 'FAIL'} == {(name(2), name(5))}


def test_a_time_that_is_none_spoils_its_line_alone(call, tmp_path):
    cluster = link_fleet.Cluster(6, 4)
    records = cluster.records()
    records[0]['links'][0]['messages'][0]['median_us'] = 0
    file = tmp_path / 'all.jsonl'
    file.write_text(''.join(json.dumps(row) + '\n' for row in records))
    done = call('membw', 'rank', file)
    assert done.returncode == 1
    assert f"{file}:1: 'links' holds what is no time" in done.stderr
