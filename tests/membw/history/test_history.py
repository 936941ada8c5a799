"""`membw history`: now compared with before, of nodes and of what all nodes did."""

import itertools
import json
import os
import re
import time
import tracemalloc
from statistics import median_low

import made_up_records as made
import numpy as np
import pytest

from membw.history.changes import find_changes
from membw.history.nights import read_nights
from membw.moments import night_of
from membw.results import table
from membw.results.newest import OLD_S
from membw.results.record import seconds_of
from membw.results.table import read_table
from membw.statistics.now_and_before import drift

NIGHTS = 50


def nights(share, nodes=12, noise=0.005, **fields):
    """Records; `share(node number, night)` of the usual rates."""
    rows = []
    for day in range(NIGHTS):
        slow = {n: share(n, day) for n in range(1, nodes + 1)}
        rows += made.fleet(nodes, days=(day,), noise=noise, slow=slow, seed=day, **fields)
    return rows


def changes(tmp_path, rows):
    _, past = read_nights([str(made.write(tmp_path / 'r.jsonl', rows))])
    return find_changes(past)[0]


def told(found):
    return [(c.nodes, c.night) for c in found]


def night(day):
    """The table's night of a day of made_up_records: its records are written at 20:26."""
    return str(np.datetime64('2026-05-28') + day)


EIGHT, STEADY = {'nodes': 8, 'noise': 0.003}, {'noise': 0.0005}
# the shares of the usual rates, of which fleet: the changes, the night since which it is back
SHARES = {
    # all eight nodes lose 1.5 % with another kernel: less than the margin of one node
    'the fleet by less than a margin': (
        lambda n, day: 0.985 if day >= 40 else 1, EIGHT, [(('fleet',), 40)], None),
    'nothing': (lambda n, day: 1, EIGHT, [], None),
    'all nodes': (lambda n, day: 0.95 if day >= 40 else 1, {}, [(('fleet',), 40)], None),
    'five bad nights of seven': (
        lambda n, day: 0.9 if n == 7 and day in {40, 41, 43, 45, 46} else 1, {}, [], None),
    'six of seven': (
        lambda n, day: 0.9 if n == 7 and day in {40, 41, 42, 43, 45, 46} else 1, {},
        [(('n007',), 40)], 44),
    'a node by 1.8 %': (lambda n, day: 0.982 if n == 7 and day >= 40 else 1, STEADY, [], None),
    'a node by 2.2 %': (
        lambda n, day: 0.978 if n == 7 and day >= 40 else 1, STEADY, [(('n007',), 40)], None),
    'all by 0.8 %': (lambda n, day: 0.992 if day >= 40 else 1, STEADY, [], None),
    'all by 1.2 %': (
        lambda n, day: 0.988 if day >= 40 else 1, STEADY, [(('fleet',), 40)], None),
    'taken back': (
        lambda n, day: 0.95 if n == 7 and 25 <= day < 35 else 1, {}, [(('n007',), 25)], 35),
    'bad nights of all nodes': (lambda n, day: 0.9 if day % 9 == 0 else 1, {}, [], None),
    'three nodes in one night': (
        lambda n, day: 0.95 if n < 4 and day >= 40 else 1, {},
        [(('n001', 'n002', 'n003'), 40)], None),
    'one node is compared with itself': (
        lambda n, day: 0.95 if day >= 40 else 1, {'nodes': 1}, [(('n001',), 40)], None),
    'one of two': (lambda n, day: 0.95 if n == 1 and day >= 40 else 1, {'nodes': 2},
                   [(('n001',), 40)], None),
}  # fmt: skip


@pytest.mark.parametrize('share, fleet, found, back', SHARES.values(), ids=SHARES)
def test_what_is_a_change_and_of_whom(tmp_path, share, fleet, found, back):
    every = changes(tmp_path, nights(share, **fleet))
    assert told(every) == [(nodes, night(day)) for nodes, day in found]
    assert all(change.back == (night(back) if back else '') for change in every)


@pytest.mark.parametrize('later, lines', [(3, 1), (4, 2)])
def test_nodes_that_change_within_three_days_are_one_line(tmp_path, later, lines):
    begins = {7: 30, 8: 30 + later}
    rows = nights(lambda n, day: 0.9 if day >= begins.get(n, NIGHTS) else 1.0)
    assert len(changes(tmp_path, rows)) == lines


@pytest.mark.parametrize('code, cause', [('d' * 64, "code_sha256 'ddd"), ('c' * 64, '')])
def test_the_change_of_what_was_run_with_is_named_and_a_history_goes_on(tmp_path, code, cause):
    rows = nights(lambda n, day: 0.95 if day >= 40 else 1.0)
    for row in rows:
        if row['time'] >= made.when(40):
            row['case']['code_sha256'] = code
            row['build'] = {**row['build'], 'compiler': 'gcc 13.1.0'}
    (change,) = changes(tmp_path, rows)
    assert cause in change.line and change.nodes == ('fleet',)
    assert bool(change.differs) == bool(cause)


FACTS = [{'microcode': '0x2'}, {'bios_version': 'B'}, {'kernel': '6.2.0'},
         {'board_name': 'B'}, {'dimms': [{'size_mib': 32_768}]}, {'memory_channels': 7},
         {'cpu_model': 'B'}]  # fmt: skip


def with_facts(rows, since, nodes=range(99), **facts):
    """The rows, with these facts from a day on, and others before."""
    usual = {'bios_version': 'A', 'board_name': 'A', 'dimms': [{'size_mib': 16_384}]}
    for row in rows:
        is_new = row['time'] >= made.when(since) and int(row['host'][1:]) in nodes
        row['facts'] = {**row['facts'], **usual, **(facts if is_new else {})}
    return rows


@pytest.mark.parametrize('facts', FACTS, ids=str)
def test_a_changed_fact_is_named_and_excuses_nothing(tmp_path, facts):
    rows = with_facts(nights(lambda n, day: 0.96 if day >= 40 else 1.0), 40, **facts)
    (change,) = changes(tmp_path, rows)
    assert told([change]) == [(('fleet',), night(40))] and change.is_red
    name = {'kernel': 'kernel_release'}.get(*facts, *facts)
    assert f"; {name} '" in change.line and "', before '" in change.line


def test_a_new_level_hides_no_node_that_falls_after_it(tmp_path):
    """28 nights of two levels have a wide scatter: the limit was 10 % and more for four weeks."""

    def share(n, day):
        return (0.9 if n == 2 and day >= 25 else 1.0) * (0.95 if n == 2 and day >= 43 else 1.0)

    rows = with_facts(nights(share, noise=0.003), 25, nodes=[2], memory_channels=7)
    found = changes(tmp_path, rows)
    assert told(found) == [(('n002',), night(25)), (('n002',), night(43))]
    assert found[1].limit == pytest.approx(0.02, abs=0.005) and found[1].nights == 17
    assert [[name for name, _, _ in one.differs] for one in found] == [['memory_channels'], []]


def test_of_a_time_more_is_worse(tmp_path):
    def lat(n, day):
        return made.metrics({'lat': 99.0 if n == 3 and day >= 40 else 90}, 'ns', 'lower')

    every = itertools.product(range(NIGHTS), range(1, 6))
    rows = [made.record(made.name(n), day, lat(n, day)) for day, n in every]
    (change,) = changes(tmp_path, rows)
    assert (change.nodes, change.is_worse) == (('n003',), True)


def test_bounds_and_invalid_figures_are_left_out(tmp_path):
    rows = nights(lambda n, day: 0.5 if n in (3, 7) and day >= 40 else 1.0)
    for row in rows:
        if row['host'] == 'n003':
            row['validation']['ok'] = row['time'] < made.when(40)
        if row['host'] == 'n007' and row['time'] >= made.when(40):
            for metric in row['metrics'].values():
                metric['bound'] = 'lower'
    assert not changes(tmp_path, rows)


@pytest.mark.parametrize('nodes, who', [(1, 'n001'), (5, 'n001'), (5, 'fleet')])
@pytest.mark.parametrize('fall, count', [(0.025, 0), (0.06, 1)])
def test_what_falls_slowly_is_found_once(tmp_path, nodes, who, fall, count):
    """No window of 28 nights shows 0.05 % a night."""

    def share(n, day):
        return 1 - fall * day / 110 * (who == 'fleet' or n == 1)

    rows = []
    for day in range(110):
        slow = {n: share(n, day) for n in range(1, nodes + 1)}
        rows += made.fleet(nodes, days=(day,), noise=0.003, slow=slow, seed=day)
    found = changes(tmp_path, rows)
    assert [(c.kind, c.nodes, c.is_red) for c in found] == [('DRIFT', (who,), True)] * count
    # of now: from the median of the first 28 nights to that of the newest
    lost = fall * (109 - 27) / 110
    assert all(abs(c.size + lost) < 0.004 and 'of the newest 28 1' in c.line for c in found)
    new_fact = with_facts(rows, 56, nodes=range(1, nodes + 1), memory_channels=7)
    assert len(changes(tmp_path, new_fact)) == count


@pytest.mark.parametrize('loss, is_found', [(0.029, False), (0.031, True)])
def test_a_drift_is_one_of_more_than_3_percent(loss, is_found):
    slope = np.linspace(100, 100 * (1 - loss), 400)  # too slow for a step
    values = np.concatenate([np.full(28, slope[0]), slope, np.full(28, slope[-1])])
    assert (drift(values, 0, 0.02) is not None) == is_found
    noisy = values * (1 + np.random.default_rng(1).normal(0, 0.03, len(values)))
    assert drift(noisy, 0, 0.02) is None  # a wide scatter is a wide limit


@pytest.fixture(scope='module')
def store(tmp_path_factory):
    rows = nights(lambda n, day: 0.95 if n == 7 and day >= 40 else 1.0)
    return str(made.write(tmp_path_factory.mktemp('store') / 'r.jsonl', rows))


@pytest.fixture
def history(membw):
    def call(*words):
        status, *said = membw('history', *words)
        return status, ''.join(said)

    return call


def test_the_line_and_json_have_the_numbers_to_recompute_it(store, history):
    status, text = history(store)
    assert status == 1
    line = text.splitlines()[1]
    assert line.startswith(f'{night(40)} n007 STEP -5.')
    assert (
        'median of the 28 nights before' in line
        and 'limit 2.0%: the largest of the margin, 2 robust' in line
    )
    assert text.endswith('Verdict: 1 change for the worse\n')
    data = json.loads(history(store, '--json')[1])
    assert data['findings'] == [{'code': 'worse', 'numbers': {'changes': 1}}]
    assert [one['code'] for one in data['changes']] == ['STEP']
    change = data['changes'][0]['numbers']
    assert change['nodes'] == ['n007'] and change['size'] == pytest.approx(-0.05, abs=0.005)
    assert change['night'] == night(40) and {*change['metrics']} == {*made.KERNELS}
    assert change['is_worse'] and not change['back']
    assert change['after'] == pytest.approx(0.95 * change['before'], rel=0.005)


@pytest.mark.parametrize('words, status, said', [
    (['--since', night(46)], 1, 'n007 STEP'), (['--node', 'n007'], 1, 'n007 STEP'),
    (['--node', 'n[001-003]'], 0, ''),
    (['--acknowledge', 'n007', '2026-01-01', 'x'], 2, "no change of 'n007' in the night"),
    (['--since', 'soon'], 2, "'soon' is neither 2026-11-21 nor 14d"),
    (['--node', 'n999'], 2, "no node 'n999' in the results"),
])  # fmt: skip
def test_changes_are_chosen_by_night_and_node(store, tmp_path, history, words, status, said):
    done, text = history(store, '--acknowledged', tmp_path / 'none', *words)
    assert done == status and said in text


def test_an_acknowledged_change_is_shown_and_no_alarm(store, tmp_path, history):
    file = ['--acknowledged', tmp_path / 'known.jsonl']
    known = ['--acknowledge', 'n007', night(40), 'DIMM ordered']
    status, text = history(store, *file, *known)
    assert status == 0 and 'acknowledged: DIMM ordered' in text
    assert history(store, *file)[0] == 0
    with open(file[1], 'a') as stream:
        stream.write('{}\n')
    status, text = history(store, *file)  # named, and the other one counts
    assert status == 1 and "known.jsonl:2: Object missing required field 'node'" in text
    assert 'acknowledged: DIMM ordered' in text


@pytest.mark.parametrize('off, status', [(-4, 1), (-3, 0), (3, 0), (4, 1)])
def test_what_was_acknowledged_is_a_change_of_three_days(store, tmp_path, history, off, status):
    known = tmp_path / 'known.jsonl'
    known.write_text(json.dumps({'node': 'n007', 'night': night(40 + off), 'reason': 'x'}))
    assert history(store, '--acknowledged', known)[0] == status


@pytest.mark.parametrize('kernels', [('triad',), ('triad', 'copy'), ('triad', 'add', 'copy')])
def test_the_least_and_the_most_that_would_have_shown_are_said(tmp_path, history, kernels):
    """Each metric scatters by twice as much as the one before."""
    rows = [
        made.record('n001', day, made.metrics(
            {name: 100 * (1 + 0.005 * 2**n * (day % 3 - 1)) for n, name in enumerate(kernels)}
        ))
        for day in range(30)
    ]  # fmt: skip
    _, text = history(made.write(tmp_path / 'r.jsonl', rows))
    said = dict.fromkeys([*kernels[:1], *kernels[-1:]])
    assert re.findall(r'\d% \((\w+),', text.splitlines()[-1]) == [*said], text


def test_fewer_than_14_nights_are_not_judged(tmp_path, history):
    for nights, status, said in (
        (13, 2, 'UNDECIDED: not judged yet: 13 of 14 nights'),
        (14, 0, ''),
    ):
        file = made.write(tmp_path / 'few.jsonl', made.fleet(3, days=range(nights)))
        done, text = history(file)
        assert done == status and f'Verdict: {said}' in text


# --- a year of a large fleet fits a login node: of an old record a few numbers are kept

MOST_BYTES = 500  # of an old record; its figures alone are 2,000, its JSON object 20,000


@pytest.mark.parametrize(
    'read',
    [read_nights, lambda paths: read_nights(paths, OLD_S), lambda paths: read_table(paths, OLD_S)],
    ids=['history', 'report', 'rank'],
)
def test_memory_grows_by_a_few_numbers_per_record(tmp_path, monkeypatch, read):
    monkeypatch.setattr(table, 'KEPT', 0)
    peaks = []
    for count in (20, 30, 90):  # the first loads what is loaded once
        file = str(made.write(tmp_path / 'r.jsonl', made.fleet(5, range(-count, 0))))
        tracemalloc.start()
        read([file])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[2] - peaks[1]) / (60 * 5) < MOST_BYTES


def test_the_numbers_are_those_of_the_records(tmp_path):
    """The lower median of a night, whatever the order; a metric that some do not have."""
    rows = made.fleet(3, (2, 0, 0.01, 0.02, 1))
    del rows[4]['metrics']['triad'], rows[0]['metrics']['copy']
    rows[1]['metrics']['copy']['bound'] = 'lower'
    rows[2]['metrics']['add'] |= {'value': None, 'low': None, 'high': None}  # not measured
    _, past = read_nights([str(made.write(tmp_path / 'r.jsonl', rows))])
    every = {series.figure.metric: series for series in past.series()}
    assert set(every) == set(made.KERNELS)
    for metric, series in every.items():
        for i, node in enumerate(series.nodes):
            for j, name in enumerate(series.nights):
                values = [
                    row['metrics'][metric]['value']
                    for row in rows
                    if row['host'] == node and metric in row['metrics']
                    and 'bound' not in row['metrics'][metric]
                    and row['metrics'][metric]['value'] is not None
                    and night_of(seconds_of(row['time'])) == name
                ]  # fmt: skip
                expected = median_low(values) if values else np.nan
                assert series.values[i, j] == pytest.approx(expected, nan_ok=True)


def test_files_of_older_nights_are_not_opened(tmp_path, membw):
    """Of years of nights: the oldest file would be a problem."""
    now, folder = int(time.time()), tmp_path / 'records'
    folder.mkdir()
    for age in (200, 100, 1):
        file = folder / f'{age}.jsonl'
        made.write(file, made.fleet(2, [(now - made.START) / made.DAY - age], seed=age))
        if age == 200:
            file.write_text('damaged')
        os.utime(file, (now - age * made.DAY,) * 2)
    found = json.loads(membw('history', tmp_path, '--last', '120d', '--json')[1])
    assert len(found['nights']) == 2 and not found['problems']
    assert json.loads(membw('history', tmp_path, '--json')[1])['problems']


def test_of_one_system_alone(tmp_path, history):
    """A night of vega reported the step of another system in the same checkout."""
    rows = nights(lambda n, day: 0.875 if n == 3 and day >= 40 else 1.0, nodes=4)
    rows += nights(lambda n, day: 1.0, nodes=4, case={'system': 'vega', 'partition': 'a'})
    file = made.write(tmp_path / 'r.jsonl', rows)
    assert history(file)[0] == history(file, '--system', 'thin')[0] == 1
    assert history(file, '--system', 'vega')[0] == 0
    assert history(file, '--system', 'nosuch')[0] == 2


@pytest.mark.parametrize('slow', [1, 4, 8])
def test_the_night_in_which_a_third_is_lost_is_no_quiet_one(tmp_path, history, slow):
    rows = nights(lambda n, day: 0.7 if n <= slow and day == NIGHTS - 1 else 1.0, nodes=8)
    status, text = history(made.write(tmp_path / 'r.jsonl', rows))
    assert status == 1 and f'{night(NIGHTS - 1)} ' in text and ' TONIGHT -' in text


def test_ranks_of_a_node_are_a_series_of_their_own(tmp_path, history):
    """Their sum; runs of one process on the same nodes are another series."""
    rows = nights(lambda n, day: 0.9 if n == 3 and day >= 40 else 1.0, nodes=4)
    ranks = [row | {'rank': rank, 'ranks': 2} for row in rows for rank in (0, 1)]
    (change,) = changes(tmp_path, ranks)
    assert (change.nodes, change.night) == (('n003',), night(40)) and change.is_red
    assert change.before == pytest.approx(2 * changes(tmp_path, rows)[0].before, rel=0.01)
    file = made.write(tmp_path / 'r.jsonl', ranks + nights(lambda n, day: 1.0, 4, 0.004))
    _, past = read_nights([str(file)])
    assert {of.figure.setting.ranks for of in past.series()} == {'2', ''}
    status, text = history(file)
    assert status == 1 and 'n003 STEP -9.' in text


def test_ranks_of_one_node_alone_each_are_no_less_a_series(tmp_path):
    rows = made.fleet(4, range(NIGHTS), slow={})
    for row in rows:
        row |= {'rank': int(row['host'][1:]) - 1, 'ranks': 4}
    _, past = read_nights([str(made.write(tmp_path / 'r.jsonl', rows))])
    assert [len(of.nodes) for of in past.series()] == [4] * len(made.KERNELS)
