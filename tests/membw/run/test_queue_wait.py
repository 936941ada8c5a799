"""A session that waits for a queue says so."""

import contextlib
import time

from membw.run import queue_wait

DOWN = 'Nodes required for job are DOWN, DRAINED or reserved'


def test_each_reason_is_told_once():
    first = {'7': DOWN, '8': DOWN}
    assert list(queue_wait.lines(first, {})) == [f'job 7, 8 waits in the queue: {DOWN}']
    assert list(queue_wait.lines(first, first)) == []
    assert list(queue_wait.lines({'7': 'Priority'}, first)) == [
        'job 7 waits in the queue: Priority'
    ]


def test_a_silent_session_tells_what_it_waits_for(tmp_path, monkeypatch, capsys):
    """All nodes were down, and nothing was said until somebody ended it."""
    squeue = tmp_path / 'squeue'
    squeue.write_text(f'#!/bin/sh\necho "7|rfm_stream|{DOWN}"\necho "9|mine|Priority"\n')
    squeue.chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=':')
    monkeypatch.setattr(queue_wait, 'LOOK_S', 0.02)
    with queue_wait.told([{'scheduler': 'squeue'}]):
        until, err = time.monotonic() + 20, ''
        while 'hint: ' not in err and time.monotonic() < until:
            time.sleep(0.02)
            err += capsys.readouterr().err
    assert err.startswith(f'job 7 waits in the queue: {DOWN}\nhint: ') and 'job 9' not in err
    assert 'max_pending_time' in err


def test_a_node_of_ones_own_has_no_queue(monkeypatch):
    monkeypatch.setattr(queue_wait, 'tell', None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(queue_wait.told([{'scheduler': 'local'}]))
