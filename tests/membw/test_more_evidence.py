"""More that speaks against a node never makes its word better, in any mouth."""

import csv
import json
import re

import made_up_nodes as nodes
import made_up_records as made
import numpy as np
import pytest

from membw.words import GOOD, WORST_FIRST

MODULES = [{'size_mib': 32_768, 'type': 'DDR', 'configured_mts': 3200}] * 8


def run(node, day, share, facts=None, **fields):
    rng = np.random.default_rng(int(1000 * day) + int(node[1:]))
    noise = 1 + 0.004 * rng.normal()
    return made.record(node, day, made.stream(share=share * noise), facts=facts, **fields)


def severity(word):
    """PASS and VALID clear; what is red is as red as any other."""
    return 0 if word in GOOD else 1


def words_of(membw, file, node):
    """Of one node, by every mouth."""
    ranked = json.loads(membw('rank', file, '--json')[1])
    line = next(row for row in ranked['nodes'] if row['node'] == node)
    why = json.loads(membw('why', node, file, '--json')[1])['word']
    text = membw('export', file)[1]
    metrics = re.findall(rf'membw_verdict\{{.*node="{node}",verdict="(\w+)"', text)
    rows = csv.DictReader(membw('export', '--format', 'csv', file)[1].splitlines())
    newest = max((r['time'], -WORST_FIRST.index(r['verdict']), r['verdict']) for r in rows
                 if r['node'] == node)[2]  # fmt: skip
    found = {'rank': line['verdict'], 'why': why, 'openmetrics': metrics[0], 'csv': newest}
    assert len({*found.values()}) == 1, found
    assert line['findings'] or line['verdict'] in GOOD
    return line['verdict']


SEVEN = {'dimms': 7 * MODULES[:1], 'memory_channels': 7, 'mem_total_mib': 7 * 32_768}
WHOLE = {'dimms': MODULES, 'memory_channels': 8, 'mem_total_mib': 8 * 32_768}
PLANTED = {
    'a module is gone': (0.875, SEVEN, (1, 3, 4, 8, 13, 15)),  # of all 16 each is like its peers
    'powersave': (0.6, {**WHOLE, 'governor': 'powersave'}, (3, 4, 12)),
    'slow modules': (0.9, {**WHOLE, 'dimms': [{**MODULES[0], 'configured_mts': 2933}] * 8},
                     (3, 4, 12)),
    'no fact says why': (0.9, WHOLE, (1, 4, 7)),
}  # fmt: skip


@pytest.mark.parametrize('fault', PLANTED)
def test_a_fault_on_more_nodes_is_never_better(stored, membw, fault):
    """Of 16 nodes, each measured four times. 3 without a module were FAIL, 4 were PASS."""
    share, facts, counts = PLANTED[fault]
    for bad in counts:
        rows = [run(f'n{n:03d}', d / 100, share if n <= bad else 1, facts if n <= bad else WHOLE)
                for n in range(1, 17) for d in range(4)]  # fmt: skip
        assert words_of(membw, stored(rows), 'n001') not in GOOD, bad


@pytest.mark.parametrize('fields, share', [({'threads': 4}, 0.6), ({'threads': None}, 0.9)])
def test_fewer_threads_on_more_nodes_are_never_better(stored, membw, fields, share):
    """They are another setting: of 16 nodes one of them alone was VALID, and four were PASS."""
    for bad in (1, 2, 3, 4, 8, 13):
        rows = [run(f'n{n:03d}', d / 100, share if n <= bad else 1, **(fields if n <= bad else {}))
                for n in range(1, 17) for d in range(4)]  # fmt: skip
        assert words_of(membw, stored(rows), 'n016' if bad > 8 else 'n001') not in GOOD, bad


def test_a_study_of_threads_on_one_node_is_no_other_setting_of_its_peers(stored, membw):
    study = [run('n004', 0.1 + t / 100, t / 8, threads=t) for t in (1, 2, 4)]
    assert membw('rank', stored(study))[0] == membw('rank', stored(made.fleet(20) + study))[0] == 0


@pytest.mark.parametrize('share, good', [(0.5, 1), (0.93, 4)])
def test_more_bad_runs_in_a_night_are_never_better(stored, membw, share, good):
    """A node that was good once and then five times at half was PASS."""
    rows = made.fleet(20) + [run('n004', 0.1 + i / 100, 1.0) for i in range(good - 1)]
    last = 0
    for bad in range(1, 8):
        rows.append(run('n004', 0.2 + bad / 100, share))
        word = words_of(membw, stored(rows), 'n004')
        assert severity(word) >= max(last, 1), (bad, word)
        last = severity(word)
    assert word == 'FAIL'


def test_bad_nights_are_never_better_and_four_of_seven_are_enough(stored, membw):
    """Low in 30 of 30 nights was "low once"."""
    words = []
    for bad in range(8):
        rows = [row for day in range(7) for row in made.fleet(
            8, days=(day,), seed=day, slow={7: 0.87} if day >= 7 - bad else {})]  # fmt: skip
        words.append(words_of(membw, stored(rows), 'n007'))
    assert words == ['PASS'] + ['UNDECIDED'] * 3 + ['FAIL'] * 4


def test_what_was_low_before_its_last_seven_nights_is_forgotten(stored, membw):
    fleet = [row for day in range(9) for row in made.fleet(
        8, days=(day,), seed=day, slow={7: 0.87} if day in (0, 1, 2, 8) else {})]  # fmt: skip
    assert words_of(membw, stored(fleet), 'n007') == 'UNDECIDED'


def test_nights_convict_nobody_who_is_well_today_or_was_low_as_a_bound(stored, membw):
    fleet = [row for day in range(7) for row in made.fleet(
        8, days=(day,), seed=day, slow={7: 0.87} if day < 6 else {})]  # fmt: skip
    assert words_of(membw, stored(fleet), 'n007') == 'PASS'
    low = [row for day in range(7) for row in made.fleet(8, (day,), seed=day, slow={7: 0.87})]
    for row in low:
        if row['host'] == 'n007' and row['time'] < made.when(6):
            for metric in row['metrics'].values():
                metric['bound'] = 'lower'
    assert words_of(membw, stored(low), 'n007') == 'UNDECIDED'


@pytest.mark.parametrize('good', [3, 5, 10, 20])
def test_bad_runs_of_a_node_without_peers_are_never_better(stored, membw, good):
    """One to three runs at half behind ten good ones were PASS, and "now" was a good one."""
    rng = np.random.default_rng(1)
    rows = [nodes.node('n1', 0.3 * i, noise=lambda: 1 + 0.005 * rng.normal()) for i in range(good)]
    found = []
    for bad in range(4):
        rows.append(nodes.node('n1', 0.3 * (good + bad), shares={'rate': 0.5}))
        file = stored(rows)
        found.append(words_of(membw, file, 'n1'))
        (triad,) = [row for row in json.loads(membw('why', 'n1', file, '--json')[1])['figures']
                    if row['quantity'] == 'Triad']  # fmt: skip
        assert triad['figure'] == pytest.approx(90.0)
    assert found == ['UNDECIDED'] * 3 + ['FAIL']


def test_what_is_lost_or_set_voids_nobody_s_past(stored, membw):
    """A module is lost: three nights UNDECIDED, and then it was PASS for good."""
    rows = [nodes.node('n1', i, facts=WHOLE) for i in range(10)]
    for night in range(4):
        rows.append(nodes.node('n1', 10 + night, shares={'rate': 0.875}, facts=SEVEN))
        assert words_of(membw, stored(rows), 'n1') == ('FAIL' if night == 3 else 'UNDECIDED')


def test_a_healthy_fleet_that_is_measured_twice_and_slower_is_cleared(stored, membw):
    """4 % slower is what the hour does, to all."""
    again = made.fleet(20, days=(0.2,), seed=3, slow={n: 0.96 for n in range(1, 21)})
    ranked = json.loads(membw('rank', stored(made.fleet(20) + again), '--json')[1])
    assert {row['verdict'] for row in ranked['nodes']} == {'PASS'}


def test_a_control_that_fell_itself_clears_nobody(stored, membw):
    """By as much as the low node: it would be the hour."""
    rows = made.fleet(20, slow={4: 0.9})
    for i in (1, 2, 3):
        rows += [run(node, i / 100, 0.9) for node in ('n004', 'n005', 'n006', 'n007')]
    assert words_of(membw, stored(rows), 'n004') == 'FAIL'
    assert words_of(membw, stored(rows), 'n005') == 'UNDECIDED'


EPYC = {  # 8 channels of DDR4-3200 per socket
    'cpu_model': 'AMD EPYC 7763 64-Core Processor', 'sockets': 2, 'cores': 128,
    'cpu_id': {'vendor': 'AuthenticAMD', 'family': '25', 'model': '1', 'stepping': '1'},
    'dimms': [{'size_mib': 32_768, 'type': 'DDR', 'rated_mts': 3200, 'configured_mts': 3200}] * 12,
    'memory_channels': 12, 'numa_nodes': 2,
}  # fmt: skip


@pytest.mark.parametrize('case', [{}, {'references': {'triad': [180.0, -0.05, 0.1]}}])
def test_a_fleet_that_was_delivered_with_12_of_16_modules_passes_nowhere(
    stored, membw, tmp_path, case
):
    rows = [made.record(f'n{n:03d}', rows=made.stream(), facts=EPYC, case=case)
            for n in range(1, 17)]  # fmt: skip
    file = stored(rows)
    assert words_of(membw, file, 'n001') == 'UNDECIDED'
    assert '12 of 16 channels are populated' in membw('rank', file)[1]
    assert '12 of 16' in membw('report', file, '-o', tmp_path / 'r.html')[1] or (
        '12 of 16 channels are populated' in (tmp_path / 'r.html').read_text()
    )
    given = [{**row, 'peak': {'value': 307.2, 'unit': 'GB/s'}} for row in rows]  # it is known
    assert words_of(membw, stored(given), 'n001') == 'PASS'
