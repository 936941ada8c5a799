"""Work on all cores, by processes that begin as copies of this one: what they are handed costs
nothing. Threads would take turns: numpy lets go of Python's lock, and waits for it again, some
thousand times per second."""

import os
import pickle
import signal
import sys
from collections import deque
from contextlib import ExitStack

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
        self.pid = None
        if cores() < 2:
            self.done = work(x)
            return
        sys.stdout.flush()
        answer, its_end = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(answer)
            _do(work, x, its_end)
        os.close(its_end)
        self.answer = open(answer, 'rb')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            self.answer.close()
            os.kill(self.pid, signal.SIGTERM)
            os.waitpid(self.pid, 0)

    def result(self):
        if not self.pid:
            return self.done
        with self.answer:
            answer = self.answer.read()
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = None
        if status:
            raise MembwError(f'a process of ours ended with {status}', 'is there room in memory?')
        is_fine, self.done = pickle.loads(answer)
        if not is_fine:
            raise self.done
        return self.done


def _do(work, x, end):
    """In the new process, and to its end: nothing of what its copy of the caller has open is
    flushed or removed. What ends it lets `work` tidy up."""
    global is_beside
    is_beside = True
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler)
    try:
        result = pickle.dumps((True, work(x)), pickle.HIGHEST_PROTOCOL)
    except BaseException as err:
        result = pickle.dumps((False, err), pickle.HIGHEST_PROTOCOL)
    try:
        with open(end, 'wb') as pipe:
            pipe.write(result)
    finally:  # nobody may be there to read it
        os._exit(0)
