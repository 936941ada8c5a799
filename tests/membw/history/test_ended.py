"""A series that ends, and one that begins: neither is silent; no change of a name hides a fall."""

import made_up_records as made
import pytest

from membw.history.changes import BEGAN, ENDED
from membw.history.nights import read_nights
from membw.history.verdict import judged
from membw.results.case import BELONGS

BEFORE = 30
BUILD = made.BUILD
# fields of Case, and what else may change in a night: what a record has from then on
CHANGED = {
    'system': {'case': {'system': 'thin2'}},
    'partition': {'case': {'partition': 'cpu2026'}},
    'test': {'case': {'test': 'stream2'}},
    'parameters': {'case': {'parameters': {'mode': 'b'}}},
    'preset': {'case': {'environ': 'gcc-o2-2026'}},
    'pinning': {'case': {'pinning': 'likwid'}},
    'node': {},  # below
    'program': {'program': 'loaded'},
    'language': {'language': 'fortran'},
    'kernels_set': {'kernels_set': 'own'},
    'element_bytes': {'element_bytes': 4},
    'mode': {'mode': 'b'},
    'precision': {'precision': 'single'},
    'ranks': {'ranks_on_node': 2},  # processes of a node, whose rates add up
    'threads': {'threads': 4},
    'array_size': {'array_size': 10_000_000, 'array_size_from': 'option'},
    'ntimes': {'ntimes': 20},
    'wait_policy': {'runtime': {'wait_policy': 'passive'}},
    'pages': {'pages': {'requested': 'thp', 'page_kib': 4, 'huge_mib': 0}},
    'shapes': {'shapes': {'square': {'m': 4096, 'n': 4096, 'k': 4096}}},
    'build': {'case': {'code_sha256': 'd' * 64, 'environ': ''},
              'build': {**BUILD, 'preset': '', 'code_sha256': 'd' * 64}},
    'cpu_model': {'facts': {'cpu_model': 'Synthetic Processor (IBRS)'}},
    'card_model': {'device': {'name': 'B', 'index': 0, 'driver': '2'}},
    'compiler': {'build': {**BUILD, 'compiler': 'gcc 14.2.0'}},
    'flags': {'build': {**BUILD, 'flags': '-O3'}},
    'kernel': {'facts': {'kernel': '6.12.0'}},
    'microcode': {'facts': {'microcode': '0x2'}},
    'memory_channels': {'facts': {'memory_channels': 7}},
    'governor': {'facts': {'governor': 'powersave'}},
    'thp': {'facts': {'thp': 'never'}},
}  # fmt: skip


def past(tmp_path, rows):
    return judged(read_nights([str(made.write(tmp_path / 'r.jsonl', rows))])[1])


def series(found):
    return [one for one in found.changes if one.kind in (BEGAN, ENDED)]


def lines(found):
    return [one.line for one in found.changes]


def fleet(nodes, begin, end, slow=(), **fields):
    return [
        row
        for day in range(begin, end)
        for row in made.fleet(nodes, (day,), seed=day, slow=slow, **fields)
    ]


def ranks(row):
    """The records of two processes of one node, half of its figures each."""
    metrics = {
        name: m | {end: m[end] / 2 for end in ('value', 'low', 'high')}
        for name, m in row['metrics'].items()
    }
    return [{**row, 'metrics': metrics, 'rank': rank, 'ranks': 2} for rank in (0, 1)]


def test_each_field_of_a_case_is_tried():
    assert {*BELONGS} <= {*CHANGED}


@pytest.mark.parametrize('after', [1, 20])
@pytest.mark.parametrize('nodes', [1, 4])
@pytest.mark.parametrize('field', [name for name, fields in CHANGED.items() if fields])
def test_a_fall_on_the_night_of_another_change_is_red(tmp_path, field, nodes, after):
    rows = fleet(nodes, 0, BEFORE)
    since = fleet(nodes, BEFORE, BEFORE + after, {1: 0.85}, **CHANGED[field])
    rows += [rank for row in since for rank in ranks(row)] if field == 'ranks' else since
    found = past(tmp_path, rows)
    assert found.status == 1 and any(one.nodes == ('n001',) for one in found.red), lines(found)
    told = [one for one in series(found) if one.nodes == ('n001',)]
    for one in told:
        assert field in {name for name, _, _ in one.differs} and f"{field} '" in one.line
        assert one.size == pytest.approx(-0.15, abs=0.02)
    assert told or any(one.kind in ('STEP', 'TONIGHT') for one in found.red)


@pytest.mark.parametrize('after, status', [(1, 1), (13, 1), (14, 0)])
def test_what_began_is_undecided_until_it_can_be_judged(tmp_path, after, status):
    rows = fleet(4, 0, BEFORE) + fleet(4, BEFORE, BEFORE + after, case={'partition': 'b'})
    found = past(tmp_path, rows)
    (one,) = series(found)
    assert found.status == status and one.nodes == ('n001', 'n002', 'n003', 'n004')
    assert found.since('2027-01-01').status == status  # it is open, whenever it began
    assert one.differs == (('partition', 'node', 'b'),) and one.since == after
    said = 'UNDECIDED: of 4 nodes a series ended or began' if status else 'nothing got worse'
    assert found.verdict.text.startswith(said)
    line = f'n[001-004] NEW (thin:b stream gcc-o2 omp): {after} of 14 nights, not judged yet'
    assert (f'2026-06-27 {line}' in lines(found)) == bool(status)


def test_levels_are_not_compared_where_units_differ(tmp_path):
    rows, seconds = fleet(1, 0, BEFORE), made.metrics({'triad': 90}, 's', 'lower')
    for day in range(BEFORE, BEFORE + 3):
        rows.append(made.record('n001', day, seconds, {'partition': 'b'}, headline='triad'))
    found = past(tmp_path, rows)
    assert (found.status, series(found)) == (2, [])  # it ended when nothing came for a week


@pytest.mark.parametrize('days, status', [(3, 0), (7, 0), (8, 1), (200, 1)])
def test_a_node_that_reports_no_more_is_named(tmp_path, days, status):
    rows = fleet(4, 0, BEFORE) + [
        row for row in fleet(4, BEFORE, BEFORE + days) if row['host'] != 'n002'
    ]
    found = past(tmp_path, rows)
    assert found.status == status
    assert [(one.nodes, one.kind) for one in series(found)] == [(('n002',), 'ENDED')] * status
    assert all('n002 ENDED' in line and 'no figure since' in line for line in lines(found))


def test_a_test_that_ended_is_one_line_of_all_its_nodes(tmp_path):
    rows = fleet(4, 0, BEFORE + 10)
    for test in ('a', 'b', 'c'):
        rows += [row | {'headline': 'x', 'metrics': made.metrics({test: 10.0})}
                 for row in fleet(4, 0, BEFORE, case={'test': test})]  # fmt: skip
    (line,) = lines(past(tmp_path, rows))
    assert 'n[001-004] ENDED (thin:node a gcc-o2 omp, thin:node b gcc-o2 omp, and 1 more)' in line


def test_what_was_tried_for_a_few_nights_may_end(tmp_path):
    rows = fleet(4, 0, BEFORE + 10) + fleet(4, 0, 6, noise=0.004, case={'pinning': 'likwid'})
    assert past(tmp_path, rows).status == 0
    few = fleet(4, 0, 3, case={'environ': 'icx'}) + fleet(4, 3, BEFORE)  # no series began
    assert (past(tmp_path, few).status, series(past(tmp_path, few))) == (0, [])


def test_what_is_measured_weekly_has_not_ended_after_a_week(tmp_path):
    weekly = [row for day in range(0, 70, 7) for row in made.fleet(2, (day,), seed=day)]
    for row in weekly:
        row['case'] = {**row['case'], 'test': 'weekly'}
    new = fleet(2, 65, 75, noise=0.004, case={'environ': 'icx'})  # since the last of these
    assert series(past(tmp_path, fleet(2, 0, 66) + weekly + new[:4])) == []
    for nights, status in (85, 0), (86, 1):  # three weeks
        assert past(tmp_path, fleet(2, 0, nights) + weekly).status == status


@pytest.mark.parametrize('away, after, share, red', [
    (0, 7, 0.981, 0), (0, 7, 0.979, 1),  # the margin
    (0.02, 7, 0.942, 0), (0.02, 7, 0.939, 1),  # two deviations of 1.4826 x 2 %
    (0, 3, 0.979, 0), (0, 3, 0.978, 1),  # a few may all be bad ones: t (0.1 %; 9) x 0.5 %
])  # fmt: skip
def test_a_series_that_began_lower_from_both_sides_of_its_limit(tmp_path, away, after, share, red):
    rows = [row for day in range(BEFORE)
            for row in fleet(1, day, day + 1, {1: 1 + away * (day % 3 - 1)}, noise=0)]  # fmt: skip
    rows += fleet(1, BEFORE, BEFORE + after, {1: share}, noise=0, case={'environ': 'icx'})
    assert len(past(tmp_path, rows).red) == red


@pytest.mark.parametrize('later, kinds', [(7, {'TONIGHT'}), (8, {'ENDED'})])
def test_only_what_is_still_measured_is_low_tonight(tmp_path, later, kinds):
    rows = fleet(1, 0, BEFORE, noise=0) + fleet(1, BEFORE, BEFORE + 1, {1: 0.9}, noise=0)
    other = fleet(1, 0, BEFORE + later + 1, noise=0, case={'pinning': 'likwid'})
    assert {one.kind for one in past(tmp_path, rows + other).changes} == kinds


def test_of_a_machine_with_a_new_name_nothing_is_judged(tmp_path):
    rows = fleet(1, 0, BEFORE)
    rows += [row | {'host': 'other'} for row in fleet(1, BEFORE, BEFORE + 3, {1: 0.85})]
    found = past(tmp_path, rows)
    assert found.status == 2 and 'not judged yet: 3 of 14 nights' in found.verdict.text
    none = past(tmp_path, [made.invalid(row) for row in rows])
    assert none.status == 2 and 'not judged yet: 0 of 14 nights' in none.verdict.text


def test_what_ended_is_shown_until_it_is_acknowledged(tmp_path, membw):
    rows = fleet(2, 0, BEFORE) + fleet(2, BEFORE, BEFORE + 40, {2: 0.85}, case={'partition': 'b'})
    file, known = made.write(tmp_path / 'r.jsonl', rows), tmp_path / 'known.jsonl'
    words = 'history', file, '--acknowledged', known, '--since', '14d'
    status, text, _ = membw(*words)
    assert status == 1 and 'n002 BEGAN' in text and "partition 'b', before 'node'" in text
    assert membw(*words, '--acknowledge', 'n002', '2026-06-27', 'another queue')[0] == 0
    assert membw(*words)[0] == 0
