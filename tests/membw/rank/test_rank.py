"""`membw rank` finds the slow nodes of synthetic fleets, and only these."""

import json
import shlex
import sqlite3
import time
from contextlib import closing

import fleet_generator as gen
import numpy as np
import pytest
from record_schema import COMMON, STREAM, check, check_all

from membw.cli import main
from membw.rank.fleet import judge
from membw.results.record import parse_record
from membw.statistics.populations import find_populations

# Figures are printed: `pytest -s tests/test_rank.py`.

MODULE = {
    'locator': 'DIMM', 'bank': None, 'channel': None, 'size_mib': 16384, 'rated_mts': 3200,
    'configured_mts': 3200, 'width_bits': 72,
}  # fmt: skip


def verdicts(fleet, **options):
    parsed = [parse_record(row, 'memory') for row in gen.records(fleet)]
    return {node.name: node for node in judge(parsed, **options).nodes}


def score(fleets, label):
    """Recall and false alarms a fleet over many seeds."""
    found = bad = alarms = 0
    for fleet in fleets:
        failed = {n for n, node in verdicts(fleet).items() if node.verdict == 'FAIL'}
        truth = {gen.name(n) for n in fleet.bad}
        found, bad, alarms = (
            found + len(failed & truth),
            bad + len(truth),
            alarms + len(failed - truth),
        )
    recall, rate = found / bad if bad else 1.0, alarms / len(fleets)
    print(f'\n{label}: recall {found}/{bad} = {recall:.4f}, '
          f'false alarms {alarms} in {len(fleets)} fleets = {rate:.4f} a fleet')  # fmt: skip
    return recall, rate


def with_slow(nodes, bad, share, seed, **options):
    fleet = gen.healthy(nodes, seed, **options)
    gen.slow(fleet, np.random.default_rng(seed).choice(nodes, bad, replace=False), share)
    return fleet


def three_sigma(fleet):
    """The rule of mean and standard deviation, for comparison: triad only."""
    triad = fleet.rates.sum(axis=1)[:, -1]
    return np.flatnonzero(triad < triad.mean() - 3 * triad.std(ddof=1))


@pytest.mark.parametrize(
    'nodes, bad, seeds', [(4, 1, 200), (20, 1, 100), (20, 2, 50), (20, 3, 50), (100, 12, 12)]
)
def test_nodes_that_are_5_percent_slow_are_found_and_3_sigma_misses_them(nodes, bad, seeds):
    fleets = [with_slow(nodes, bad, 0.05, seed) for seed in range(seeds)]
    recall, alarms = score(fleets, f'{nodes} nodes, {bad} at -5 %')
    by_sigma = sum(len(set(three_sigma(f)) & set(f.bad)) for f in fleets) / (bad * seeds)
    print(f'  3 sigma: recall {by_sigma:.4f}')
    assert recall >= (0.995 if nodes > 4 else 0.95)
    assert alarms <= 0.02
    assert by_sigma < 0.4 or (nodes, bad) == (20, 1)


@pytest.mark.parametrize('nodes, seeds', [(5, 150), (20, 150), (100, 50), (1000, 4)])
@pytest.mark.parametrize('noise', [0.005, 0.01])
def test_clean_fleets_stay_within_the_budget_of_false_alarms(nodes, seeds, noise):
    fleets = [gen.healthy(nodes, 1000 + seed, noise=noise) for seed in range(seeds)]
    _, alarms = score(fleets, f'{nodes} clean nodes, noise {noise:.1%}')
    assert alarms <= 0.02


def big_fleet(seed):
    """8,000 nodes x 4 ranks, ten bad ones of each kind."""
    fleet = gen.healthy(8000, seed, ranks=4)
    where = np.random.default_rng(seed).choice(8000, 40, replace=False)
    gen.channel_gone(fleet, where[:10], 16)
    gen.domain_slow(fleet, where[10:20], 0.15)
    gen.socket_slow(fleet, where[20:30], 0.10)
    gen.unstable(fleet, where[30:], 0.30)
    return fleet


def test_forty_bad_nodes_of_8000_are_found_and_their_kind_is_named():
    fleet = big_fleet(1)
    nodes = verdicts(fleet)
    failed = {n for n, node in nodes.items() if node.verdict == 'FAIL'}
    truth = {gen.name(n) for n in fleet.bad}
    named = [kind for n, kind in fleet.bad.items() if kind in nodes[gen.name(n)].pattern]
    kinds = {kind: named.count(kind) for kind in sorted(set(fleet.bad.values()))}
    print(f'\n8,000 nodes: recall {len(failed & truth)}/40, false alarms {len(failed - truth)}, '
          f'kind named of 10 each: {kinds}')  # fmt: skip
    assert failed >= truth
    assert len(failed - truth) <= 1
    assert len(named) >= 38


def test_ranking_8000_nodes_takes_seconds(tmp_path, capsys):
    file = gen.write(gen.records(gen.healthy(8000, 3)), tmp_path / 'fleet.jsonl')
    start = time.process_time()
    assert main(['rank', str(file), '--node-check', str(tmp_path / 'check.txt')]) == 0
    seconds = time.process_time() - start
    with capsys.disabled():
        size = file.stat().st_size / 1e6
        print(f'\n8,000 nodes x 4 kernels, {size:.0f} MB read: {seconds:.2f} s of CPU')
    assert seconds < 40
    assert len((tmp_path / 'check.txt').read_text().splitlines()) == 8000


@pytest.mark.parametrize('share', [0.5, 0.35])
def test_two_kits_of_dimms_are_two_populations_and_a_slow_node_of_either_is_found(share):
    found = alarms = split = 0
    for seed in range(30):
        fleet = gen.healthy(100, seed)
        gen.second_kit(fleet, np.arange(int(100 * share)), 0.05)
        # 5 % slow, a node of the fast kit would be as fast as those of the slow kit
        gen.slow(fleet, [0, 99], 0.09)
        result = judge([parse_record(row, 'memory') for row in gen.records(fleet)])
        failed = {n.name for n in result.nodes if n.verdict == 'FAIL'}
        truth = {gen.name(n) for n in fleet.bad}
        found, alarms = found + len(failed & truth), alarms + len(failed - truth)
        split += len(result.groups) == 2 and 'populations' in ''.join(result.warnings)
    print(f'\nmixed kits, {share:.0%} at -5 %, two nodes at -9 %: split {split}/30, '
          f'recall {found}/60, false alarms {alarms} in 30 fleets')  # fmt: skip
    assert split == 30
    assert found >= 58
    assert alarms <= 1


# --- what may be compared, and what is said about the rest ---------------------------------


def failed_of(result):
    return {node.name for node in result.nodes if node.verdict == 'FAIL'}


def small_rows(**options):
    return gen.records(gen.healthy(20, 7, **options))


def judge_rows(rows, **options):
    return judge([parse_record(row, 'memory') for row in check_all(rows)], **options)


def because(*reasons, allowed=False):
    return [{'reason': reason, 'detail': 'as told', 'allowed': allowed} for reason in reasons]


def on_cpu(cpu, affinity):
    return [{'thread': 0, 'cpu': cpu, 'affinity': affinity, 'moved': False}]


def test_an_invalid_record_is_never_ranked_and_moves_no_median():
    rows = small_rows()
    for row in rows[:9]:
        row |= {'verdict': 'INVALID', 'reasons': because('disturbed')}
        for kernel in row['kernels'].values():
            kernel['best_mbs'] /= 2
    result = judge_rows(rows)
    assert [len(group.nodes) for group in result.groups] == [11]
    assert {(n.verdict, n.reason) for n in result.nodes[:9]} == {('INVALID', 'disturbed')}
    assert not failed_of(result)


def test_a_reason_that_was_allowed_is_not_why_a_record_is_invalid():
    row = small_rows()[0]
    row['verdict'] = 'INVALID'
    row['reasons'] = because('array-too-small', allowed=True) + because('too-good')
    assert parse_record(check(row), 'memory').invalid == ('too-good',)


def test_an_expected_node_without_a_record_is_missing_by_name():
    result = judge_rows(small_rows(), expected=['n00001', 'n99999'])
    assert [n.name for n in result.nodes if n.verdict == 'MISSING'] == ['n99999']


def test_a_node_with_a_rank_too_few_is_missing_and_not_slow():
    rows = small_rows(ranks=4)
    del rows[5]
    nodes = {n.name: n for n in judge_rows(rows).nodes}
    assert (nodes['n00002'].verdict, nodes['n00002'].reason) == (
        'MISSING', '1 of 4 ranks did not report',
    )  # fmt: skip
    assert sum(n.verdict == 'PASS' for n in nodes.values()) == 19


def test_hardware_of_two_kinds_is_two_groups():
    rows = small_rows()
    for row in rows[:10]:
        row['facts']['cpu_model'] = 'Synthetic 7000'
        for kernel in row['kernels'].values():
            kernel['best_mbs'] *= 0.6
    result = judge_rows(rows)
    assert sorted(len(g.nodes) for g in result.groups) == [10, 10]
    assert not failed_of(result)


def test_a_node_that_reports_less_memory_is_still_compared_and_the_difference_is_named():
    fleet = gen.healthy(20, 7)
    gen.slow(fleet, [4], 0.125)
    fleet.facts = {n: {'dimms': [MODULE] * 16} for n in range(20)}
    fleet.facts[4] = {'mem_total_mib': 240 * 1024, 'dimms': [MODULE] * 15}
    nodes = {n.name: n for n in judge_rows(gen.records(fleet)).nodes}
    assert nodes['n00005'].verdict == 'FAIL'
    assert 'memory_gib 240, not 256' in nodes['n00005'].reason
    assert 'dimms 15 x 16384 MiB at 3200 MT/s, not 16 x' in nodes['n00005'].reason


def test_runs_with_another_pinning_are_not_compared():
    rows = small_rows()
    for row in rows[:3]:
        row['threads_on'] = on_cpu(0, '0-15')
        for kernel in row['kernels'].values():
            kernel['best_mbs'] *= 0.8
    for row in rows[3:]:
        row['threads_on'] = on_cpu(0, '0')
    assert not failed_of(judge_rows(rows))


def test_a_retest_replaces_the_result_before_it():
    rows = small_rows()
    slow = json.loads(json.dumps(rows[3]))
    for kernel in slow['kernels'].values():
        kernel['best_mbs'] *= 0.9
    retest = rows[3] | {'time': '2026-11-22T13:00:00Z', 'rank': 0, 'ranks': 1}
    rows[3] = slow
    before = [parse_record(row, 'all.jsonl') for row in rows]
    assert failed_of(judge(before)) == {'n00004'}
    assert not failed_of(judge([*before, parse_record(retest, 'retest.jsonl')]))


def test_low_but_not_sure_is_said_and_passes():
    fleet = gen.healthy(4, 1, noise=0.01)
    gen.slow(fleet, [0], 0.03)
    node = judge_rows(gen.records(fleet)).nodes[0]
    assert node.verdict == 'PASS'
    assert node.reason.startswith('low, but not sure (q=')


@pytest.mark.parametrize('ranks, plant, said', [
    (1, lambda f: gen.channel_gone(f, [5], 16), 'as with one of 16 channels gone'),
    (1, lambda f: gen.channel_gone(f, [5], 8), 'as with one of 8 channels gone'),
    (4, lambda f: gen.domain_slow(f, [5], 0.10), 'domain 1 slow'),
    (4, lambda f: gen.domain_slow(f, [5], 0.25), 'domain 1 slow, as with one of 4 channels gone'),
    (4, lambda f: gen.socket_slow(f, [5], 0.10), 'socket 1 slow'),
    (1, lambda f: gen.slow(f, [5], 0.30), 'everything slow alike'),
    (1, lambda f: gen.unstable(f, [5], 0.30), 'unstable'),
], ids=lambda v: v if isinstance(v, str) else '')  # fmt: skip
def test_the_pattern_of_a_fault_is_named(ranks, plant, said):
    fleet = gen.healthy(40, 11, ranks=ranks)
    plant(fleet)
    result = judge_rows(gen.records(fleet))
    assert failed_of(result) == {'n00006'}
    assert said in result.nodes[5].pattern


FOUR_DOMAINS = {  # two sockets of two domains, as numactl --hardware shows them
    '0': {'cpus': '0-3,16-19', 'distances': '10 12 32 32'},
    '1': {'cpus': '4-7,20-23', 'distances': '12 10 32 32'},
    '2': {'cpus': '8-11,24-27', 'distances': '32 32 10 12'},
    '3': {'cpus': '12-15,28-31', 'distances': '32 32 12 10'},
}


@pytest.mark.parametrize('cpu, domain', [(0, 0), (19, 0), (4, 1), (27, 2), (31, 3), (99, 0)])
def test_domain_and_sockets_of_a_rank_come_from_its_facts(cpu, domain):
    row = small_rows()[0]
    row['facts']['sockets'] = None
    row['facts']['numa'], row['threads_on'] = FOUR_DOMAINS, on_cpu(cpu, str(cpu))
    record = parse_record(check(row), 'memory')
    assert (record.domain, record.sockets) == (domain, 2)


def test_ranks_dealt_out_to_the_sockets_in_turn_are_put_in_the_order_of_their_domains():
    fleet = gen.healthy(40, 11, ranks=4)
    fleet.rates[5, [0, 2]] *= 0.9  # ranks 0 and 2, which run in domains 0 and 1
    rows = gen.records(fleet)
    for row in rows:
        cpu = (0, 8, 4, 12)[row['rank'] % 4]
        row['facts']['numa'], row['threads_on'] = FOUR_DOMAINS, on_cpu(cpu, str(cpu))
    result = judge_rows(rows)
    assert failed_of(result) == {'n00006'}
    assert 'socket 0 slow' in result.nodes[5].pattern


def test_the_facts_that_ranking_reads_are_in_the_schema_of_the_record():
    schema = COMMON['properties']
    facts = schema['facts']['required']
    assert {'cpu_model', 'numa_nodes', 'numa', 'mem_total_mib', 'dimms'} <= set(facts)
    assert {'host', 'rank', 'ranks', 'time', 'array_size', 'threads', 'threads_on'} <= set(
        schema | STREAM['properties']
    )
    assert {'compiler', 'flags'} <= set(schema['build']['required'])


# --- the statistics ------------------------------------------------------------------------


@pytest.mark.parametrize('nodes, noise', [(12, 0.005), (20, 0.005), (20, 0.01), (100, 0.01)])
def test_one_population_is_seldom_taken_for_two(nodes, noise):
    rng = np.random.default_rng(5)
    split = sum(find_populations(rng.normal(1, noise, nodes)).any() for _ in range(500))
    print(f'\n{nodes} nodes, noise {noise:.1%}: taken for two populations {split} of 500 times')
    assert split <= 40


# --- the command ---------------------------------------------------------------------------


@pytest.fixture
def fleet_file(tmp_path):
    fleet = gen.healthy(20, 7)
    gen.slow(fleet, [2], 0.05)
    return gen.write(gen.records(fleet), tmp_path / 'fleet.jsonl')


ONE_KERNEL = '{"schema": "membw-record-1", "host": "n1", "kernels": {"copy": {"best_mbs": %s}}}'

BAD_INPUT = [  # lines of a file | exit status | said on stderr
    ('not json', 2, ':1: not JSON'),
    ('', 2, 'is empty'),
    ('[1, 2]', 2, ":1: not a record: 'schema' is none of membw-record-1"),
    ('{"schema": "membw-record-1"}', 2, ":1: 'host' is missing"),
    ('{"schema": "membw-record-1", "host": "n1"}', 2, ":1: 'kernels' is missing"),
    ('{"schema": "membw-record-1", "host": " ", "kernels": {}}', 2, "'host' is empty"),
    ('{"schema": "membw-record-1", "host": "n1", "kernels": []}', 2, 'not as in the schema'),
    ('{"schema": "membw-record-1", "host": "n1", "kernels": {"copy": {}}}', 2, "'best_mbs'"),
    (ONE_KERNEL % '0', 2, "'copy' is 0 GB/s"),
    (ONE_KERNEL % '-1', 2, "'copy' is -0.001 GB/s"),
    (ONE_KERNEL % 'NaN', 2, "'copy' is nan GB/s"),
    (ONE_KERNEL % '"fast"', 2, 'not as in the schema'),
    (ONE_KERNEL % ('1' + '0' * 400), 2, ':1: not as in the schema'),
    (ONE_KERNEL % ('1' + '0' * 6000), 2, ':1: not as in the schema: an integer of thousands'),
    (ONE_KERNEL % '1, "times_s": [1.0, NaN, 1.0]', 2, "'times_s' holds what is no time"),
    (ONE_KERNEL % '1, "times_s": [1.0, "x"]', 2, ':1: not as in the schema'),
    (ONE_KERNEL % '1, "avg_s": NaN', 2, "'avg_s' or 'min_s' is no time"),
    (ONE_KERNEL.replace('{"copy": {"best_mbs": %s}}', '{}'), 2, "'kernels' is empty"),
    (ONE_KERNEL.replace('copy', 'c\\u001b[2J') % 1, 2, "no name of a kernel: 'c\\x1b[2J'"),
    (ONE_KERNEL.replace('"kernels"', '"threads": "many", "kernels"') % 1, 2, 'not as in the'),
    (ONE_KERNEL.replace('"kernels"', '"rank": Infinity, "kernels"') % 1, 2, 'not as in the'),
    (ONE_KERNEL.replace('"kernels"', '"time": "9999-12-31T23:59:59-14:00", "kernels"') % 1, 2,
     "'time' is out of range"),
    ('{"a":' * 50000, 2, ':1: not as in the schema: nested too deep'),
    ('[' * 100000, 2, ':1: not as in the schema: nested too deep'),
    ('{"schema": "membw-record-1", "host": "n1", "kernels": {"copy": {"best', 2, ':1: not JSON'),
    ('\x00\x01\x02', 2, ':1: not JSON'),
    ('{"session_info": {}, "runs": [{"testcases": 3}]}', 2, 'not a report'),
]  # fmt: skip


@pytest.mark.parametrize('text, status, said', BAD_INPUT)
def test_bad_input_is_named_by_file_and_line_and_never_a_traceback(
    tmp_path, capsys, text, status, said
):
    file = tmp_path / 'bad.jsonl'
    file.write_text(text)
    assert main(['rank', str(file)]) == status
    err = capsys.readouterr().err
    assert str(file) in err and said in err


def test_a_bad_line_does_not_take_the_others_along(fleet_file, capsys):
    lines = fleet_file.read_text().splitlines()
    lines[6] = lines[6][:200]
    fleet_file.write_text('\n'.join(lines))
    assert main(['rank', str(fleet_file)]) == 1
    out, err = capsys.readouterr()
    assert f'{fleet_file}:7: not JSON' in err
    assert '19 nodes: 18 PASS, 1 FAIL' in out


def test_alpha_says_how_sure_a_fail_has_to_be(tmp_path, capsys):
    fleet = gen.healthy(20, 7)
    gen.slow(fleet, [2], 0.03)
    file = gen.write(gen.records(fleet), tmp_path / 'fleet.jsonl')
    main(['rank', str(file), '--format', 'json'])
    q = 100 * min(node['q'] for node in json.loads(capsys.readouterr().out)['nodes'])
    assert main(['rank', str(file), '--alpha', f'{1.5 * q}']) == 1
    assert '1 FAIL' in capsys.readouterr().out
    assert main(['rank', str(file), '--alpha', f'{q / 1.5}']) == 1
    out = capsys.readouterr().out
    assert ' 0 FAIL' in out and '1 SUSPECT' in out, 'as sure as 1 %, whatever is asked of a FAIL'


ASKED_WRONGLY = [  # arguments | said on stderr
    (['no-such-file'], "cannot read 'no-such-file': No such file"),
    (['{file}', '--nodes', 'n[1-'], "no node list in 'n[1-'"),
    (['{file}', '--nodes', '/dev/null'], 'no node in the list'),
    (['{file}', '--nodes', 'n[0-99999999]'], 'more than 1000000 nodes'),
    (['{file}', '--nodes', '/tmp'], "no file '/tmp'"),
    (['{file}', '--nodes', 'lists/nodes.txtt'], "no file 'lists/nodes.txtt'"),
    (['{file}', '--limit', '-1'], "'-1' is not a whole number"),
    (['{file}', '--margin', '0'], 'not between 0 and 100'),
    (['{file}', '--margin', 'much'], 'much'),
    (['{file}', '--alpha', '0'], 'not between 0 and 100'),
    (['{file}', '--order', 'best'], 'best'),
    (['{file}', '--by', 'dot'], "no kernel 'dot'"),
    (['{file}', '--node-check', '/no/such/dir/f'], "cannot write '/no/such/dir/f'"),
]


@pytest.mark.parametrize('arguments, said', ASKED_WRONGLY)
def test_what_is_asked_wrongly_exits_2(fleet_file, capsys, arguments, said):
    assert main(['rank', *(a.format(file=fleet_file) for a in arguments)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize('expected', ['n[00001-00022]', 'a file'])
def test_the_node_check_file_has_one_line_for_each_node(fleet_file, tmp_path, expected):
    if expected == 'a file':
        expected = str(tmp_path / 'nodes')
        names = '\n'.join(f'n{i:05d}.site.org  # rack 1' for i in range(1, 23))
        (tmp_path / 'nodes').write_text(names)
    check = tmp_path / 'check.txt'
    assert main(['rank', str(fleet_file), '--nodes', expected, '--node-check', str(check)]) == 1
    lines = check.read_text().splitlines()
    assert len(lines) == 22
    assert lines[0] == 'n00001 PASS'
    assert lines[2].startswith('n00003 FAIL everything slow alike')
    assert [line.split()[1:] for line in lines[20:]] == [['MISSING', 'no', 'record']] * 2


def test_drain_commands_are_printed_for_failed_nodes_only(fleet_file, capsys):
    assert main(['rank', str(fleet_file), '--drain', '--nodes', 'n[00001-00030]']) == 1
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 1
    assert out[0].startswith('scontrol update NodeName=n00003 State=DRAIN Reason=')


HOSTILE = [
    'n3;reboot', 'n[001-128]', 'n1,n2', 'n[1-', 'ALL', 'a!b&c', '../../x', 'n1 PASS', '-n1',
    'n9\nn00006 PASS', '\x1b[2J', '\x00', '\ud800', 'n1`id`', '$(id)',
]  # fmt: skip


@pytest.mark.parametrize('host', HOSTILE, ids=ascii)
def test_a_host_that_is_no_name_of_one_node_is_a_bad_line_and_is_drained_nowhere(
    tmp_path, capsys, host
):
    rows = three_bad_nodes()
    rows[2]['host'] = host
    file, check = gen.write(rows, tmp_path / 'f.jsonl'), tmp_path / 'check.txt'
    assert main(['rank', str(file), '--drain', '--node-check', str(check)]) == 1
    out, err = capsys.readouterr()
    assert [shlex.split(line)[2] for line in out.splitlines()] == ['NodeName=n00004']
    assert f"{file}:3: 'host' is no name of a node: {ascii(host)}" in err
    assert len(check.read_text().splitlines()) == 19


def test_two_nodes_with_one_short_name_are_drained_by_their_full_names(tmp_path, capsys):
    rows = three_bad_nodes()
    rows[1]['host'], rows[2]['host'] = 'n00002.a.org', 'n00002.b.org'
    main(['rank', str(gen.write(rows, tmp_path / 'f.jsonl')), '--drain'])
    words = [shlex.split(line) for line in capsys.readouterr().out.splitlines()]
    assert {*words[0][2].removeprefix('NodeName=').split(',')} == {'n00002.b.org', 'n00004'}


def test_what_a_record_holds_reaches_neither_terminal_nor_node_check_as_control_characters(
    tmp_path, capsys
):
    rows = three_bad_nodes()
    for row in rows:
        row['facts']['cpu_model'] = 'CPU\x1b[2J\ud800'
    rows[9]['reasons'] = because('too-good\nn00004 PASS')
    file, check = gen.write(rows, tmp_path / 'f.jsonl'), tmp_path / 'check.txt'
    main(['rank', str(file), '--node-check', str(check)])
    assert '\x1b' not in capsys.readouterr().out
    assert [line for line in check.read_text().splitlines() if line.startswith('n00004 ')] == [
        line for line in check.read_text().splitlines() if line.startswith('n00004 FAIL')
    ]


@pytest.mark.parametrize('compact', [1, 20])
def test_compact_json_in_a_folder_is_judged_as_any_other(tmp_path, capsys, compact):
    rows = gen.records(with_slow(20, 1, 0.2, 7))
    rows.sort(key=lambda row: row['kernels']['triad']['best_mbs'])
    for number, row in enumerate(rows):
        separators = (',', ':') if number < compact else None
        text = json.dumps(row, separators=separators)
        (tmp_path / f'{number}.json').write_text(text)
    assert main(['rank', str(tmp_path)]) == 1
    assert '20 nodes: 19 PASS, 1 FAIL' in capsys.readouterr().out


def test_a_line_separator_within_a_string_cuts_no_record(tmp_path):
    rows = small_rows()
    rows[3]['facts']['governor'] = 'on\u2028demand\x85'
    file = tmp_path / 'f.jsonl'
    file.write_text(''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows))
    assert main(['rank', str(file)]) == 0


@pytest.mark.parametrize('order', ['slowest', 'fastest'])
def test_the_list_is_sorted_by_bandwidth(fleet_file, capsys, order):
    main(['rank', str(fleet_file), '--order', order, '--limit', '0'])
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line[:2] == 'n0']
    triad = [float(row[4]) for row in rows]
    assert len(triad) == 20
    assert triad == sorted(triad, reverse=order == 'fastest')


def test_the_summary_has_mpi_streams_names(fleet_file, capsys):
    main(['rank', str(fleet_file)])
    out = capsys.readouterr().out
    triad = [json.loads(line)['kernels']['triad']['best_mbs'] for line in fleet_file.open()]
    assert f'TRIAD_MIN          = {min(triad):f}\t\t MB/s on n00003\n' in out
    for name, value in (
        ('MAX', max(triad)), ('AVG', np.mean(triad)),
        ('AVG_per_proc', np.mean(triad) / gen.THREADS),
        ('STDD', np.std(triad, ddof=1)), ('MEDIAN', np.median(triad)),
    ):  # fmt: skip
        assert f'{"TRIAD_" + name:<18} = {value:f}' in out
    assert all(f'{k}_MAD' in out for k in ('COPY', 'SCALE', 'ADD', 'TRIAD'))


def test_json_says_the_same(fleet_file, capsys):
    assert main(['rank', str(fleet_file), '--json']) == 1
    data = json.loads(capsys.readouterr().out)
    failed = [node for node in data['nodes'] if node['verdict'] == 'FAIL']
    assert [node['node'] for node in failed] == ['n00003']
    assert failed[0]['ratio']['triad'] < 0.97 and failed[0]['q'] < 0.01


# --- ReFrame's results ---------------------------------------------------------------------


def report_of(rows, folder, keep_records):
    """A report as ReFrame 4.10 writes it, one test case a node, each naming its record."""
    cases = []
    for row in rows:
        record = folder / 'records' / f'{row["host"]}.json'
        record.parent.mkdir(exist_ok=True)
        if keep_records:
            record.write_text(json.dumps(row))
        figures = {
            f'sys:part:{k}': [v['best_mbs'] / 1000, 0, None, None, 'GB/s', 'pass']
            for k, v in row['kernels'].items()
        }
        cases.append({
            'name': 'stream %pinning=likwid', 'system': 'sys', 'partition': 'part',
            'environ': 'gcc-o2', 'pinning': 'likwid', 'fixture': False, 'result': 'pass',
            'fail_phase': None, 'fail_reason': None, 'perfvalues': figures,
            'record': str(record) if keep_records else '/elsewhere/gone.json',
            'node': row['host'], 'job_nodelist': [row['host']], 'verdict': row['verdict'],
            'reasons': ', '.join(r['reason'] for r in row['reasons']), 'threads': 64,
            'array_size': row['array_size'], 'job_completion_time': '2026-11-21T14:48:57+00:00',
        })  # fmt: skip
    cases.append({'name': 'stream_binary ~sys:part+gcc-o2', 'fixture': True, 'result': 'pass'})
    (folder / 'reports').mkdir()
    report = folder / 'reports' / 'run-1.json'
    data = {'session_info': {'data_version': '4.2'}, 'runs': [{'testcases': cases}]}
    report.write_text(json.dumps(data, indent=2))
    return report


def three_bad_nodes():
    fleet = gen.healthy(20, 7)
    gen.slow(fleet, [2, 3], 0.05)
    rows = gen.records(fleet)
    rows[9] |= {'verdict': 'INVALID', 'reasons': because('too-good')}
    return check_all(rows)


@pytest.mark.parametrize('keep_records', [True, False])
def test_a_reframe_report_is_judged_with_and_without_its_records(tmp_path, capsys, keep_records):
    report = report_of(three_bad_nodes(), tmp_path, keep_records)
    assert main(['rank', str(report), '--json']) == 1
    data = json.loads(capsys.readouterr().out)
    assert {n['node']: n['verdict'] for n in data['nodes'] if n['verdict'] != 'PASS'} == {
        'n00003': 'FAIL', 'n00004': 'FAIL', 'n00010': 'INVALID',
    }  # fmt: skip
    assert 'pinning likwid' in data['groups'][0]['label']
    assert data['problems'] == []


def test_a_folder_with_a_report_and_its_records_counts_each_run_once(tmp_path, capsys):
    report_of(three_bad_nodes(), tmp_path, True)
    (tmp_path / 'build.json').write_text('{"compiler": "gcc"}')
    (tmp_path / '.rfm_testcase.json').write_text('{\n "schema": "membw-record-1"\n}')
    assert main(['rank', str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert '20 nodes: 17 PASS, 2 FAIL, 1 INVALID' in out
    assert out.count('Group') == 1
    assert err == ''


def test_the_results_database_is_read_as_the_reports_are(tmp_path, capsys):
    report = report_of(three_bad_nodes(), tmp_path, True)
    with closing(sqlite3.connect(tmp_path / 'results.db')) as base, base:
        base.execute('CREATE TABLE sessions (uuid TEXT, json_blob TEXT)')
        base.execute('INSERT INTO sessions VALUES (?, ?)', ('1', report.read_text()))
    assert main(['rank', str(tmp_path / 'results.db')]) == 1
    assert '20 nodes: 17 PASS, 2 FAIL, 1 INVALID' in capsys.readouterr().out


def test_a_run_that_measured_nothing_is_named(tmp_path, capsys):
    rows = three_bad_nodes()
    report = report_of(rows, tmp_path, False)
    data = json.loads(report.read_text())
    data['runs'][0]['testcases'][5] |= {'perfvalues': None, 'result': 'fail'}
    report.write_text(json.dumps(data))
    assert main(['rank', str(report)]) == 1
    said = "'stream %pinning=likwid @sys:part+gcc-o2' measured nothing, and its record is gone"
    assert said in capsys.readouterr().err


def test_ranks_whose_file_has_no_end_of_line_or_blank_lines_are_read(fleet_file, capsys):
    fleet_file.write_text('\n\n' + fleet_file.read_text().rstrip().replace('\n', '\n\n'))
    assert main(['rank', str(fleet_file)]) == 1
    assert '20 nodes: 19 PASS, 1 FAIL' in capsys.readouterr().out
