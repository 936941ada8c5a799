"""Processes that srun starts in one step, without MPI: each keeps a record of its own."""

import json
import os
import subprocess

import pytest
from changed_source import SHORT_LOOKS
from mpi_job import DEFECTS
from record_schema import check


@pytest.fixture
def start(build_program, tmp_path):
    """start(rank, count): as srun starts it on node n1, n2, ..."""

    def of(rank, count):
        step = {'SLURM_STEP_NUM_TASKS': str(count), 'SLURM_PROCID': str(rank)}
        step |= {'SLURMD_NODENAME': f'n{rank + 1}'}
        program = build_program('stream', changes=[SHORT_LOOKS])
        words = [program, '-n', '20000', '-t', '3', '--allow', DEFECTS]
        words += ['--json', tmp_path / 'all.jsonl']
        return subprocess.run(words, env=os.environ | step, capture_output=True, text=True)

    return of


def test_each_process_writes_its_own_record_and_rank_names_who_is_missing(start, tmp_path, call):
    for rank in (0, 1, 3):
        assert start(rank, 4).returncode == 0
    names = [f'all.jsonl.rank-{rank}' for rank in (0, 1, 3)]
    assert sorted(path.name for path in tmp_path.glob('all.jsonl*')) == names
    records = [check(json.loads((tmp_path / name).read_text())) for name in names]
    told = [(r['rank'], r['ranks'], r['host']) for r in records]
    assert told == [(0, 4, 'n1'), (1, 4, 'n2'), (3, 4, 'n4')]
    ranking = call('membw', 'rank', tmp_path, '--expected', 'n[1-4]')
    assert 'n3 MISSING (no record)' in ranking.stdout


def test_what_an_earlier_job_left_is_not_taken_for_this_one(start, tmp_path):
    for name in ('all.jsonl', 'all.jsonl.rank-0'):
        (tmp_path / name).write_text('torn')
    start(0, 2)
    assert [path.name for path in tmp_path.glob('all.jsonl*')] == ['all.jsonl.rank-0']
    assert json.loads((tmp_path / 'all.jsonl.rank-0').read_text())['host'] == 'n1'


def test_one_process_in_a_step_writes_the_file_itself_under_slurms_name(start, tmp_path):
    assert start(0, 1).returncode == 0
    assert json.loads((tmp_path / 'all.jsonl').read_text())['host'] == 'n1'
