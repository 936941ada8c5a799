"""The word for a figure and for a case."""

import csv

import made_up_records as made
import pytest
from made_up_records import changed

from membw.calibrate.samples import select
from membw.history.nights import read_nights
from membw.results import verdict
from membw.results.record import HIGHER, LOWER
from membw.results.rows import best, rows_of_records
from membw.results.table import Figure, read_table
from membw.words import GOOD, exit_status, worst

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


LACKING = {  # 12 of 16 channels of DDR4-3200
    'cpu_model': 'AMD EPYC 7763 64-Core Processor', 'sockets': 2, 'memory_channels': 12,
    'cpu_id': {'vendor': 'AuthenticAMD', 'family': '25', 'model': '1', 'stepping': '1'},
    'dimms': [{'size_mib': 32_768, 'type': 'DDR', 'rated_mts': 3200, 'configured_mts': 3200}] * 12,
}  # fmt: skip
AT_MOST = {name: fact for name, fact in LACKING.items() if name != 'dimms'}  # 409.6 GB/s
WHOLE = {**LACKING, 'memory_channels': 16, 'dimms': LACKING['dimms'][:1] * 16}
BOUGHT_SO = {'value': 307.2, 'unit': 'GB/s'}
DIMM = {'triad': 'old firmware'}
PEAK = {'references': {}, 'peak': {'value': made.TRIAD, 'unit': 'GB/s'}}
LATENCY = {'value': 1018.9, 'unit': 'ns', 'better': 'lower', 'bound': 'upper'}
OF_LATENCY = {'references': {'ns_0_0': [150.0, None, 0.1]}}


def copy_above(**fields):
    record = triad(**PEAK, **fields)
    return changed(record, metrics__copy=made.metrics({'copy': 1.001 * made.TRIAD})['copy'])


@pytest.mark.parametrize('record, word', [
    (triad(), 'PASS'), (triad(0.94), 'FAIL'), (triad(1.2), 'FAIL'),
    (triad(0.96, 'lower'), 'PASS'), (triad(0.94, 'lower'), 'UNDECIDED'),
    (triad(1.2, 'lower'), 'UNDECIDED'), (triad(bound='upper'), 'UNDECIDED'),
    (triad(bound='upper', references={}), 'UNDECIDED'),
    (triad(bound='unknown', references={}), 'VALID'),
    (triad(0.94, known=DIMM), 'KNOWN'), (triad(known=DIMM), 'XPASS'),
    (triad(1.0, **PEAK), 'VALID'), (triad(1.001, **PEAK), 'INVALID'),
    (triad(1.001, 'lower', **PEAK), 'INVALID'), (triad(1.001, 'upper', **PEAK), 'UNDECIDED'),
    (triad(1.001, 'unknown', **PEAK), 'VALID'),  # what may be less is not above it
    (copy_above(), 'INVALID'), (copy_above(program='loaded'), 'VALID'),  # which has one rate
    (triad(1.001, **PEAK, program='loaded'), 'INVALID'),
    (triad(1.001, **PEAK, program='tlb'), 'VALID'),  # no rate of memory
    (triad(validation={'ok': False}), 'INVALID'), (triad(0.1, references={}), 'VALID'),
    # a reference without a lower limit lets any loss pass: nothing is compared, whatever lacks
    (triad(references={'triad': [180.0, None, 0.1]}), 'VALID'),
    (triad(references={'triad': [180.0, None, 0.1]}, facts=LACKING), 'VALID'),
    (triad(references={'triad': [180.0, -0.05, 0.1]}, facts=LACKING), 'UNDECIDED'),
    (triad(facts=LACKING, peak=BOUGHT_SO), 'PASS'),  # no channel is missing that was bought
    (triad(facts=LACKING, program='tlb'), 'PASS'),  # no rate of memory
    (triad(2.5, references={}, facts=AT_MOST), 'UNDECIDED'),  # above a peak that is "at most"
    (triad(2.5, references={}, facts=WHOLE), 'INVALID'),
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
    (202.5, 201.0, 203.0, (-0.05, 0.125), 'PASS'),  # a limit without rounding
    (202.6, 202.5, 203.0, (-0.05, 0.125), 'UNDECIDED'),
    (202.6, 202.51, 203.0, (-0.05, 0.125), 'FAIL'),
    (198.0, 197.0, 199.0, (-0.05, None), 'PASS'),  # a tenth better, and no limit above
    (198.1, 198.0, 199.0, (-0.05, None), 'UNDECIDED'),  # too good
    (100.0, 90.0, 110.0, (None, 0.1), 'VALID'),  # a loss is compared with nothing
    (180.0, 179.0, 181.0, (-1 / 12, 0.1), 'PASS'),
])  # fmt: skip
def test_each_side_of_each_limit_of_a_reference(value, low, high, limits, word):
    figure = Figure('triad', value, 'GB/s', low=low, high=high, reference=180.0,
                    reference_low=limits[0], reference_high=limits[1])  # fmt: skip
    assert verdict.of_figure(figure) == word
    assert bool(verdict.judged(figure)[1]) == (word not in GOOD)


def test_a_case_has_the_worst_word_of_its_figures():
    assert worst([]) == 'MISSING'
    assert worst(['VALID', 'PASS']) == 'PASS'  # what was compared
    assert worst(['UNDECIDED', 'XPASS', 'FAIL', 'MISSING', 'PASS']) == 'FAIL'


@pytest.mark.parametrize('words, status', [
    (['PASS', 'KNOWN', 'VALID'], 0), (['VALID'], 0), (['PASS', 'FAIL'], 1), (['UNDECIDED'], 1),
    (['MISSING'], 2),  # nothing was judged
    (['MISSING', 'FAIL'], 1), (['XPASS'], 1), ([], 2),
])  # fmt: skip
def test_the_exit_status_is_0_where_every_word_is_good(words, status):
    assert exit_status(words) == status


# --- rounds, and figures that may be worse than they read: who leaves them out

REASON = {'reason': 'not-proven', 'detail': 'beyond 360 MiB', 'allowed': False}
NOT_PROVEN = {'verdict': 'UNDECIDED', 'exit_status': 1, 'reasons': [REASON]}


@pytest.mark.parametrize('fields, bound', [
    (NOT_PROVEN, 'upper'), (NOT_PROVEN, None), ({}, 'upper'), ({}, 'unknown'),
])  # fmt: skip
def test_what_may_be_worse_is_left_out(stored, membw, fields, bound):
    """The words of all mouths are in test_one_answer.py."""
    rows = made.stream(share=1.2)
    for row in rows.values():
        row.update({'bound': bound, 'low': None, 'high': None} if bound else {})
    sound = [row for row in made.fleet(20) if row['host'] != 'n003']
    odd = made.record(
        'n003', rows=rows, case={'references': {'triad': [216.0, -0.05, 0.1]}}, **fields
    )
    file = stored([*sound, odd])
    assert [len(one.nodes) for one in read_nights([file])[1].series()] == [19] * 4
    table = read_table([file])
    (row,) = rows_of_records([f for f in table.figures if f.node == 'n003'])
    assert row.word == 'UNDECIDED'
    (samples,) = select(table, {'system': 'thin', 'test': 'stream'})
    assert {len(runs) for runs in samples.runs.values()} == {19}
    every = csv.DictReader(membw('export', '--format', 'csv', file)[1].splitlines())
    (row,) = [row for row in every if (row['node'], row['metric']) == ('n003', 'triad')]
    assert (row['value'], row['verdict']) == ('' if bound else '216.0', 'UNDECIDED')


@pytest.mark.parametrize('better, rounds, chosen', [
    (HIGHER, [(25, ''), (40, 'upper')], (25, '')),  # what may be worse hides no estimate
    (HIGHER, [(25, 'lower'), (40, 'unknown')], (25, 'lower')),
    (HIGHER, [(40, 'upper'), (50, 'unknown')], (50, 'unknown')),
    (HIGHER, [(25, ''), (27, 'lower')], (27, 'lower')),
    (HIGHER, [(25, ''), (24, 'lower')], (25, '')), (HIGHER, [(25, 'lower'), (25, '')], (25, '')),
    (LOWER, [(90, ''), (80, 'upper')], (80, 'upper')),
    (LOWER, [(90, ''), (80, 'lower')], (90, '')),
    (LOWER, [(90, ''), (120, 'upper')], (90, '')),  # of a disturbed latency the other way
])  # fmt: skip
def test_of_several_rounds_the_best_that_is_sure_counts(better, rounds, chosen):
    figure = best([Figure(metric='x', value=v, bound=b, better=better) for v, b in rounds])
    assert (figure.value, figure.bound) == chosen


@pytest.mark.parametrize('better, rounds, ends', [
    (HIGHER, [(100, 95, 105), (90, 88, 91)], (90, 105)),  # no figure lies outside
    (HIGHER, [(100, 85, 105), (99, 80, 101)], (85, 105)),  # the better end of the lows
    (HIGHER, [(100, None, None), (90, 80, 95)], (90, 100)),
    (HIGHER, [(100, 95, 105)], (95, 105)),
    (LOWER, [(100, 95, 105), (110, 109, 112)], (95, 110)),
    (LOWER, [(100, 95, 120), (101, 94, 118)], (94, 118)),
    (LOWER, [(100, None, None), (90, 80, 95)], (80, 100)),
])  # fmt: skip
def test_the_interval_of_several_rounds(better, rounds, ends):
    figure = best([Figure(value=v, low=a, high=b, better=better) for v, a, b in rounds])
    assert (figure.low, figure.high) == ends
