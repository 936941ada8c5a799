"""What a check says of a program that left no record."""

import types

import pytest
from lib.measurement import measurement

KILLED = 'the program was killed, as the kernel does where memory runs out'
SAID = [
    ('/stage/rfm_job.sh: line 5: 30092 Killed                  /bin/stream --json record.json',
     KILLED),
    ('slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have '
     'been OOM Killed.\nsrun: error: n1: task 0: Out Of Memory', KILLED),
    ('warm-up\nmembw: no file \'x\'', "membw: no file 'x'"),
    ('srun: error: n1: task 0: Exited with exit code 2', 'srun: error: n1'),
    ('-----\n\nThere are not enough slots available', 'There are not'),
    ('', 'it said nothing'),
]  # fmt: skip


@pytest.mark.parametrize('stderr, told', SAID)
def test_the_reason_is_told(tmp_path, stderr, told):
    (tmp_path / 'err').write_text(stderr)
    check = types.SimpleNamespace(stagedir=tmp_path, job=types.SimpleNamespace(stderr='err'))
    assert measurement.last_words(check).startswith(told)
