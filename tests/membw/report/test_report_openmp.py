"""The section on OpenMP: speed-up beside the ideal line, overheads with their intervals."""

from membw.report import openmp, pictures
from membw.report.rows import Figure, Row
from membw.report.theme import LIGHT, paint
from membw.results.metrics import LOWER, Metric

# [helios]: speed-ups of Sandy Bridge, from 55 28 14 7 3.5 s
SANDY_BRIDGE = {2: 1.96, 4: 3.93, 8: 7.86, 16: 15.71}


def row(test, figures, verdict='PASS', why=''):
    return Row('run-1', test, 'helios:sandy-bridge', 'gcc-native', 'omp', verdict, why, figures)


def scaling():
    found = {
        f'speedup_{t}': Figure(Metric(f'speedup_{t}', 'x'), s, interval=(0.98 * s, 1.01 * s))
        for t, s in SANDY_BRIDGE.items()
    }
    return row('nbody', found | {'gflops_16': Figure(Metric('gflops_16', 'GFlop/s'), 99.0)})


def overheads():
    made = {'for_dynamic_8_t2': 0.3, 'barrier_t1': 0.002, 'barrier_t2': 0.26, 'barrier_t4': 0.4,
            'firstprivate_8_t4': 0.5, 'firstprivate_472392_t4': 9.0}  # fmt: skip
    return row('overheads', {
        name: Figure(Metric(name, 'us', LOWER), us, interval=(-0.001, 2 * us))
        for name, us in made.items()
    })  # fmt: skip


def test_names_are_taken_apart():
    points = openmp.overheads(overheads())
    assert [(p['construct'], p['bytes'], p['threads']) for p in points] == [
        ('for_dynamic_8', 0, 2), ('barrier', 0, 1), ('barrier', 0, 2), ('barrier', 0, 4),
        ('firstprivate', 8, 4), ('firstprivate', 472392, 4),
    ]  # fmt: skip
    assert {p['low'] for p in points} == {-0.001}, 'the table has the interval as it is'
    assert [p['threads'] for p in openmp.speed_ups(scaling())] == [1, 2, 4, 8, 16]


def test_each_run_is_drawn_and_told_in_words():
    made = openmp.section([scaling(), overheads()])
    speed_up, threads, by_bytes = made.pictures
    drawn = [pictures.svg(paint(p.chart, LIGHT)) for p in made.pictures]
    assert 'speed-up' in drawn[0] and 'barrier' in drawn[1] and 'firstprivate' in drawn[2]
    assert 'barrier' not in drawn[2] and 'overhead, us' in drawn[1]
    assert [cell.text for cell in speed_up.table.rows[-1]][:2] == ['16', '15.7']
    assert '15.7' in [c.text for c in speed_up.table.rows[-1]] and speed_up.table.rows[0]
    assert [c.text for c in threads.table.rows[0]][:4] == ['for_dynamic_8', '', '2', '0.3']
    assert len({p.name for p in made.pictures}) == 3


def test_a_logarithmic_axis_has_what_was_measured_and_no_zero():
    """No 1.5 threads, and no decades of nothing where an interval reaches 0."""
    threads, by_bytes = (p.chart['layer'][1] for p in openmp.section([overheads()]).pictures)
    assert threads['encoding']['x']['axis']['values'] == [1, 2, 4]
    assert by_bytes['encoding']['x']['axis']['values'] == [8, 472392]
    assert threads['encoding']['y']['scale']['domain'] == [0.0001, 1]  # 0.002 / 3 to 2 x 0.4
    assert openmp.charts.log_steps(0.3, 6) == [0.2, 0.5, 1, 2, 5, 10]


def test_an_invalid_run_has_its_reason_and_no_picture():
    wrong = row('nbody', {}, 'INVALID', 'offload-not-done (7 of 7 target regions)')
    made = openmp.section([wrong])
    assert not made.pictures and 'offload-not-done' in made.notes[0]
    assert openmp.section([row('stream', {})]) is None
