"""The program with MPI: block, order, records, and what a broken rank leaves behind."""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import pytest
import standin_gcc
from changed_source import flipped_bit, on_rank
from mpi_job import AT_ONCE, DEFECTS, LAUNCHER, SOURCES, lacking
from places import ROOT

from membw.presets import presets

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
TINY = ['-n', '20000', '-t', '4']
LONG = ['-n', '50000', '-t', '1000000']
FOUR = ['n1', 'n2', 'n3', 'n4']


def node_rate(kernel):
    """MB/s of a node of one rank: of all iterations, disturbed ones too, unlike best_mbs."""
    return 1e-6 * kernel['bytes_per_element'] * 20000 / min(kernel['times_s'][1:])


def test_the_summary_block_has_mpi_streams_names_and_its_figures_are_right(mpi_run):
    done = mpi_run('--allow', DEFECTS, *TINY).wait()
    assert done.status == 0 and done.stdout.splitlines()[-1] == 'Verdict: VALID', done.stdout
    records = done.records()
    assert sorted(records) == [0, 1, 2, 3] and {r['ranks'] for r in records.values()} == {4}
    for kernel in ('copy', 'scale', 'add', 'triad'):
        found = done.summary()[kernel.upper()]
        rates = {r['host']: node_rate(r['kernels'][kernel]) for r in records.values()}
        values = list(rates.values())
        median = statistics.median(values)
        expected = {
            'MAX': max(values),
            'MIN': min(values),
            'AVG': statistics.fmean(values),
            'AVG_per_proc': statistics.fmean(values),
            'STDD': statistics.stdev(values),
            'MEDIAN': median,
            'MAD': statistics.median(abs(v - median) for v in values),
        }
        assert {n: v for n, (v, _) in found.items()} == pytest.approx(expected, abs=1e-5)
        assert found['MAX'][1] == max(rates, key=rates.get)
        assert found['MIN'][1] == min(rates, key=rates.get)


def test_nodes_are_sorted_by_bandwidth_and_the_slow_one_is_named(mpi_run):
    timed = 't->times[i] = clock_now() - start;'
    spin = on_rank(1, 'while (clock_now() < start + 0.003) continue;')
    slow = [('stream/measure.c', timed, f'{spin}\n{timed}')]
    done = mpi_run('--allow', DEFECTS, *TINY, changes=slow).wait()
    assert done.status == 0, done.stdout
    rates = [rate for _, rate, _ in done.listed()]
    assert rates == sorted(rates, reverse=True) and len(rates) == 4
    assert done.listed()[-1][0] == 'n2'
    for kernel in ('COPY', 'SCALE', 'ADD', 'TRIAD'):
        assert done.summary()[kernel]['MIN'][1] == 'n2'
    assert '\nSlowest node: n2, Triad ' in done.stdout


def test_a_nodes_rate_is_that_of_its_ranks_in_one_iteration(mpi_run):
    done = mpi_run('--allow', DEFECTS, *TINY, nodes=['n1', 'n1', 'n2', 'n2']).wait()
    records = done.records()
    for node, rate, rest in done.listed():
        times = [
            r['kernels']['triad']['times_s'][1:] for r in records.values() if r['host'] == node
        ]
        best = max(2 * 24 * 20000 / max(pair) / 1e6 for pair in zip(*times))
        assert len(times) == 2 and rest == '2 ranks' and rate == pytest.approx(best, rel=1e-6)
    assert done.summary()['TRIAD']['AVG_per_proc'][0] == pytest.approx(
        done.summary()['TRIAD']['AVG'][0] / 2, abs=1e-5
    )


def test_ranks_of_one_node_alone_are_listed_one_by_one(mpi_run):
    done = mpi_run('--allow', DEFECTS, *TINY, nodes=['n1'] * 3).wait()
    assert sorted(rest for _, _, rest in done.listed()) == ['rank 0', 'rank 1', 'rank 2']
    assert re.search(r'^Slowest rank: \d on n1, ', done.stdout, re.M)


def test_a_flipped_bit_on_one_rank_is_that_ranks_and_the_others_stand(mpi_run):
    flip = flipped_bit(1, 777, 13, rank=2)
    done = mpi_run('--allow', DEFECTS, *TINY, changes=flip).wait()
    records = done.records()
    assert done.status == 1
    assert {r: record['verdict'] for r, record in records.items()} == {
        0: 'VALID', 1: 'VALID', 2: 'INVALID', 3: 'VALID',
    }  # fmt: skip
    wrong = records[2]['validation']['first'][0]
    assert (wrong['array'], wrong['index'], wrong['host']) == ('b', 777, 'n3')
    assert 'invalid: not-validated: n3 (rank 2): 1 elements differ' in done.stdout
    assert done.stdout.splitlines()[-1] == (
        'Verdict: INVALID (not-validated) on 1 of 4 ranks, first n3'
    )
    assert [rest for node, _, rest in done.listed() if node == 'n3'] == ['INVALID: not-validated']
    assert done.summary()['TRIAD']['MIN'][1] != 'n3' != done.summary()['TRIAD']['MAX'][1]
    assert 'Left out of the summary, because INVALID: 1 of 4 nodes' in done.stdout


def test_every_node_short_of_memory_is_named_with_both_figures(mpi_run):
    end = 'return memory_available_smaller_of(outside, group);'
    little = on_rank(2, 'return 104857600;')
    short = [('harness/machine/memory_available.c', end, f'{little}\n\t{end}')]
    done = mpi_run('-m', '204800', changes=short, nodes=['n1', 'n2', 'n3', 'n3'],
                   **AT_ONCE).wait()  # fmt: skip
    assert done.status == 2 and done.records() == {}
    said = [line for line in done.stderr.splitlines() if line.startswith('membw: ')]
    assert len(said) == 1
    # 200 MiB of arrays each, 8 bytes of page tables for each 4096 of them, and 8 MiB beside
    assert '2 processes on node n3 ask 417 MiB together, more than the 100 MiB' in said[0]
    assert "hint: ask for smaller arrays with '-n' or '-m'" in done.stderr


def test_m_is_kib_of_one_process(mpi_run):
    done = mpi_run('-m', '3000', '-t', '2', '--allow', DEFECTS, nodes=['n1', 'n1']).wait()
    assert [r['array_size'] for r in done.records().values()] == [128000, 128000]


@pytest.mark.parametrize(
    'options, said',
    [
        (['--timeout', 'soon'], "invalid value for '--timeout': 'soon'"),
        (['--json', '/no/such/folder/x'], "cannot write '/no/such/folder/x"),
        (['--json', '/dev/null'], "'--json /dev/null' is not a file"),
    ],
)
def test_a_usage_error_is_said_once_with_status_2(mpi_run, options, said):
    done = mpi_run(*TINY, *options, json='--json' not in options, **AT_ONCE).wait()
    assert done.status == 2, done.stderr
    assert done.stderr.count('membw: ') == 1 and said in done.stderr
    assert done.stderr.count('hint: ') == 1


def test_ranks_that_share_cpus_are_told_so_with_the_rank(mpi_run):
    done = mpi_run(*TINY, nodes=['n1', 'n1', 'n1']).wait()
    found = [r['detail'] for r in done.records()[0]['reasons'] if r['reason'] == 'oversubscribed']
    cpus = len(os.sched_getaffinity(0))
    assert bool(found) == (cpus < 3)
    assert not found or 'ranks of this job share CPUs' in found[0]


def test_siblings_are_no_strangers_that_disturb(mpi_run):
    """Two ranks on the same CPUs for a second: their time is the job's own."""
    done = mpi_run('-n', '200000', '-t', '300', nodes=['n1', 'n1']).wait()
    records = done.records()
    alone = max(sum(r['kernels']['triad']['times_s']) for r in records.values())
    own = [r['busy']['own_s'] for r in records.values()]
    # what is counted as our own is that of both, whichever rank counts
    assert own == pytest.approx([max(own)] * 2, rel=0.2) and own[0] > alone


def test_what_an_earlier_job_left_beside_the_file_is_gone(mpi_run, tmp_path):
    for name in ('', '.rank-1', '.rank-7', '.unfinished-2', '.unfinished-7', '.unfinished-all'):
        (tmp_path / f'all.jsonl{name}').write_text('torn')
    done = mpi_run('--allow', DEFECTS, *TINY).wait()
    assert done.status == 0 and sorted(done.records()) == [0, 1, 2, 3]
    assert [path.name for path in tmp_path.glob('all.jsonl*')] == ['all.jsonl']


def test_one_process_of_the_mpi_build_is_the_plain_program(mpi_build, tmp_path):
    path = tmp_path / 'one.json'
    done = subprocess.run(
        [mpi_build(), *TINY, '--allow', DEFECTS, '--json', path],
        env={**os.environ, **LAUNCHER},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and 'SUMMARY' not in done.stdout
    assert json.loads(path.read_text())['ranks'] == 1


def path_of_quick_gcc(folder):
    return f'{standin_gcc.put_up(folder / "tools")}:{os.environ["PATH"]}'


def test_make_builds_it_by_the_presets_line_and_what_mpicc_adds(tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', path_of_quick_gcc(tmp_path))
    line = ['make', '-C', 'src/stream', f'PYTHON={sys.executable}', 'PRESET=gcc-o3', 'MPI=1']
    done = subprocess.run(
        [*line, f'BUILD={tmp_path}'], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / 'stream.json').read_text())
    before, after = presets.mpi_added('mpicc')
    assert found['compile_line'] == [
        *'gcc -O3 -fopenmp'.split(),
        *before,
        *(pathlib.Path(source).name for source in SOURCES),
        '-o',
        f'{tmp_path}/stream',
        *after,
    ]
    assert found['mpi'] == 'mpicc' and '-lmpi' in after and before[0] == '-DMEMBW_MPI'
    again = subprocess.run([*line, f'BUILD={tmp_path}'], cwd=ROOT, capture_output=True, text=True)
    assert 'Nothing to be done' in again.stdout


def test_make_without_an_mpi_says_so_and_builds_nothing(tmp_path):
    line = ['make', '-C', 'src/stream', f'PYTHON={sys.executable}', 'MPI=1', 'MPICC=no-mpicc']
    done = subprocess.run([*line, f'BUILD={tmp_path}'], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "membw: no 'no-mpicc' on the PATH\nhint: " in done.stderr
    assert not (tmp_path / 'stream').exists()


def test_reframe_builds_it_for_environments_that_have_an_mpi(tmp_path, call):
    check = tmp_path / 'mpi_check.py'
    check.write_text(
        'import reframe as rfm\n'
        'import reframe.utility.sanity as sn\n'
        'from reframe.core.builtins import run_before, sanity_function\n'
        'from lib.binaries import built\n'
        '@rfm.simple_test\n'
        'class asks_for_mpi(rfm.RunOnlyRegressionTest):\n'
        "    valid_systems = ['*']\n"
        "    valid_prog_environs = ['+preset +mpi +scan']\n"
        "    binary = built('stream', mpi=True)\n"
        "    @run_before('run')\n"
        '    def take_it(self):\n'
        "        self.executable, self.executable_opts = self.binary.path, ['--help']\n"
        '    @sanity_function\n'
        '    def is_of_mpi(self):\n'
        "        return sn.assert_found('--timeout', self.stdout)\n"
    )
    words = ['-c', check, '--prefix', tmp_path, '--system', 'local', '-r']
    done = call('reframe', *words, PYTHONPATH=ROOT / 'reframe-checks',
                PATH=path_of_quick_gcc(tmp_path))  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert 'stream_mpi_binary' in done.stdout and 'Ran 2/2 test case(s)' in done.stdout
