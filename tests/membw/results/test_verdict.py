"""The word for a figure and for a case."""

import made_up_records as made
import pytest

from membw.results import verdict
from membw.results.table import Figure, read_table

REFERENCES = {'triad': [180.0, -0.05, 0.1]}


@pytest.fixture
def figure(tmp_path):
    """figure(RECORD): its last one."""

    def of(record):
        return read_table([str(made.write(tmp_path / 'r.jsonl', [record]))]).figures[-1]

    return of


def triad(share=1.0, bound=None, references=REFERENCES, known=None, **fields):
    rows = made.stream(share=share)
    for row in rows.values():
        row |= {'bound': bound, 'low': None, 'high': None} if bound else {}
    case = {'references': references, 'known_issues': known or {}}
    return made.record(rows=rows, case=case, **fields)


DIMM = {'triad': 'old firmware'}
PEAK = {'references': {}, 'peak': {'value': made.TRIAD, 'unit': 'GB/s'}}
LATENCY = {'value': 1018.9, 'unit': 'ns', 'better': 'lower', 'bound': 'upper'}
OF_LATENCY = {'references': {'ns_0_0': [150.0, None, 0.1]}}


@pytest.mark.parametrize('record, word', [
    (triad(), 'PASS'), (triad(0.94), 'FAIL'), (triad(1.2), 'FAIL'),
    (triad(0.96, 'lower'), 'PASS'), (triad(0.94, 'lower'), 'UNDECIDED'),
    (triad(1.2, 'lower'), 'UNDECIDED'), (triad(bound='upper'), 'UNDECIDED'),
    (triad(0.94, known=DIMM), 'KNOWN'), (triad(known=DIMM), 'XPASS'),
    (triad(1.09, **PEAK), 'PASS'), (triad(1.11, **PEAK), 'UNDECIDED'),  # too good
    (triad(validation={'ok': False}), 'INVALID'), (triad(0.1, references={}), 'PASS'),
    # a time that others lengthened fails no reference
    (made.record(rows={'ns_0_0': LATENCY}, case=OF_LATENCY), 'UNDECIDED'),
    (made.record(rows={'ns_0_0': {**LATENCY, 'bound': None}}, case=OF_LATENCY), 'FAIL'),
])  # fmt: skip
def test_a_figure_is_compared_with_its_reference(figure, record, word):
    assert verdict.of_figure(figure(record)) == word


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


@pytest.mark.parametrize('share', [0.1, 1.0, 3.0])
@pytest.mark.parametrize('references', [REFERENCES, {}])
@pytest.mark.parametrize('bound, sign', [('upper', '≤ '), ('unknown', '~ ')])
def test_one_that_a_cache_may_hold(figure, share, references, bound, sign):
    reason = {'reason': 'not-proven', 'detail': 'beyond 360 MiB', 'allowed': False}
    one = figure(triad(share, bound, references, verdict='UNDECIDED', reasons=[reason]))
    assert verdict.of_figure(one) == 'UNDECIDED' and one.verdict != 'VALID'
    assert (one.sign, one.is_bound) == (sign, True)
    assert verdict.missed(one) == 'not-proven (beyond 360 MiB)'


def test_a_case_has_the_worst_word_of_its_figures():
    assert verdict.worst([]) == 'MISSING'
    assert verdict.worst(['UNDECIDED', 'XPASS', 'FAIL', 'MISSING', 'PASS']) == 'FAIL'


@pytest.mark.parametrize('words, status', [
    (['PASS', 'KNOWN'], 0), (['PASS', 'FAIL'], 1), (['UNDECIDED'], 1),
    (['MISSING'], 2),  # nothing was judged
    (['MISSING', 'FAIL'], 1), (['XPASS'], 1), ([], 2),
])  # fmt: skip
def test_the_exit_status_is_0_where_every_word_is_good(words, status):
    assert verdict.exit_status(words) == status
