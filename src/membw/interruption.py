"""Ctrl-C, Ctrl-\\, `kill`, `timeout`, a CI that cancels, a terminal that closes end a command in
order."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Heeded:
    """Which signal came, if any."""

    number, came = signal.SIGINT, False

    def hear(self, number: int, _frame: FrameType | None) -> None:
        self.came, self.number = True, signal.Signals(number)
        # no subclass: subprocess waits without a limit for a child at any other exception
        raise KeyboardInterrupt

    def status(self) -> int:
        """The exit status that a shell gives a command ended by a signal."""
        return 128 + self.number

    def word(self) -> str:
        is_by_keyboard = self.number == signal.SIGINT
        return 'interrupted' if is_by_keyboard else f'ended by {self.number.name}'


@contextlib.contextmanager
def heeded() -> Iterator[Heeded]:
    """Each of SIGNALS is a KeyboardInterrupt, but one that is ignored (nohup, a shell's '&').

    Afterwards the process group is ended, too, where this process leads it: the compilers
    and scripts that a command started. What has a session of its own, ends with its caller
    (run/session.py, nightly/night.py).
    """
    heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    heeds = Heeded()
    previous = {number: signal.signal(number, heeds.hear) for number in heard}
    try:
        yield heeds
    finally:
        for number in heard:  # a second, impatient one changes nothing of what follows
            signal.signal(number, signal.SIG_IGN)
        if heeds.came and os.getpgrp() == os.getpid() and signal.SIGTERM in heard:
            os.killpg(0, signal.SIGTERM)
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def audible() -> Iterator[None]:
    """What is started within hears SIGINT, by which it is to end in order: where a shell began
    this command by '&', it would inherit that it is ignored."""
    is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    if is_ignored:  # a handler of ours is the default again in a program that is started
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def end(process: subprocess.Popen, signals: Sequence[tuple[int, float]]) -> None:
    """Of a session of its own: each signal, then so many seconds for it to end."""
    for number, seconds in signals:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # the group outlives its first
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(seconds)
