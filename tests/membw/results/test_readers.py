"""Which of several rounds counts, and who leaves out a figure that may be worse than it reads."""

import csv

import made_up_records as made
import pytest

from membw.calibrate.samples import select
from membw.cli import main
from membw.history.nights import read_nights
from membw.results.record import HIGHER, LOWER
from membw.results.rows import best, rows_of_records
from membw.results.table import Figure, read_table

REASON = {'reason': 'not-proven', 'detail': 'beyond 360 MiB', 'allowed': False}
REFERENCES = {'triad': [216.0, -0.05, 0.1]}
NOT_PROVEN = {'verdict': 'UNDECIDED', 'exit_status': 1, 'reasons': [REASON]}


@pytest.mark.parametrize('fields, bound', [
    (NOT_PROVEN, 'upper'), (NOT_PROVEN, None), ({}, 'upper'), ({}, 'unknown'),
])  # fmt: skip
def test_what_may_be_worse_is_left_out(tmp_path, capsys, fields, bound):
    """The words of all mouths are in test_one_answer.py."""
    rows = made.stream(share=1.2)
    for row in rows.values():
        row.update({'bound': bound, 'low': None, 'high': None} if bound else {})
    sound = [row for row in made.fleet(20) if row['host'] != 'n003']
    odd = made.record('n003', rows=rows, case={'references': REFERENCES}, **fields)
    file = str(made.write(tmp_path / 'r.jsonl', [*sound, odd]))
    assert [len(one.nodes) for one in read_nights([file])[1].series()] == [19] * 4
    table = read_table([file])
    (row,) = rows_of_records([f for f in table.figures if f.node == 'n003'])
    assert row.word == 'UNDECIDED'
    (samples,) = select(table, 'thin', 'stream', (None, None, None))
    assert {len(runs) for runs in samples.runs.values()} == {19}
    assert main(['export', '--format', 'csv', file]) == 0
    every = csv.DictReader(capsys.readouterr().out.splitlines())
    (row,) = [row for row in every if (row['node'], row['metric']) == ('n003', 'triad')]
    assert (row['value'], row['verdict']) == ('' if bound else '216.0', 'UNDECIDED')


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
