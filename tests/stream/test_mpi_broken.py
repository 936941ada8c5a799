"""A rank that dies, hangs or is told to end takes nothing along that the others measured."""

import re
import signal

import pytest
from mpi_job import DEFECTS, lacking

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
LONG = ['-n', '50000', '-t', '1000000', '--allow', DEFECTS]


def test_a_rank_killed_in_mid_run_is_named_and_the_others_records_are_on_disk(mpi_run, call):
    running = mpi_run(*LONG).until_measuring(4)
    running.kill(2)
    done = running.wait()
    assert done.status != 0
    records = done.records()
    assert sorted(records) == [0, 1, 3]
    for record in records.values():
        assert 2 <= record['iterations'] < 1000000 and not record['complete']
        assert record['validation']['ok'] is True and record['verdict'] == 'VALID'
    assert '\nRank 0 alone, ' in done.stdout
    assert done.stdout.splitlines()[-1] == 'Verdict: INVALID (incomplete)'
    ranking = call('membw', 'rank', running.json.parent, '--nodes', 'n[1-4]')
    assert re.search(r'n3\b.*MISSING', ranking.stdout), ranking.stdout + ranking.stderr
    assert '1 MISSING' in ranking.stdout


def test_rank_0_dies_and_the_others_records_are_on_disk_all_the_same(mpi_run):
    running = mpi_run(*LONG).until_measuring(4)
    running.kill(0)
    done = running.wait()
    assert done.status != 0 and sorted(done.records()) == [1, 2, 3]
    assert not running.ranks()


def test_the_whole_job_told_to_end_saves_what_it_has(mpi_run):
    running = mpi_run(*LONG).until_measuring(4)
    for rank in range(4):
        running.hit(rank, signal.SIGTERM)
    done = running.wait()
    assert done.status == 1 and sorted(done.records()) == [0, 1, 2, 3]
    assert done.stdout.splitlines()[-1] == 'Verdict: INVALID (incomplete)'


def test_a_rank_whose_kernel_does_not_end_is_given_up_and_named(mpi_run, call):
    stuck = ('-DMEMBW_PLANT_RANK=1', '-DMEMBW_PLANT_STUCK=5')
    done = mpi_run(*LONG, '--timeout', '1', flags=stuck).wait()
    assert done.status == 1, done.stderr
    assert re.search(r'rank [023] on n\d: gave up: another rank did not come', done.stderr)
    records = done.records()
    assert {r: record['iterations'] for r, record in records.items()} == {0: 5, 2: 5, 3: 5}
    ranking = call('membw', 'rank', done.json.parent, '--nodes', 'n[1-4]')
    assert re.search(r'n2\b.*MISSING', ranking.stdout), ranking.stdout + ranking.stderr


def test_rank_0_stuck_in_a_kernel_is_ended_and_named_by_its_own_timer(mpi_run):
    stuck = ('-DMEMBW_PLANT_RANK=0', '-DMEMBW_PLANT_STUCK=5')
    done = mpi_run(*LONG, '--timeout', '1', flags=stuck).wait()
    assert done.status == 1 and sorted(done.records()) == [1, 2, 3]
    assert re.search(
        r'membw: rank [123] on n\d: gave up: another rank did not come in time\n'
        r"hint: who answered has a record of its own: 'membw rank --nodes' names",
        done.stderr,
    )
