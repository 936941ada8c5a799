"""Ctrl-C, `kill`, `timeout`, a CI that cancels, a terminal that closes: what a command started
ends with it."""

import contextlib
import os
import signal
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# longest waits after each: a busy machine takes its time with the second, too
ENDING = (signal.SIGTERM, 1.0), (signal.SIGKILL, 10.0)


class Heeded:
    """Which signal came, and what ran at that moment: {(process, its start in ticks)}."""

    number, started, came = signal.SIGINT, frozenset(), False

    def hear(self, number, _frame):
        self.came = True
        self.number = signal.Signals(number)
        self.started |= descendants(os.getpid())
        # no subclass: subprocess waits without a limit for a child at any other exception
        raise KeyboardInterrupt

    def status(self):
        """As a shell says of a command that a signal ended."""
        return 128 + self.number

    def word(self):
        interrupted = self.number == signal.SIGINT
        return 'interrupted' if interrupted else f'ended by {self.number.name}'


@contextlib.contextmanager
def heeded():
    """Each of SIGNALS is a KeyboardInterrupt, but one that is ignored (nohup, a shell's '&');
    after it, none that ran then is left. Yields a Heeded."""
    heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    heeds = Heeded()
    previous = {number: signal.signal(number, heeds.hear) for number in heard}
    try:
        yield heeds
    finally:
        for number in heard:  # an impatient second one changes nothing of what follows
            signal.signal(number, signal.SIG_IGN)
        end(heeds.started)
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def audible():
    """What is started within hears Ctrl-C's signal, by which it is to end in order: where a shell
    began this command by '&', it would inherit that it is ignored."""
    is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    if is_ignored:  # a handler of ours is the default again in a program that is started
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def descendants(parent):
    """{(process, its start in ticks since boot)} of all that it started and that they started."""
    children, starts, found, todo = {}, {}, set(), [parent]
    for name in filter(str.isdigit, os.listdir('/proc') if os.path.isdir('/proc') else ()):
        state, above, ticks = _status(name)
        if state not in 'ZX':
            children.setdefault(above, []).append(int(name))
            starts[int(name)] = ticks
    while todo:
        below = children.get(todo.pop(), [])
        found |= {(pid, starts[pid]) for pid in below}
        todo += below
    return found


def alive(processes):
    """Those of (process, start) that have not ended; a number may be another's by now."""
    states = {process: _status(process[0]) for process in processes}
    return {p for p, (state, _, ticks) in states.items() if state not in 'ZX' and ticks == p[1]}


def end(processes):
    for number, seconds in ENDING:
        until = time.monotonic() + seconds
        for pid, _ in alive(processes):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        while alive(processes) and time.monotonic() < until:
            time.sleep(0.02)


def _status(pid):
    """(state, parent, start in ticks); 'X' of one that is gone. proc(5)"""
    try:
        with open(f'/proc/{pid}/stat') as file:
            fields = file.read().rpartition(') ')[2].split()
    except OSError:
        return 'X', 0, 0
    return fields[0], int(fields[1]), int(fields[19])
