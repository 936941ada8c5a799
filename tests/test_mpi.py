"""The program with MPI: block, order, records, and what a broken rank leaves behind."""

import statistics

import pytest
from mpi_job import DEFECTS, Job, build, lacking

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
TINY = ['-n', '20000', '-t', '4']
LONG = ['-n', '50000', '-t', '1000000']
FOUR = ['n1', 'n2', 'n3', 'n4']


@pytest.fixture(scope='session')
def program(tmp_path_factory):
    """program('-D...'): the MPI variant with these faults, built once."""
    built = {}

    def of(*flags):
        if flags not in built:
            built[flags] = build(tmp_path_factory.mktemp('mpi') / 'stream', *flags)
        return built[flags]

    return of


@pytest.fixture
def job(tmp_path, program):
    def start(*options, nodes=FOUR, flags=(), **more):
        return Job(tmp_path, program(*flags), nodes, *options, **more)

    return start


def test_the_summary_block_has_mpi_streams_names_and_its_figures_are_right(job):
    done = job('--allow', DEFECTS, *TINY).wait()
    assert done.status == 0 and done.stdout.splitlines()[-1] == 'Verdict: VALID', done.stdout
    records = done.records()
    assert sorted(records) == [0, 1, 2, 3] and {r['ranks'] for r in records.values()} == {4}
    for kernel in ('copy', 'scale', 'add', 'triad'):
        found = done.summary()[kernel.upper()]
        rates = {r['host']: r['kernels'][kernel]['best_mbs'] for r in records.values()}
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


def test_a_rank_killed_in_mid_run_is_named_and_the_others_records_are_on_disk(job):
    running = job(*LONG, '--allow', DEFECTS).until_measuring(4)
    running.kill(2)
    done = running.wait(30)
    assert done.status != 0
    records = done.records()
    assert sorted(records) == [0, 1, 3]
    for record in records.values():
        assert 2 <= record['iterations'] < 1000000 and not record['complete']
        assert record['validation']['ok'] is True and record['verdict'] == 'VALID'
    assert 'missing: 1 of 4 ranks: n3 (rank 2)\n' in done.stdout
    assert "no result of '1' of 4 ranks: n3 (rank 2)\n" in done.stderr
    assert done.stdout.splitlines()[-1] == 'Verdict: INVALID (incomplete) on n3'


def test_a_rank_that_hangs_is_given_up_at_the_time_limit(job):
    running = job(*LONG, '--allow', DEFECTS, '--timeout', '2').until_measuring(4)
    running.stop(3)
    done = running.wait(30)
    assert done.status == 1
    assert {0, 1, 2} <= set(done.records())
    assert len(done.json.read_text().splitlines()) == 3
    assert 'missing: 1 of 4 ranks: n4 (rank 3)\n' in done.stdout
