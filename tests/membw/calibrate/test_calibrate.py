"""`membw calibrate` as it is called: what it reads, leaves out, refuses and writes."""

import datetime
import itertools
import re
import types

import made_up_records as made_up
import pytest
import yaml
from checkout_copy import copy_checkout
from lib import references as reference_files
from made_up_records import invalid, runs

from membw.site.references import INDEX, entry_of

NODES = {f'n{i:03}': 300.0 for i in range(20)}
DAYS = '2026-10-20', '2026-10-21', '2026-10-22'
ON_LOCAL = {'case__system': 'local', 'case__partition': 'default'}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy whose references may be written."""
    copy_checkout(tmp_path)
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    return tmp_path


@pytest.fixture
def stored(tmp_path):
    """A function: a file of the given records, or of three nights of 20 nodes."""
    number = itertools.count()

    def write(rows=None, **changes):
        file = next(number)
        nodes = {node: triad + file / 1000 for node, triad in NODES.items()}  # no copies
        rows = rows or [r for day in DAYS for r in runs(nodes, 1, day, **changes)]
        return made_up.write(tmp_path / f'records-{file}.jsonl', rows)

    return write


@pytest.fixture
def calibrate(checkout, membw):
    """A function: (exit status, standard output, standard error) of `membw calibrate`."""
    return lambda *words, system='local': membw('calibrate', '--system', system, *words)


@pytest.fixture
def proposed(calibrate, stored):
    """A function: (exit status, what is printed) of a dry run on records."""

    def call(rows, *words, system='thin'):
        return calibrate(*words, stored(rows), '--dry-run', system=system)[:2]

    return call


def references(checkout, system='local'):
    return yaml.safe_load((checkout / f'systems/references/{system}.yaml').read_text())


def test_a_first_calibration_writes_references_that_reframe_reads(checkout, stored, calibrate):
    code, out, _ = calibrate(stored(**ON_LOCAL))
    assert code == 0 and 'local:default stream gcc-o2 likwid: 60 runs, 20 nodes, 3 nights' in out
    written = references(checkout)
    assert written['stream']['$index'] == ['$partition', '$environ', 'pinning']
    row = written['stream']['local:default']['gcc-o2']['likwid']
    assert row['triad'] == [pytest.approx(300.0, rel=1e-4), -0.02, 0.04, 'GB/s']
    notes = written['calibration']['local:default']['gcc-o2']['likwid']
    assert (notes['runs'], notes['nodes'], notes['nights']) == (60, 20, 3)
    assert notes['compiler'] == 'gcc 12.2.0' and notes['cpu_model'] == 'Synthetic 9000'
    assert notes['in_force'] == ['copy', 'triad']
    today = datetime.date.today()
    text = (checkout / 'systems/references/local.yaml').read_text()
    assert f'# {today}: median of 60 runs of 20 nodes\n' in text
    assert notes['expires'] == str(today + datetime.timedelta(days=180))
    assert 'references: references/local.yaml\n' in (checkout / 'systems/local.yaml').read_text()


def test_a_laptop_gets_wider_tolerances_and_a_note(checkout, proposed):
    code, out = proposed(runs({'laptop': 20.0}, 5, **ON_LOCAL), system='local')
    assert code == 0 and '-4.0%' in out
    few = '5 runs, 1 node, 1 night'
    assert 'fewer than 3 nights or 20 nodes: the tolerances are doubled' in out
    assert few in out and re.search(r'triad +20\.0\d* +GB/s', out) and 'written' not in out
    assert not (checkout / 'systems/references/local.yaml').exists()


def test_published_figures_and_every_line_of_a_person_stay(checkout, stored, calibrate):
    path = checkout / 'systems/references/thin.yaml'
    old = path.read_text()
    code, out, _ = calibrate(stored(), system='thin')
    assert code == 0 and '166.6391 -0.05 0.1, stays' in out and '--replace' in out
    assert path.read_text() == old
    assert calibrate(stored(case__pinning='omp', case__environ='gcc-o3'), system='thin')[0] == 0
    assert all(line in path.read_text().splitlines() for line in old.splitlines())


def test_replace_puts_the_measured_figures_in_force(checkout, stored, calibrate):
    code, out, _ = calibrate('--replace', stored(), system='thin')
    assert code == 0 and '166.6391 -0.05 0.1, replaced' in out
    row = references(checkout, 'thin')['stream']['thin:thin']['gcc-o2']['likwid']
    assert row['triad'][0] == pytest.approx(300.0, rel=1e-4)
    assert row['scale'] == [159.3132, -0.05, 0.10, 'GB/s']  # not measured


def test_what_a_run_would_refuse_is_not_written(checkout, stored, calibrate):
    """Records of a partition that was renamed since: every run of every system stopped."""
    path = checkout / 'systems/references/local.yaml'
    before = path.read_bytes() if path.exists() else None
    code, _, said = calibrate(stored(**{**ON_LOCAL, 'case__partition': 'renamed'}))
    assert code == 2 and "would be wrong: stream: no partition 'local:renamed'" in said
    assert (path.read_bytes() if path.exists() else None) == before


def test_invalid_runs_bounds_and_other_builds_are_left_out_with_the_reason(proposed):
    made = runs(NODES, 1, DAYS[2], **ON_LOCAL)
    wrong = [*map(invalid, runs({'n001': 1.0}, 2, **ON_LOCAL))]
    bounds = runs({'n002': 2.0}, 3, DAYS[1], bound='lower', **ON_LOCAL)
    older = runs({'n003': 3.0}, 4, DAYS[1], build__compiler='gcc 11.4', **ON_LOCAL)
    allowed = [{'reason': 'array-too-small', 'detail': '', 'allowed': True}]
    small = runs({'n004': 4.0}, 5, DAYS[2], minutes=1, reasons=allowed, **ON_LOCAL)
    code, out = proposed([*older, *bounds, *wrong, *made, *small], system='local')
    assert code == 0 and '20 runs, 20 nodes, 1 night' in out
    for left in (
        '2 runs: INVALID: wrong-placement', '5 runs: UNDECIDED: allowed: array-too-small',
        '3 runs: disturbed: a lower bound only',
        '4 runs: of another setting than most nodes: compiler gcc 11.4, not gcc 12.2.0',
    ):  # fmt: skip
        assert f'left out: {left}' in out


@pytest.mark.parametrize('make', [
    lambda **fields: [*map(invalid, runs(NODES, 1, DAYS[2], **fields))],
    lambda **fields: runs(NODES, 1, DAYS[2], bound='lower', **fields),
])  # fmt: skip
def test_runs_that_do_not_count_choose_no_setting(proposed, make):
    newest = make(build__compiler='gcc 14.2.0', **ON_LOCAL)
    code, out = proposed([*runs(NODES, 1, DAYS[1], **ON_LOCAL), *newest], system='local')
    assert code == 0 and '20 runs, 20 nodes, 1 night' in out and 'left out: 20 runs: ' in out


@pytest.mark.parametrize('rows, said', [
    ([*map(invalid, runs(NODES, 1, **ON_LOCAL))], 'refused: no valid run'),
    (runs({'n1': 3.0}, 4, **ON_LOCAL), 'refused: copy, triad: 4 valid runs, at least 5 are'),
])  # fmt: skip
def test_runs_that_make_no_reference(checkout, stored, calibrate, rows, said):
    code, out, _ = calibrate(stored(rows))
    assert code == 1 and said in out
    assert not (checkout / 'systems/references/local.yaml').exists()


def test_partition_preset_pinning_and_day_choose_the_runs(stored, calibrate):
    both = [stored(**ON_LOCAL), stored(case__pinning='omp', **ON_LOCAL)]
    code, out, _ = calibrate('--dry-run', '--pinning', 'omp', *both)
    assert code == 0 and 'gcc-o2 omp:' in out and 'gcc-o2 likwid:' not in out
    code, out, _ = calibrate('--dry-run', '--since', DAYS[2], *both)
    assert code == 0 and '20 runs, 20 nodes, 1 night' in out
    code, _, err = calibrate('--preset', 'clang-o2', *both)
    assert code == 2 and "no run of 'local stream clang-o2' in" in err
    for field in 'partition', 'environ', 'pinning':  # without it no run compares
        code, _, err = calibrate(stored(**ON_LOCAL | {f'case__{field}': ''}))
        assert code == 2 and "no run of 'local stream' in" in err


def test_a_parameter_of_the_check_has_references_of_its_own(checkout, stored, calibrate):
    changes = {'case__test': 'overheads', 'unit': 'us', 'better': 'lower', **ON_LOCAL}
    files = [
        stored(case__parameters=f'%wait_policy={policy}', **changes)
        for policy in ('active', 'passive')
    ]
    assert calibrate('--test', 'overheads', *files)[0] == 0
    table = references(checkout)['overheads']
    assert table['$index'] == ['$partition', '$environ', 'pinning', 'wait_policy']
    rows = table['local:default']['gcc-o2']['likwid']
    assert set(rows) == {'active', 'passive'} and rows['active']['triad'][1:3] == [-0.04, 0.02]
    code, _, err = calibrate('--test', 'overheads', stored(**changes))
    assert code == 2 and "'overheads' is indexed by $partition, $environ, pinning, wait" in err


def test_what_a_pattern_gave_a_case_is_not_lost(checkout, stored, calibrate):
    path = checkout / 'systems/references/thin.yaml'
    path.write_text(
        'stream:\n  $index: [$partition, $environ, pinning]\n'
        "  'thin:.*':\n    gcc-o2:\n      likwid:\n        add: [1.0, -0.1, 0.1, GB/s]\n"
    )
    assert calibrate(stored(), system='thin')[0] == 0
    row = references(checkout, 'thin')['stream']['thin:thin']['gcc-o2']['likwid']
    assert set(row) == {'add', 'copy', 'triad'}


@pytest.mark.parametrize('table, name, entry', [
    ({'a': 1, 'a.*': 2}, 'a', 1), ({'$index': 0, 'a.*': 2}, 'ab', 2), ({'b': 1}, 'a', {}),
])  # fmt: skip
def test_a_key_is_matched_as_reframe_matches_it(table, name, entry):
    assert entry_of(table, name) == entry


def test_a_file_that_has_no_references_is_named(checkout, stored, calibrate):
    path = checkout / 'systems/references/thin.yaml'
    path.write_text('stream: [1, 2')
    code, _, err = calibrate(stored(), system='thin')
    assert code == 2 and f"membw: '{path}': line 2: did not find expected ',' or ']'" in err
    path.write_text('stream: [1, 2]')
    code, _, err = calibrate(stored(), system='thin')
    assert code == 2 and f"membw: no references of ReFrame in '{path}': " in err
    assert "hint: 'stream:' and '$index:" in err
    code, _, err = calibrate(stored(), system='thinn')
    assert code == 2 and "no system 'thinn'" in err and "did you mean 'thin'?" in err


@pytest.mark.parametrize('test', ['stream', 'overheads'])
def test_a_calibrated_reference_has_a_last_day(checkout, stored, calibrate, monkeypatch, test):
    file = stored(case__test=test, **ON_LOCAL)
    assert calibrate('--test', test, '--expires', '1', file)[0] == 0
    some, path = types.SimpleNamespace, checkout / 'systems/references/local.yaml'
    part = some(fullname='local:default', extras={'references': path})

    def last_day(today, environ='gcc-o2'):
        monkeypatch.setattr(reference_files, 'datetime', some(date=some(today=lambda: today)))
        case = {'reference': some(index=INDEX), 'pinning': 'likwid', 'current_partition': part}
        return reference_files.last_day(
            type(test, (), {**case, 'current_environ': some(name=environ)})()
        )

    tomorrow, after = (datetime.date.today() + datetime.timedelta(days) for days in (1, 2))
    assert [last_day(tomorrow), last_day(after)] == ['', str(tomorrow)]
    assert last_day(after, 'gcc-o3') == ''


@pytest.mark.parametrize('slow, status, said', [
    # 9 slow nodes of 20 gave a tolerance that let all of them pass
    (9, 1, ('9 of 20 nodes are slower', 'refused: copy, triad: ')),
    (1, 0, ('left out: 3 runs: of a node that membw rank does not pass: n000',
            '57 runs, 19 nodes, 3 nights')),
])  # fmt: skip
def test_two_groups_of_nodes_are_refused_and_a_slow_node_is_left_out(proposed, slow, status, said):
    nodes = {f'n{i:03}': 300 + i / 10 - 30 * (i < slow) for i in range(20)}
    made = [r for day in DAYS for r in runs(nodes, 1, day, **ON_LOCAL)]
    code, text = proposed(made, system='local')
    assert code == status and all(part in text for part in said), text


def nights_of(nights, share=1.0, nodes=6, noise=0.009, first=0, **facts):
    """Of a fleet with normal noise, from the night `first` on; `facts`: that its records have."""
    days = range(first, first + nights)
    rows = made_up.fleet(nodes, days, noise, dict.fromkeys(range(1, nodes + 1), share), seed=first)
    return [{**row, 'facts': {**row['facts'], **facts}} for row in rows]


def triad(text):
    """(value, tolerance to the worse side) that are printed."""
    return map(float, re.search(r'triad +(\S+) +GB/s +\S+ +(\S+)%', text).groups())


FACTS = [
    {'microcode': '0x2'}, {'bios_version': 'B'}, {'kernel': '6.2.0'}, {'board_name': 'B'},
    {'dimms': [{'size_mib': 32_768}]}, {'memory_channels': 7},
]  # fmt: skip


@pytest.mark.parametrize(
    'nights, facts', [(50, FACTS[0]), (4, FACTS[0]), *((1, f) for f in FACTS)]
)
def test_after_a_changed_fact_the_newest_level_alone_is_taken(proposed, nights, facts):
    """60 nights of before gave the old level; 60 and 50 a tolerance of 17.6 %."""
    before = {'bios_version': 'A', 'board_name': 'A', 'dimms': [{'size_mib': 16_384}]}
    made = nights_of(60, **before) + nights_of(nights, 0.955, first=60, **{**before, **facts})
    code, text = proposed(made)
    value, low = triad(text)
    assert code == 0 and value == pytest.approx(0.955 * 180, rel=0.01)
    assert -100 / 14 <= low < 0  # half of one of seven channels
    name = {'kernel': 'kernel_release'}.get(*facts, *facts)
    assert f'left out: 360 runs: older than {name} ' in text


def test_a_rolling_update_gives_no_mixture(proposed):
    """Of 20 nodes: 5, then 15 have the new firmware."""
    for updated, level in ((5, 1.0), (15, 0.955)):
        made = nights_of(10, nodes=20)
        for row in nights_of(10, nodes=20, first=10):
            if int(row['host'][1:]) <= updated:
                row['facts'].update(FACTS[0])
                row['metrics'] = made_up.stream(share=0.955 + float(row['time'][9]) / 1e4)
            made.append(row)
        code, text = proposed(made)
        assert code == 0 and [*triad(text)][0] == pytest.approx(180 * level, rel=0.01)
    assert "left out: 100 runs: microcode '0x1', which most nodes left" in text


def test_one_node_that_changed_is_left_out(proposed):
    made = nights_of(20, nodes=20)
    for row in made:
        if row['host'] == 'n004' and row['time'] >= made_up.when(10):
            row['facts']['memory_channels'] = 7
    code, text = proposed(made)
    assert code == 0 and '380 runs, 19 nodes' in text
    assert "left out: 20 runs: memory_channels '7', where most nodes still have '8'" in text


@pytest.mark.parametrize('channels, noise, nodes, said', [
    (8, 0.013, 20, 'tolerance'),
    (8, 0.022, 20, 'wider than half a memory channel (6.2%)'),
    (24, 0.013, 20, 'wider than half a memory channel (4.2%)'),
    (None, 0.013, 20, 'wider than half a memory channel (4.2%)'),
    (24, 0.008, 6, '-4.1%'),  # doubled, and not beyond
    (2, 0.05, 20, 'tolerance'),
])  # fmt: skip
def test_a_tolerance_that_hides_a_lost_channel_is_refused(proposed, channels, noise, nodes, said):
    code, text = proposed(nights_of(10, nodes=nodes, noise=noise, memory_channels=channels))
    assert said in text and code == ('wider' in said)


@pytest.mark.parametrize('sockets, is_refused', [(1, False), (2, True)])
def test_where_modules_are_not_known_the_cpus_say_how_many_channels(proposed, sockets, is_refused):
    cpu = {'cpu_model': 'AMD EPYC 7763 64-Core Processor', 'sockets': sockets,
           'cpu_id': {'vendor': 'AuthenticAMD', 'family': '25', 'model': '1', 'stepping': '1'},
           'memory_channels': None}  # fmt: skip
    code, text = proposed(nights_of(10, nodes=20, noise=0.013, **cpu))
    assert (code == 1, 'wider than half a memory channel (4.2%)' in text) == (is_refused,) * 2, (
        text
    )


@pytest.mark.parametrize('field', [{'threads': 12}, {'build__compiler': 'gcc 14.2.0'}])
@pytest.mark.parametrize('nodes', [1, 9, 10])
def test_no_level_is_that_of_a_few_nodes_which_are_set_otherwise(proposed, nodes, field):
    """Whoever was measured last gave it: one node at 60 %, with half of its threads."""
    names = [*NODES]
    rows = [row for day in DAYS for row in runs(dict.fromkeys(names[nodes:], 300.0), 1, day)]
    odd = dict.fromkeys(names[:nodes], 180.0)
    rows += [row for day in DAYS for row in runs(odd, 3, day, minutes=30, **field)]
    status, out = proposed(rows)
    assert (status, 'triad  ' in out) == ((1, False) if nodes == 10 else (0, True))
    assert 'refused: ' in out if nodes == 10 else re.search(r'triad +300', out)
    assert f'left out: {9 * nodes} runs: of another setting' in out
