"""STREAM, DGEMM and pairs of nodes as one protocol, within 2 %, 2 % and 4 % of the fleet."""

import copy
from datetime import timedelta

import acceptance_fleet
import link_fleet
import pytest
import yaml

from membw.accept import protocol as protocols
from membw.accept.missing_runs import options
from membw.cli import main
from membw.errors import MembwError

NODES = [f'n{i:03}' for i in range(1, 9)]
RUNS = {'system': 'local', 'preset': 'gcc-o2', 'pinning': 'likwid', 'array_size': 'auto',
        'repetitions': 3, 'statistic': 'median'}  # fmt: skip
LEAST = {'within': 0.02, 'better': 'higher'}
PROCEDURE = {
    'schema': 'membw-procedure-1',
    'title': 'nodes of tests',
    'parties': {'buyer': 'us', 'vendor': 'them'},
    'period': {'from': '2026-12-01', 'to': '2026-12-14'},
    'nodes': {'count': 8, 'names': 'n[001-008]'},
    'parts': {
        'stream': {'contract': {'triad': {**LEAST, 'unit': 'GB/s'}}, 'runs': RUNS},
        'dgemm': {
            'contract': {'k192': {**LEAST, 'unit': 'GFlop/s'}},
            'runs': {**RUNS, 'test': 'dgemm', 'pinning': 'openblas-openmp'},
        },
        'pairs': {
            'contract': {
                'latency': {'within': 0.04, 'unit': 'us', 'better': 'lower'},
                'bandwidth': {'within': 0.04, 'unit': 'GB/s', 'better': 'higher'},
            },
            'runs': {**RUNS, 'system': 'ulysses', 'test': 'cluster_pairs', 'pinning': 'none'},
        },
    },
    'rule': {'allowed_failures': 0},
    'retest': {'rounds': 0, 'repetitions': 1},
    'risk': {'bad_node': 0.03, 'good_node': 0.01, 'noise': 0.005},
    'signatures': [],
}


def dgemm(levels, seed):
    """Records of dgemm, of nodes that reach such shares of 440 GFlop/s."""
    rows = acceptance_fleet.rows(levels, 3, seed, noise=0.002, later=5)
    for row in rows:
        gflops = 440 / 300e3 * row.pop('kernels')['triad']['best_mbs']
        row |= {'schema': 'membw-record-2', 'program': 'dgemm'}
        row['metrics'] = {'k192': {'value': gflops, 'unit': 'GFlop/s', 'better': 'higher'}}
    return rows


def pairs(plant, runs=3, first=0):
    """Records of so many jobs of cluster_pairs; plant(cluster, number) makes something slow."""
    found = []
    for number in range(first, first + runs):
        cluster = link_fleet.Cluster(len(NODES), seed=number, noise=0.005)
        cluster.names = NODES
        plant(cluster, number)
        when = acceptance_fleet.BEGIN + timedelta(hours=10 + number)
        for record in cluster.records():
            record |= {'host': NODES[record['rank']], 'time': when.strftime('%Y-%m-%dT%H:%M:%SZ')}
            record['build'] |= {'flags': acceptance_fleet.FLAGS}
            found.append(record)
    return found


def nothing(cluster, number):
    """All links are alike."""


@pytest.fixture
def accept(tmp_path, capsys):
    """accept({node: level of DGEMM}): (exit status, what was printed)"""

    def run(levels, *options, links=None, **changes):
        agreed = {**copy.deepcopy(PROCEDURE), **changes}
        path = acceptance_fleet.write_signed(agreed, tmp_path / 'procedure.yaml')
        found = acceptance_fleet.rows(dict.fromkeys(NODES, 1.0), 3, seed=1, noise=0.002)
        found += dgemm({**dict.fromkeys(NODES, 1.0), **levels}, seed=2)
        found += pairs(nothing) if links is None else links
        records = acceptance_fleet.write(found, tmp_path / 'records.jsonl')
        status = main(['accept', path, '--results', str(records), *options])
        return status, capsys.readouterr().out

    return run


def test_a_fleet_whose_nodes_and_links_are_alike_is_accepted_by_all_parts(accept):
    status, said = accept({})
    assert status == 0, said
    assert said.splitlines()[-1] == (
        'Verdict: ACCEPTED: nodes of tests: dgemm ACCEPTED; nodes of tests: pairs ACCEPTED; '
        'nodes of tests: stream ACCEPTED'
    )
    assert 'pairs of nodes: 28 PASS' in said
    assert 'GFlop/s, within 2.0% of the fleet, whose median is 44' in said


def test_a_node_four_percent_below_the_others_in_one_part_refuses_the_machine(accept, tmp_path):
    report = tmp_path / 'nodes.json'
    status, said = accept({'n003': 0.96}, '--report', str(report))
    assert status == 1
    assert said.splitlines()[-1] == (
        'Verdict: REFUSED: nodes of tests: dgemm REFUSED; nodes of tests: pairs ACCEPTED; '
        'nodes of tests: stream ACCEPTED'
    )
    names = sorted(path.name for path in tmp_path.glob('nodes*.json'))
    assert names == ['nodes-dgemm.json', 'nodes-pairs.json', 'nodes-stream.json']
    (failed,) = [
        node['node']
        for node in yaml.safe_load((tmp_path / 'nodes-dgemm.json').read_text())['nodes']
        if node['status'] == 'FAILED'
    ]
    assert failed == 'n003'


def test_one_percent_below_is_within_the_fleet(accept):
    assert accept({'n003': 0.99})[0] == 0


def test_a_link_eight_percent_slower_is_the_one_that_fails(accept):
    slow = pairs(lambda cluster, _: cluster.slow_link(2, 5, 0.08))
    status, said = accept({}, links=slow)
    assert status == 1 and '1 of 28 pairs of nodes failed, 0 allowed\n' in said
    (line,) = [line for line in said.splitlines() if 'FAILED' in line and '~' in line]
    assert line.startswith('  n003~n006  FAILED  first: ') and 'latency 1.4' in line
    assert accept({}, links=pairs(lambda cluster, _: cluster.slow_link(2, 5, 0.02)))[0] == 0


def test_a_node_whose_links_are_all_slow_is_named(accept):
    said = accept({}, links=pairs(lambda cluster, _: cluster.slow_node(2, 0.08)))[1]
    assert '7 of 28 pairs of nodes failed, 0 allowed, n003 is in 7 of them' in said


def test_a_pair_that_may_not_be_believed_or_failed_is_measured_again_by_its_nodes_alone(accept):
    def disturb(cluster, number):
        if number == 1:
            cluster.spoil(0, 3, 'disturbed')
        if number < 3:
            cluster.slow_link(2, 5, 0.08)

    retest = {'retest': {'rounds': 1, 'repetitions': 2}}
    status, said = accept({}, links=pairs(disturb), **retest)
    assert status == 1 and 'INVALID: disturbed' in said
    assert 'n001~n004  OPEN' in said and '1 more valid runs needed (first)' in said
    orders = [line.strip() for line in said.splitlines() if line.strip().startswith('membw run')]
    command = "membw run --system ulysses -n '^cluster_pairs$' -p gcc-o2"
    assert [line.split('   #')[0] for line in orders] == [
        f"{command} --repeat=1 -J 'nodelist=n[001,004]'",
        f"{command} --repeat=2 -J 'nodelist=n[003,006]'",
    ]
    status, said = accept({}, links=pairs(disturb, runs=6), **retest)
    assert status == 0 and 'pairs of nodes: 27 PASS, 1 CLEARED' in said
    assert 'buyer: accepted with 1 pair of nodes 3.0% below contract' in said


def test_a_signature_is_of_all_parts(tmp_path):
    path = acceptance_fleet.write_signed(PROCEDURE, tmp_path / 'p.yaml')
    assert [part['part'] for part in protocols.load_parts(path)] == ['dgemm', 'pairs', 'stream']
    content = yaml.safe_load((tmp_path / 'p.yaml').read_text())
    content['parts']['dgemm']['contract']['k192']['within'] = 0.05
    (tmp_path / 'p.yaml').write_text(yaml.safe_dump(content))
    with pytest.raises(MembwError, match='is not what N. N'):
        protocols.load_parts(path)


@pytest.mark.parametrize('part, said', [
    ({'dgemm': {**PROCEDURE['parts']['dgemm'], 'runs': {**RUNS, 'test': 'dgemm'}}},
     "runs.pinning: 'likwid' is not one of mkl-intel"),
    ({'stream': {'runs': RUNS}}, 'contract'),
    ({'pairs': {**PROCEDURE['parts']['pairs'], 'contract': {'triad': 5.0}}},
     'contract.triad: of pairs, latency in us and bandwidth in GB/s alone are known'),
    ({}, "'parts' is missing"),
    ({'stream': 5}, "'parts' is missing"),
])  # fmt: skip
def test_what_is_wrong_in_a_part_is_said(tmp_path, part, said):
    path = tmp_path / 'p.yaml'
    path.write_text(yaml.safe_dump({**PROCEDURE, 'parts': part}))
    with pytest.raises(MembwError, match=said):
        protocols.load_parts(path)


def test_the_template_is_right_and_its_runs_can_be_made(tmp_path, call):
    path = tmp_path / 'p.yaml'
    path.write_text(protocols.template('node'))
    stream, dgemm_part, of_pairs = protocols.load_parts(path)
    assert of_pairs['within'] == {'latency': 0.04, 'bandwidth': 0.04}
    assert (len(of_pairs['names']), of_pairs['nodes']['count']) == (8128, 8128)
    assert stream['within'] == {'triad': 0.02} and dgemm_part['within']['k192'] == 0.02
    order = type('Order', (), {'node': 'n001', 'runs': 3})
    words = options(dgemm_part, order, local=False)
    assert words[:4] == ['-n', '^dgemm%', '-S', 'dgemm.libraries=mkl-intel']
    for part, name in ((stream, 'stream %pin'), (dgemm_part, 'dgemm %'), (of_pairs, 'cluster_p')):
        words = options(part, order, local=False)
        chosen = words[: words.index('-p')]
        done = call('reframe', '-c', 'reframe-checks', '-l', '--system', 'ulysses', *chosen)
        listed = [line for line in done.stdout.splitlines() if line.startswith('- ')]
        assert len(listed) == 1 and listed[0].startswith(f'- {name}'), done.stdout
