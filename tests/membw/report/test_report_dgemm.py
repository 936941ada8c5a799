"""The section on DGEMM: the denominators beside what was reached."""

from membw.report import arithmetic, pictures
from membw.report.rows import Figure, Row
from membw.report.theme import LIGHT, paint
from membw.results.metrics import Metric

# Ulysses as published: 442 of 448 GFlop/s; what was attainable is made up
FIGURES = {'k192': (442.0, 'GFlop/s'), 'attainable': (470.4, 'GFlop/s'),
           'attainable_share': (105.0, '%'), 'clock': (2.94, 'GHz')}  # fmt: skip


def run(library, figures, verdict='PASS', why=''):
    measured = {n: Figure(Metric(n, unit), value) for n, (value, unit) in figures.items()}
    return Row(library, 'dgemm', 'ulysses:regular', 'icc-o2', library, verdict, why, measured)


def test_every_denominator_is_a_bar_beside_what_was_reached():
    row = run('mkl-intel', FIGURES)
    assert arithmetic.bars(row) == {'stated peak': 448.0, 'attainable': 470.4, 'k = 192': 442.0}
    unknown = {k: v for k, v in FIGURES.items() if k != 'attainable_share'}
    assert 'stated peak' not in arithmetic.bars(run('mkl-intel', unknown))
    (picture,) = arithmetic.section([row]).pictures
    drawn = pictures.svg(paint(picture.chart, LIGHT))
    assert all(text in drawn for text in ('448.0', '470.4', '442.0', 'stated peak', 'mkl-intel'))
    (picture,), notes = (m := arithmetic.section([run('mkl-intel', unknown)])).pictures, m.notes
    assert '>stated peak<' not in pictures.svg(paint(picture.chart, LIGHT)), 'no bar, no legend'
    assert notes == [arithmetic.NOT_STATED]


def test_a_run_of_one_core_has_its_reason_and_no_bar():
    idle = run('mkl-sequential', {}, 'INVALID', 'threads-idle (k192: 1 of 20 threads worked)')
    made = arithmetic.section([run('mkl-intel', FIGURES), idle])
    drawn = pictures.svg(paint(made.pictures[0].chart, LIGHT))
    assert 'mkl-intel' in drawn and 'mkl-sequential' not in drawn
    (table,) = made.tables
    (line,) = [row for row in table.rows if any(cell.text == 'mkl-sequential' for cell in row)]
    assert line[-2].verdict == 'INVALID' and '1 of 20 threads' in line[-1].text


def test_without_a_run_of_dgemm_there_is_no_section():
    assert arithmetic.section([]) is None
