"""What each reader does with a node whose figure may be worse than it reads, beside 19 sound ones:
a record that is UNDECIDED, or a bound on the good side that --allow let pass."""

import made_up_records as made
import pytest

from membw.calibrate.samples import select
from membw.cli import main
from membw.diff.command import compare
from membw.history.nights import read_nights
from membw.results.find_one import Result
from membw.results.record import HIGHER, LOWER
from membw.results.rows import best, rows_of_records
from membw.results.table import Figure, read_table

REASON = {'reason': 'not-proven', 'detail': 'beyond 360 MiB', 'allowed': False}
KINDS = {
    'undecided': ({'verdict': 'UNDECIDED', 'exit_status': 1, 'reasons': [REASON]}, 'upper'),
    'incomplete': ({'verdict': 'UNDECIDED', 'exit_status': 1, 'reasons': [REASON]}, None),
    'upper': ({}, 'upper'),
    'unknown': ({}, 'unknown'),
}
REFERENCES = {'triad': [180.0, -0.05, 0.10]}


def odd(kind, node='n003', share=1.2, **more):
    fields, bound = KINDS[kind]
    rows = made.stream(share=share)
    for row in rows.values():
        row.update({'bound': bound, 'low': None, 'high': None} if bound else {})
    return made.record(node, rows=rows, **fields, **more)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def fleet(tmp_path, kind):
    sound = [row for row in made.fleet(20) if row['host'] != 'n003']
    return made.write(tmp_path / 'r.jsonl', [*sound, odd(kind)])


def test_rank_says_undecided_and_hands_no_pass_to_the_health_check(fleet, tmp_path, capsys):
    assert main(['rank', str(fleet), '--node-check', str(tmp_path / 'nodes')]) == 1
    lines = (tmp_path / 'nodes').read_text().splitlines()
    assert [line[:14] for line in lines if ' PASS' not in line] == ['n003 UNDECIDED']
    assert '19 PASS, 0 FAIL, 0 INVALID, 0 MISSING, 1 UNDECIDED' in capsys.readouterr().out


def test_further_measurements_that_may_be_worse_clear_no_node(kind, tmp_path, capsys):
    rows = made.fleet(20, slow={3: 0.9})
    again = [{**odd(kind), 'time': made.when(0.001 * i)} for i in range(1, 4)]
    file = made.write(tmp_path / 'r.jsonl', [*rows, *again])
    assert main(['rank', str(file)]) == 1
    assert '19 PASS, 0 FAIL, 0 INVALID, 0 MISSING, 1 UNDECIDED' in capsys.readouterr().out


def test_history_and_calibrate_leave_it_out(fleet):
    table, nights = read_nights([str(fleet)])
    assert [len(one.nodes) for one in nights.series()] == [19] * 4
    table = read_table([str(fleet)])
    (samples,) = select(table, 'thin', 'stream', (None, None, None))
    assert {len(runs) for runs in samples.runs.values()} == {19}


def test_diff_and_a_row_are_never_good(kind, tmp_path):
    assert not compare(Result('a', odd(kind)), Result('b', made.record()), 0.5).is_same
    one = odd(kind, share=1.0, case={'references': REFERENCES})
    table = read_table([str(made.write(tmp_path / 'r.jsonl', [one]))])
    (row,) = rows_of_records(table.figures)
    assert row.word == 'UNDECIDED'


def test_export_has_no_number_of_a_bound_that_is_no_lower_one(fleet, kind, capsys):
    assert main(['export', '--format', 'csv', str(fleet)]) == 0
    (row,) = [t for t in capsys.readouterr().out.splitlines() if ',n003,' in t and ',triad,' in t]
    assert (',216.0,' in row) == (kind == 'incomplete'), row
    assert ',UNDECIDED,' in row


@pytest.mark.parametrize('better, rounds, chosen', [
    (HIGHER, [(25, ''), (40, 'upper')], (25, '')),  # what may be worse hides no estimate
    (HIGHER, [(25, 'lower'), (40, 'unknown')], (25, 'lower')),
    (HIGHER, [(40, 'upper'), (50, 'unknown')], (50, 'unknown')),
    (HIGHER, [(25, ''), (27, 'lower')], (27, 'lower')),
    (HIGHER, [(25, ''), (24, 'lower')], (25, '')),
    (LOWER, [(90, ''), (80, 'upper')], (80, 'upper')),
    (LOWER, [(90, ''), (80, 'lower')], (90, '')),
    (LOWER, [(90, ''), (120, 'upper')], (90, '')),  # of a disturbed latency the other way
])  # fmt: skip
def test_of_several_rounds_the_best_that_is_sure_counts(better, rounds, chosen):
    figure = best([Figure(metric='x', value=v, bound=b, better=better) for v, b in rounds])
    assert (figure.value, figure.bound) == chosen
