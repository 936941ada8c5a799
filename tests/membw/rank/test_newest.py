"""Which runs are the newest measurement: no verdict depends on the hour, a node that did not
answer is MISSING."""

import random
import time
from datetime import datetime, timezone

import made_up_records as made
import pytest

from membw import moments
from membw.moments import night_of
from membw.rank.ranking import rank_files, rank_table
from membw.report.run import run_of_records
from membw.results.table import read_table


@pytest.fixture
def here(monkeypatch):
    """here('America/Los_Angeles'): the time zone of this site."""

    def zone(name):
        monkeypatch.setenv('TZ', name)
        time.tzset()
        moments._night_of.cache_clear()

    yield zone
    monkeypatch.undo()
    time.tzset()
    moments._night_of.cache_clear()


def seconds(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


def at(text, minutes=0.0):
    """Days after made.START."""
    return (seconds(text) + 60 * minutes - made.START) / made.DAY


def fleet_and_retests(begin, share, later=(20, 25, 30), nodes=20):
    """Records of a fleet whose n004 is 10 % low at first, and of its retests, minutes later."""
    first = made.fleet(nodes, days=(at(begin),), slow={4: 0.9})
    return first + [
        made.record('n004', at(begin, more), made.stream(share=share)) for more in later
    ]


def verdicts(tmp_path, rows):
    file = str(made.write(tmp_path / 'r.jsonl', rows))
    ranking = rank_files([file])  # it reads the newest measurement alone
    whole = rank_table(read_table([file]))
    assert [node[:3] for node in ranking.nodes] == [node[:3] for node in whole.nodes]
    return {n.name: n.verdict for n in ranking.nodes if n.verdict != 'PASS'}


BEGINS = [
    '2026-06-10 09:50',
    '2026-06-10 11:50',  # the retests are after noon of UTC
    '2026-06-10 18:50',  # noon in Los Angeles, in the night of Tokyo
    '2026-06-10 23:50',  # across midnight
    '2026-10-24 23:50',  # 02:50 becomes 02:00 in Berlin
    '2026-10-25 00:50',
]


@pytest.mark.parametrize('zone', ['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Asia/Tokyo'])
@pytest.mark.parametrize('begin', BEGINS)
@pytest.mark.parametrize('share, word', [(0.9, {'n004': 'FAIL'}), (1.0, {})])
def test_the_hour_changes_no_verdict(tmp_path, here, zone, begin, share, word):
    here(zone)
    assert verdicts(tmp_path, fleet_and_retests(begin, share)) == word


@pytest.mark.parametrize('later, absent', [
    ({}, ''), ({1: 0.5}, ''), ({1: 1, 2: 1, 3: 1}, 'n[004-008]'), ({1: 1, 8: 2}, 'n[001-007]'),
    ({n: 1 for n in range(1, 9)}, ''), ({n: 1 for n in range(1, 5)}, ''),
])  # fmt: skip
def test_a_night_of_a_few_says_who_was_absent(tmp_path, later, absent):
    """`later`: {node: days after the measurement of all eight}. Half of them are a measurement:
    then the rest is MISSING."""
    rows = made.fleet(8) + [made.record(f'n{n:03}', day) for n, day in later.items()]
    notes = rank_files([str(made.write(tmp_path / 'r.jsonl', rows))]).notes
    assert [note.rpartition(': ')[2] for note in notes if 'no run since' in note] == (
        [absent] if absent else []
    )


# minutes that the clock of n004 is ahead, what is said of it
@pytest.mark.parametrize('ahead, said', [
    (0, None), (1, None), (10, '8 minutes ahead'), (-10, '10 minutes behind'),
    (20 * 60, '1198 minutes ahead'), (2 * 1440, '2878 minutes ahead'),
    (-1440, '1440 minutes behind'),
])  # fmt: skip
@pytest.mark.parametrize('share, word', [(0.9, {'n004': 'FAIL'}), (1.0, {})])
def test_a_clock_that_is_off_changes_no_verdict_and_is_said(tmp_path, ahead, said, share, word):
    """By the clock of who submits, each job takes two minutes."""
    begin, rows = '2026-06-10 11:55', []
    for row, start in zip(fleet_and_retests(begin, share), [0] * 20 + [5, 10, 15], strict=True):
        own = ahead * (row['host'] == 'n004')
        row['time'] = made.when(at(begin, start + own))
        row['case'] |= {
            'submitted': made.when(at(begin, start)), 'taken': made.when(at(begin, start + 2)),
            'measurement': start // 5,
        }  # fmt: skip
        rows.append(row)
    assert verdicts(tmp_path, rows) == word
    problems = rank_files([str(tmp_path / 'r.jsonl')]).problems
    assert problems == ([f'n004: its clock is {said}'] if said else [])


def test_the_page_shows_first_measurement_and_retests_across_noon(tmp_path):
    rows = fleet_and_retests('2026-06-10 11:50', 0.9)
    run = run_of_records(read_table([str(made.write(tmp_path / 'r.jsonl', rows))]))
    assert len({row.node for row in run.rows}) == 20


def test_a_node_without_a_record_in_the_newest_measurement_is_missing(tmp_path, stored, membw):
    rows = made.fleet(20, days=(at('2026-10-28 20:00'),))
    rows += [r for r in made.fleet(20, days=(at('2026-11-10 20:00'),)) if r['host'] != 'n007']
    check = tmp_path / 'nodecheck.txt'
    words = ['rank', stored(rows), '--expected', 'n[001-020]', '--node-check', check]
    status, out, _ = membw(*words)
    line = 'n007 MISSING (no record since 2026-10-28)'
    assert status == 1 and line in out
    assert check.read_text().splitlines()[6] == line.replace('(', '').replace(')', '')


WEEKLY = made.fleet(10, days=(0,), case={'test': 'dgemm'})
NIGHTLY = [
    row for row in made.fleet(10, (0, 5)) if (row['host'], row['time']) != ('n007', made.when(5))
]
STORES = {
    'retests of the next day': (
        fleet_and_retests('2026-06-10 03:00', 0.9, later=(1200, 1800, 2000)), {'n004': 'FAIL'}),
    'within 12 hours': (made.fleet(10) + [made.record('n099', -0.49)], {}),
    'more than 12 hours before': (
        made.fleet(10) + [made.record('n099', -0.51)], {'n099': 'MISSING'}),
    'missing in one series, although another has it': (WEEKLY + NIGHTLY, {'n007': 'MISSING'}),
    'measured alone after the fleet': (made.fleet(10) + [made.record('n003', 3.0)], {}),
    'half of an even fleet is the fleet': (
        made.fleet(4, (1,))[:2] + made.fleet(4)[2:],
        {'n001': 'UNDECIDED', 'n002': 'UNDECIDED', 'n003': 'MISSING', 'n004': 'MISSING'}),
    'a test of more than 14 days ago': (
        made.fleet(10) + made.fleet(10, (-14.5,), slow={3: 0.5}, case={'test': 'dgemm'}), {}),
    # one node of a fleet each night, as a one-node check under Slurm does
    'in turn': ([made.record(made.name(n), n, made.stream()) for n in range(12)], {}),
}  # fmt: skip


@pytest.mark.parametrize('rows, words', STORES.values(), ids=STORES)
def test_what_belongs_to_the_newest_measurement(tmp_path, rows, words):
    assert verdicts(tmp_path, rows) == words


@pytest.mark.parametrize('zone, moment, night', [
    ('UTC', '2026-11-21 23:00', '2026-11-21'), ('UTC', '2026-11-22 03:00', '2026-11-21'),
    ('America/Los_Angeles', '2026-11-22 12:00', '2026-11-21'),  # 04:00
    ('Asia/Tokyo', '2026-11-21 12:00', '2026-11-21'),  # 21:00
    ('Europe/Berlin', '2026-10-25 10:59', '2026-10-24'),  # 11:59, after the change
    ('Europe/Berlin', '2026-10-25 11:00', '2026-10-25'),
])  # fmt: skip
def test_a_night_is_the_day_of_twelve_hours_before_at_this_site(here, zone, moment, night):
    here(zone)
    assert night_of(seconds(moment)) == night


@pytest.mark.parametrize('seed', range(6))
def test_what_is_not_read_changes_no_verdict(tmp_path, seed):
    """Two tests, on other days, with retests, losses and nodes that are not there."""
    chance, rows = random.Random(seed), []
    for test in ('stream', 'dgemm'):
        for day in sorted(chance.sample(range(30), 6)):
            for n in (n for n in range(1, 9) if chance.random() < 0.9):
                share = chance.gauss(1, 0.005) * (0.9 if n == 3 else 1)
                rows += [
                    made.record(made.name(n), day + more, made.stream(share=share), {'test': test})
                    for more in ((0, 0.6, 1.2, 1.8) if n == 3 and chance.random() < 0.5 else (0,))
                ]
                if chance.random() < 0.05:
                    lost = {'what': '', 'why': 'killed', 'died': True, 'node': made.name(n)}
                    rows[-1] |= {'metrics': {}, 'missing': [lost]}
    chance.shuffle(rows)
    verdicts(tmp_path, rows)
