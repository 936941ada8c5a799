"""tests/peers/peers.py: outputs of the peers are read right, ratios are paired."""

import runpy

import pytest
from places import ROOT

PEERS = runpy.run_path(str(ROOT / 'tests/peers/peers.py'))
# as openmpbench_C_v31/common.c prints it (printfooter)
SYNCBENCH = """BARRIER time     = 109.061285 microseconds +/- 368.172
BARRIER overhead = 108.958729 microseconds +/- 368.192552
PARALLEL FOR overhead = 212.486917 microseconds +/- 717.561510
LOCK/UNLOCK overhead = -0.026000 microseconds +/- 1.200000
"""


def data(name):
    return (ROOT / 'tests/data' / name).read_text()


def test_the_table_of_stream_is_read():
    found = PEERS['best_of_stream'](data('thin-likwid.txt') + 'Solution Validates', {})
    assert found['triad'] == pytest.approx(166.6391)


def test_results_that_do_not_validate_are_refused():
    with pytest.raises(Exception, match='do not validate'):
        PEERS['best_of_stream'](data('thin-likwid.txt'), {})


def test_the_rate_of_likwid_bench_is_read():
    found = PEERS['likwid_rate']('copy', data('likwid-bench-copy_avx.txt'), {})
    assert found == {'copy': pytest.approx(23.25203)}


def test_the_kernels_of_likwid_bench_are_those_of_this_cpu():
    found = PEERS['likwid_kernels'](data('likwid-bench-list.txt'), {'sse2', 'avx'})
    assert 'copy_avx' in found and 'stream_sse' in found
    assert not [name for name in found if 'avx512' in name or '_sp' in name or 'triad' in name]


def test_the_times_of_imb_are_read():
    found = PEERS['imb_times'](data('ulysses-imb-0-1.txt'), {})
    assert len(found) == 24 and found['4194304 B'] == pytest.approx(353.96, rel=1e-3)


def test_what_epcc_prints_is_read():
    found = PEERS['epcc_overheads'](SYNCBENCH, {})
    assert found == {'parallel_for': 212.486917, 'barrier': 108.958729, 'lock': -0.026}


def test_a_ratio_is_paired_within_the_round_and_invalid_rounds_have_none():
    comparison = PEERS['Comparison']('x', 'GB/s', None, None)
    rounds = [
        ({'triad': 10.0}, {'triad': 20.0}),
        ({'triad': 40.0}, {'triad': 40.0}),
        ({'triad': 30.0}, {'triad': 30.0}),
        (None, {'triad': 1.0}),
    ]
    (line,) = PEERS['rows'](comparison, rounds)
    assert line[2:] == ['30', '30', 'GB/s', '1.000', '0.500 to 1.000', '1 of 4']
