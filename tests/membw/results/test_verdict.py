"""The word for a figure and for a case."""

import made_up_records as made
import pytest

from membw.results import verdict
from membw.results.table import Figure, read_table

REFERENCES = {'triad': [180.0, -0.05, 0.1]}


def triad(tmp_path, share, bound=False, case=None, **fields):
    rows = made.stream(share=share)
    if bound:
        rows['triad']['bound'] = 'lower'
    record = made.record(rows=rows, case={'references': REFERENCES, **(case or {})}, **fields)
    return read_table([str(made.write(tmp_path / 'r.jsonl', [record]))]).figures[-1]


@pytest.mark.parametrize(
    'share, bound, known, word',
    [
        (1.0, False, {}, 'PASS'),
        (0.94, False, {}, 'FAIL'),
        (1.2, False, {}, 'FAIL'),
        (0.96, True, {}, 'PASS'),
        (0.94, True, {}, 'UNDECIDED'),
        (1.2, True, {}, 'UNDECIDED'),
        (0.94, False, {'triad': 'old firmware'}, 'KNOWN'),
        (1.0, False, {'triad': 'old firmware'}, 'XPASS'),
    ],
)
def test_a_figure_is_compared_with_its_reference(tmp_path, share, bound, known, word):
    figure = triad(tmp_path, share, bound, {'known_issues': known})
    assert verdict.of_figure(figure) == word


@pytest.mark.parametrize('value, low, high, limits, word', [
    (171.0, 170.0, 172.0, (-0.05, 0.1), 'PASS'),  # on the limit
    (170.9, 170.0, 171.0, (-0.05, 0.1), 'UNDECIDED'),  # its interval reaches it
    (170.9, 170.0, 170.99, (-0.05, 0.1), 'FAIL'),
    (170.9, None, None, (-0.05, 0.1), 'FAIL'),
    (198.0, 197.0, 199.0, (-0.05, 0.1), 'PASS'),
    (198.1, 198.0, 199.0, (-0.05, 0.1), 'UNDECIDED'),
    (198.1, 198.01, 199.0, (-0.05, 0.1), 'FAIL'),
    (198.0, 197.0, 199.0, (-0.05, None), 'PASS'),  # a tenth better, and no limit above
    (198.1, 198.0, 199.0, (-0.05, None), 'UNDECIDED'),  # too good
    (100.0, 90.0, 110.0, (None, 0.1), 'PASS'),
])  # fmt: skip
def test_each_side_of_each_limit_of_a_reference(value, low, high, limits, word):
    figure = Figure('triad', value, 'GB/s', low=low, high=high, reference=180.0,
                    reference_low=limits[0], reference_high=limits[1])  # fmt: skip
    assert verdict.of_figure(figure) == word
    assert bool(verdict.missed(figure)) == (word != 'PASS')


@pytest.mark.parametrize('share, word', [(1.09, 'PASS'), (1.11, 'UNDECIDED')])
def test_a_headline_a_tenth_above_the_peak_is_too_good(tmp_path, share, word):
    peak = {'value': made.TRIAD, 'unit': 'GB/s'}
    figure = triad(tmp_path, share, case={'references': {}}, peak=peak)
    assert verdict.of_figure(figure) == word


def test_a_wrong_figure_is_invalid_whatever_it_is(tmp_path):
    assert verdict.of_figure(triad(tmp_path, 1.0, validation={'ok': False})) == 'INVALID'


@pytest.mark.parametrize('share', [0.1, 1.0, 3.0])
@pytest.mark.parametrize('references', [REFERENCES, {}])
@pytest.mark.parametrize('bound, sign', [('upper', '≤ '), ('unknown', '~ ')])
def test_one_that_a_cache_may_hold_is_undecided_whatever_it_is(
    tmp_path, share, references, bound, sign
):
    reason = {'reason': 'not-proven', 'detail': 'beyond 360 MiB', 'allowed': False}
    rows = made.stream(share=share)
    for row in rows.values():
        row.update(bound=bound, low=None, high=None)
    record = made.record(
        rows=rows, case={'references': references}, verdict='UNDECIDED', reasons=[reason]
    )
    figure = read_table([str(made.write(tmp_path / 'r.jsonl', [record]))]).figures[-1]
    assert verdict.of_figure(figure) == 'UNDECIDED' and figure.verdict != 'VALID'
    assert (figure.sign, figure.is_bound) == (sign, True)
    assert verdict.missed(figure) == 'not-proven (beyond 360 MiB)'


def test_an_upper_bound_that_is_allowed_meets_no_reference(tmp_path):
    rows = made.stream()
    rows['triad']['bound'] = 'upper'
    record = made.record(rows=rows, case={'references': REFERENCES})
    figure = read_table([str(made.write(tmp_path / 'r.jsonl', [record]))]).figures[-1]
    assert verdict.of_figure(figure) == 'UNDECIDED'


@pytest.mark.parametrize('bound, word', [('upper', 'UNDECIDED'), (None, 'FAIL')])
def test_a_time_that_others_lengthened_fails_no_reference(tmp_path, bound, word):
    row = {'value': 1018.9, 'unit': 'ns', 'better': 'lower', 'bound': bound}
    record = made.record(rows={'ns_0_0': row}, case={'references': {'ns_0_0': [150.0, None, 0.1]}})
    figure = read_table([str(made.write(tmp_path / 'r.jsonl', [record]))]).figures[-1]
    assert verdict.of_figure(figure) == word


def test_a_figure_without_reference_passes(tmp_path):
    assert verdict.of_figure(triad(tmp_path, 0.1, case={'references': {}})) == 'PASS'


def test_a_case_has_the_worst_word_of_its_figures(tmp_path):
    figures = [triad(tmp_path, share) for share in (1.0, 0.9)]
    assert verdict.of_case(figures) == 'FAIL'
    assert verdict.of_case([]) == 'MISSING'
    assert verdict.worst(['UNDECIDED', 'XPASS', 'FAIL', 'MISSING', 'PASS']) == 'FAIL'


@pytest.mark.parametrize(
    'words, status',
    [
        (['PASS', 'KNOWN'], 0),
        (['PASS', 'FAIL'], 1),
        (['UNDECIDED'], 1),
        (['MISSING'], 2),  # nothing was judged
        (['MISSING', 'FAIL'], 1),
        (['XPASS'], 1),
        ([], 2),
    ],
)
def test_the_exit_status_is_0_where_every_word_is_good(words, status):
    assert verdict.exit_status(words) == status
