"""A rank that dies, hangs or is told to end takes nothing along that the others measured."""

import re
import signal

import pytest
from mpi_job import DEFECTS, lacking

pytestmark = pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
LONG = ['-n', '50000', '-t', '1000000', '--allow', DEFECTS]


def test_a_rank_killed_in_mid_run_is_named_and_the_other_records_are_on_disk(mpi_run, call):
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
    ranking = call('membw', 'rank', running.json.parent, '--expected', 'n[1-4]')
    assert re.search(r'n3\b.*MISSING', ranking.stdout), ranking.stdout + ranking.stderr
    assert '1 MISSING' in ranking.stdout


def test_a_job_that_is_terminated_saves_what_it_has(mpi_run):
    running = mpi_run(*LONG).until_measuring(4)
    for rank in range(4):
        running.hit(rank, signal.SIGTERM)
    done = running.wait()
    assert done.status == 1 and sorted(done.records()) == [0, 1, 2, 3]
    assert done.stdout.splitlines()[-1] == 'Verdict: INVALID (incomplete)'


def test_a_rank_that_is_stopped_is_given_up_and_the_records_of_the_rest_are_kept(mpi_run):
    running = mpi_run(*LONG, '--timeout', '1').until_measuring(4)
    running.stop(1)
    done = running.wait()
    assert done.status != 0
    assert re.search(r'rank [023] on n\d: gave up: another rank did not come', done.stderr)
    assert {0, 2, 3} <= done.records().keys()
