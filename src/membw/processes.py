"""Work on all cores, by processes that begin as copies of this one: what they are handed costs
nothing. Threads would take turns: numpy lets go of Python's lock, and waits for it again, some
thousand times per second."""

import os
import signal
from collections import deque
from contextlib import ExitStack, suppress

from membw.errors import MembwError
from membw.interruption import SIGNALS

MOST = 16  # others use a login node, too
aside = []  # functions: what this process may do once, while others work


is_beside = False  # this process is one of several


def cores():
    """That this process may use by further ones."""
    return 1 if is_beside else min(MOST, len(os.sched_getaffinity(0)))


def each(work, what, at_once):
    """[work(x) for x in what], by so many processes at a time.

    What `work` returns or raises is pickled; what else it does is lost with its process. There
    must be no other thread that may hold a lock by now. What such a process hands out in turn it
    does itself.
    """
    what, results = list(what), []
    if min(len(what), at_once, cores()) < 2:
        return [work(x) for x in what]
    with ExitStack() as stack:
        running = deque()
        for x in what:
            if len(running) == at_once:
                results.append(running.popleft().result())
            running.append(stack.enter_context(Beside(work, x)))
        while aside:
            aside.pop()()
        return results + [process.result() for process in running]


class Beside:
    """work(x) by another process, while this one goes on; ended with the context. By this one, at
    once, where there is but one core."""

    def __init__(self, work, x):
        self.process = None
        if cores() < 2:
            self.done = work(x)
            return
        from multiprocessing import get_context  # takes 15 ms: not for short work

        fork = get_context('fork')
        self.answer, its_end = fork.Pipe(duplex=False)
        self.process = fork.Process(target=_do, args=(work, x, its_end), daemon=True)
        self.process.start()
        its_end.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process:
            self.answer.close()
            self.process.terminate()
            self.process.join()

    def result(self):
        if not self.process:
            return self.done
        try:
            is_fine, self.done = self.answer.recv()
        except EOFError:
            self.process.join()
            ended = f'a process of ours ended with {self.process.exitcode}'
            raise MembwError(ended, 'is there room in memory?') from None
        self.process.join()
        if not is_fine:
            raise self.done
        return self.done


def _do(work, x, end):
    """In the new process. What ends it lets `work` tidy up."""
    global is_beside
    is_beside = True
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler)
    try:
        answer = True, work(x)
    except BaseException as err:
        answer = False, err
    with suppress(BrokenPipeError):  # nobody may be there to read it
        end.send(answer)
