"""What a check says of a program that left no record."""

import types

import pytest
from lib.batch_job import never_begun
from lib.measurement import measurement
from reframe.core.exceptions import SanityError

KILLED = 'the program was killed, perhaps as memory ran out'
SAID = [
    (
        '/stage/rfm_job.sh: line 5: 30092 Killed                  /bin/stream --json record.json',
        KILLED,
    ),
    (
        'slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have '
        'been OOM Killed.\nsrun: error: n1: task 0: Out Of Memory',
        KILLED,
    ),
    ("warm-up\nmembw: no file 'x'", "membw: no file 'x'"),
    ('srun: error: n1: task 0: Exited with exit code 2', 'srun: error: n1'),
    ('-----\n\nThere are not enough slots available', 'There are not'),
    ('', 'it printed nothing'),
]


@pytest.mark.parametrize('stderr, shown', SAID)
def test_the_reason_is_shown(tmp_path, stderr, shown):
    (tmp_path / 'err').write_text(stderr)
    check = types.SimpleNamespace(stagedir=tmp_path, own_job=types.SimpleNamespace(stderr='err'))
    assert measurement.last_words(check).startswith(shown)


@pytest.mark.parametrize(
    'limit, said',
    [
        (
            15.0,
            'job 7 waited for 15 s (max_pending_time) and was cancelled before it started: '
            'Nodes down',
        ),
        (None, 'job 7 waited and was cancelled before it started: Nodes down'),
    ],
)
def test_a_job_that_never_began_is_reported_as_that(tmp_path, monkeypatch, limit, said):
    """It was FAIL, as no file of its output was found."""
    (tmp_path / 'scontrol').write_text('#!/bin/sh\necho "JobId=$5 Reason=Nodes_down Dependency=x"')
    (tmp_path / 'scontrol').chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=':')
    job = types.SimpleNamespace(jobid='7', stdout='out', max_pending_time=limit)
    assert never_begun(job, 'squeue') == said
    assert never_begun(job, 'pbs') == said.removesuffix(': Nodes down')
    part = types.SimpleNamespace(scheduler=types.SimpleNamespace(registered_name='squeue'))
    check = types.SimpleNamespace(
        stagedir=tmp_path, job=job, own_job=job, is_dry_run=lambda: False, current_partition=part
    )
    with pytest.raises(SanityError, match='not measured, no record: job 7 waited'):
        measurement.skip_what_the_node_lacks(check)
