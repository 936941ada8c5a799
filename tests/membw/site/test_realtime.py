"""`membw run --realtime`: the job asks for it, and who may not is told before anything runs."""

import pytest

from membw.errors import MembwError
from membw.site import realtime


def test_the_program_is_started_by_real_time_priority_before_it_is_pinned(call, tmp_path):
    line = ['-n', 'stream%pinning=numactl$', '-p', '^gcc-o2$', *realtime.WORDS]
    kept = ['--dry-run', '--stage', tmp_path, '--keep-stage-files']
    done = call('reframe', '-c', 'reframe-checks/stream.py', *kept, *line)
    assert done.returncode == 0, done.stdout
    (script,) = tmp_path.rglob('stream_????????/rfm_job.sh')
    command = next(ln for ln in script.read_text().splitlines() if 'record.json' in ln)
    assert command.startswith('chrt --fifo 1 numactl ')
    assert 'command -v chrt' in script.read_text()


def test_who_may_not_is_refused_here_and_on_a_cluster_the_job_finds_out(monkeypatch):
    monkeypatch.setattr(realtime, 'COMMAND', ['false'])
    with pytest.raises(MembwError, match='real-time priority is not permitted here'):
        realtime.words(True, is_local=True)
    assert realtime.words(True, is_local=False) == realtime.WORDS
    assert realtime.words(False, is_local=True) == []
    monkeypatch.setattr(realtime, 'COMMAND', ['/no/chrt'])
    assert not realtime.permitted()
