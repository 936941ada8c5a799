"""A rank that dies, hangs or is told to end takes nothing along that the others measured."""

import re
import signal
import time

import pytest
from mpi_job import DEFECTS, lacking

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
LONG = ['-n', '50000', '-t', '1000000']


def test_a_rank_killed_in_mid_run_is_named_and_the_others_records_are_on_disk(mpi_run):
    running = mpi_run(*LONG, '--allow', DEFECTS).until_measuring(4)
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


def test_a_rank_that_hangs_is_given_up_at_the_time_limit(mpi_run):
    running = mpi_run(*LONG, '--allow', DEFECTS, '--timeout', '2').until_measuring(4)
    running.stop(3)
    done = running.wait(30)
    assert done.status == 1
    assert {0, 1, 2} <= set(done.records())
    assert len(done.json.read_text().splitlines()) == 3
    assert 'missing: 1 of 4 ranks: n4 (rank 3)\n' in done.stdout


def test_rank_0_dies_and_the_others_records_are_on_disk_all_the_same(mpi_run):
    running = mpi_run(*LONG, '--allow', DEFECTS).until_measuring(4)
    running.kill(0)
    done = running.wait(30)
    assert done.status != 0 and sorted(done.records()) == [1, 2, 3]
    assert not running.ranks()


def test_rank_0_hangs_and_the_others_end_by_themselves(mpi_run):
    running = mpi_run(*LONG, '--allow', DEFECTS, '--timeout', '1').until_measuring(4)
    running.stop(0)
    done = running.wait(40)
    # whoever ends last may be killed while it writes: that shows in no file that is read
    assert done.status == 1 and {1, 2, 3} <= set(done.records())


def test_the_whole_job_told_to_end_saves_what_it_has(mpi_run):
    running = mpi_run(*LONG, '--allow', DEFECTS).until_measuring(4)
    for rank in range(4):
        running.hit(rank, signal.SIGTERM)
    done = running.wait(30)
    assert done.status == 1 and sorted(done.records()) == [0, 1, 2, 3]
    assert done.stdout.splitlines()[-1] == 'Verdict: INVALID (incomplete)'


def test_a_signal_in_a_kernel_that_does_not_end_saves_the_complete_iterations(mpi_run):
    """The main threads do not come round: the guard's threads must do it."""
    stuck = ('-DMEMBW_PLANT_STUCK=5',)
    running = mpi_run(*LONG, '--allow', DEFECTS, flags=stuck).until_measuring(4)
    for rank in range(4):
        running.hit(rank, signal.SIGTERM)
    time.sleep(1)
    running.kill_all()
    records = running.wait(30).records()
    assert sorted(records) == [0, 1, 2, 3]
    for record in records.values():
        assert record['iterations'] == 5 and record['validation']['ok'] is None
        assert [r['reason'] for r in record['reasons'] if not r['allowed']] == ['not-validated']


def test_a_rank_whose_kernel_does_not_end_is_given_up(mpi_run):
    stuck = ('-DMEMBW_PLANT_RANK=1', '-DMEMBW_PLANT_STUCK=5')
    done = mpi_run(*LONG, '--allow', DEFECTS, '--timeout', '2', flags=stuck).wait(30)
    assert done.status == 1 and 'missing: 1 of 4 ranks: n2 (rank 1)\n' in done.stdout
    records = done.records()
    assert {0, 2, 3} <= set(records) and {r['iterations'] for r in records.values()} == {5}


def test_a_fleet_in_one_job_is_ranked_and_the_rescued_records_count(mpi_run, call):
    running = mpi_run(*LONG, '--allow', DEFECTS).until_measuring(4)
    running.kill(2)
    running.wait(30)
    told = call('membw', 'rank', running.json.parent, '--nodes', 'n[1-4]')
    assert re.search(r'n3\b.*MISSING', told.stdout), told.stdout + told.stderr
    assert all(node in told.stdout for node in ('n1', 'n2', 'n4')) or '4 nodes' in told.stdout
