"""The program with MPI: the block of MPI_STREAM, the order of the nodes, records, usage errors."""

import os
import re
import statistics
import subprocess

import pytest
from changed_source import flipped_bit, on_rank
from mpi_job import AT_ONCE, DEFECTS, LAUNCHER, lacking

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
TINY = ['-n', '20000', '-t', '4']
# node6201 to node6204, 128 threads each: as published in the README of CEA's MPI_STREAM
CEA = (336870.222291, 336899.087888, 336828.994303, 336809.300049)


def test_the_block_of_ceas_four_nodes_is_the_published_one(build_program):
    words = [build_program('tests/probes/cluster_block.c'), *map(str, CEA)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    block = text.partition('SUMMARY====')[2]
    for line in (
        'TRIAD_MAX          = 336899.087888\t\t MB/s on node6202',
        'TRIAD_MIN          = 336809.300049\t\t MB/s on node6204',
        'TRIAD_AVG          = 336851.901133\t\t MB/s',
        'TRIAD_AVG_per_proc = 2631.655478\t\t MB/s',
    ):
        assert f'\n{line}\n' in block
    # published as ...064, of rates that were not rounded
    deviation = float(re.search(r'TRIAD_STDD +=\s+([\d.]+)', block)[1])
    assert deviation == pytest.approx(40.422064, abs=2e-6)
    listed = text.partition('Triad Rate (MB/s):\n')[2].partition('\n\n')[0].splitlines()
    assert [row.split()[0] for row in listed] == ['node6202', 'node6201', 'node6203', 'node6204']
    assert '\nSlowest node: node6204, Triad 336809.3 MB/s, ' in text


def node_rate(kernel):
    """MB/s of a node of one rank: of all iterations, disturbed ones too, unlike best_mbs."""
    return 1e-6 * kernel['bytes_per_element'] * 20000 / min(kernel['times_s'][1:])


def test_the_summary_is_that_of_the_records(mpi_run):
    done = mpi_run('--allow', DEFECTS, *TINY).wait()
    assert done.status == 0 and done.stdout.splitlines()[-1] == 'Verdict: VALID', done.stdout
    records = done.records()
    assert sorted(records) == [0, 1, 2, 3] and {r['ranks'] for r in records.values()} == {4}
    for kernel in ('copy', 'scale', 'add', 'triad'):
        found = done.summary()[kernel.upper()]
        rates = {r['host']: node_rate(r['kernels'][kernel]) for r in records.values()}
        assert found['MEDIAN'][0] == pytest.approx(statistics.median(rates.values()), abs=1e-5)
        assert found['MAX'] == (pytest.approx(max(rates.values())), max(rates, key=rates.get))
        assert found['MIN'] == (pytest.approx(min(rates.values())), min(rates, key=rates.get))


def test_nodes_are_sorted_by_bandwidth_and_the_slow_one_is_named(mpi_run):
    timed = 't->times[i] = clock_now() - start;'
    spin = on_rank(1, 'while (clock_now() < start + 0.003) continue;')
    slow = [('stream/measure.c', timed, f'{spin}\n{timed}')]
    done = mpi_run('--allow', DEFECTS, *TINY, changes=slow).wait()
    assert done.status == 0, done.stdout
    rates = [rate for _, rate, _ in done.listed()]
    assert rates == sorted(rates, reverse=True) and len(rates) == 4
    assert done.listed()[-1][0] == 'n2' == done.summary()['TRIAD']['MIN'][1]
    assert '\nSlowest node: n2, Triad ' in done.stdout


def test_a_nodes_rate_is_that_of_its_ranks_in_one_iteration(mpi_run):
    done = mpi_run('--allow', DEFECTS, *TINY, nodes=['n1', 'n1', 'n2', 'n2']).wait()
    records = done.records()
    for node, rate, rest in done.listed():
        of_node = [r for r in records.values() if r['host'] == node]
        times = [r['kernels']['triad']['times_s'][1:] for r in of_node]
        best = max(2 * 24 * 20000 / max(pair) / 1e6 for pair in zip(*times))
        assert len(times) == 2 and rest == '2 ranks' and rate == pytest.approx(best, rel=1e-6)


def test_a_flipped_bit_on_one_rank_makes_this_rank_alone_invalid(mpi_run):
    done = mpi_run('--allow', DEFECTS, *TINY, changes=flipped_bit(1, 777, 13, rank=2)).wait()
    records = done.records()
    assert done.status == 1
    assert [r for r, record in records.items() if record['verdict'] == 'INVALID'] == [2]
    wrong = records[2]['validation']['first'][0]
    assert (wrong['array'], wrong['index'], wrong['host']) == ('b', 777, 'n3')
    last = done.stdout.splitlines()[-1]
    assert last == 'Verdict: INVALID (not-validated) on 1 of 4 ranks, first n3'
    assert done.summary()['TRIAD']['MIN'][1] != 'n3' != done.summary()['TRIAD']['MAX'][1]


def test_a_node_short_of_memory_is_named_with_both_figures(mpi_run):
    end = 'memory_available_source = "";\n\tfor ('
    little = on_rank(2, 'return 104857600;')
    short = [('harness/machine/memory_available.c', end, f'{little}\n\t{end}')]
    nodes = ['n1', 'n2', 'n3', 'n3']
    done = mpi_run('-m', '204800', changes=short, nodes=nodes, **AT_ONCE).wait()
    assert done.status == 2 and done.records() == {}
    (said,) = [line for line in done.stderr.splitlines() if line.startswith('membw: ')]
    # 200 MiB of arrays each, 8 bytes of page tables for each 4096 of them, and 8 MiB beside
    assert '2 processes on node n3 need 417 MiB together, more than the 100 MiB' in said
    assert "hint: use smaller arrays with '-n' or '-m'" in done.stderr


@pytest.mark.parametrize('options, said', [
    (['--timeout', 'soon'], "invalid value for '--timeout': 'soon'"),
    (['--json', '/no/such/folder/x'], "cannot write '/no/such/folder/x"),
])  # fmt: skip
def test_a_usage_error_is_said_once_with_status_2(mpi_run, options, said):
    done = mpi_run(*TINY, *options, json='--json' not in options, **AT_ONCE).wait()
    assert done.status == 2, done.stderr
    assert done.stderr.count('membw: ') == 1 and said in done.stderr
    assert done.stderr.count('hint: ') == 1


def test_ranks_that_share_cpus_are_oversubscribed(mpi_run):
    done = mpi_run(*TINY, nodes=['n1', 'n1', 'n1']).wait()
    found = [r['detail'] for r in done.records()[0]['reasons'] if r['reason'] == 'oversubscribed']
    assert bool(found) == (len(os.sched_getaffinity(0)) < 3)
    assert not found or 'ranks of this job share CPUs' in found[0]


def test_one_process_of_the_mpi_build_is_the_plain_program(mpi_build, run_program):
    status, said, record = run_program(mpi_build(), *TINY, '--allow', DEFECTS, **LAUNCHER)
    assert (status, record['ranks']) == (0, 1) and 'SUMMARY' not in said
