"""Work on all cores: the same answers in the same order, and nothing left behind."""

import os
import signal
import time

import pytest

from membw import processes
from membw.errors import MembwError


@pytest.fixture(autouse=True)
def three_cores(monkeypatch):
    monkeypatch.setattr(processes.os, 'sched_getaffinity', lambda _: {0, 1, 2})


def children():
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None


@pytest.mark.parametrize('at_once', [2, 3, 20])
def test_answers_come_in_the_order_of_the_questions(at_once):
    def work(n):
        time.sleep(0.02 * (n % 3 == 0))
        return n * n, os.getpid()

    squares, pids = zip(*processes.each(work, range(9), at_once), strict=True)
    assert squares == tuple(n * n for n in range(9))
    assert len(set(pids)) == 9 and os.getpid() not in pids
    assert children() is None


def test_an_answer_may_be_longer_than_a_pipe_holds():
    assert processes.each(lambda n: bytes(n << 20), [1, 2], 2) == [bytes(1 << 20), bytes(2 << 20)]


@pytest.mark.parametrize('what, at_once', [([1], 3), ([1, 2], 1)])
def test_one_piece_of_work_is_done_here(what, at_once):
    assert set(processes.each(lambda _: os.getpid(), what, at_once)) == {os.getpid()}


def test_one_core_does_all_here(monkeypatch):
    monkeypatch.setattr(processes.os, 'sched_getaffinity', lambda _: {5})
    assert processes.each(lambda _: os.getpid(), [1, 2], 2) == 2 * [os.getpid()]
    with processes.Beside(lambda _: os.getpid(), 0) as beside:
        assert beside.result() == os.getpid()


def test_what_a_process_hands_out_in_turn_it_does_itself():
    def work(_):
        return os.getpid(), processes.each(lambda _: os.getpid(), range(3), 3)

    assert all(inner == 3 * [own] for own, inner in processes.each(work, range(2), 2))


def test_an_error_is_raised_here_and_the_others_are_ended():
    def work(n):
        if n == 1:
            raise MembwError('no room', 'make some')
        time.sleep(60 * n)

    begun = time.monotonic()
    with pytest.raises(MembwError, match='no room') as caught:
        processes.each(work, range(3), 3)
    assert caught.value.hint == 'make some'
    assert time.monotonic() - begun < 30 and children() is None


def test_a_process_that_is_killed_is_told():
    with pytest.raises(MembwError, match='a process of ours ended with -9'):
        processes.each(lambda _: os.kill(os.getpid(), signal.SIGKILL), range(2), 2)
    assert children() is None


def test_what_waits_is_done_once_while_others_work():
    order = []
    processes.aside.append(lambda: order.append(os.getpid()))
    processes.each(lambda _: time.sleep(0.01), range(3), 3)
    processes.each(lambda _: None, range(3), 3)
    assert order == [os.getpid()]


def test_a_process_that_is_ended_tidies_up(tmp_path):
    def work(file):
        file.touch()
        try:
            time.sleep(60)
        finally:
            file.unlink()

    file = tmp_path / 'part'
    with processes.Beside(work, file):
        while not file.exists():
            time.sleep(0.01)
    assert not file.exists() and children() is None
