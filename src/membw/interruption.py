"""Ctrl-C, Ctrl-\\, `kill`, `timeout`, a CI that cancels, a terminal that closes, a batch system
before its limit (src/harness/job/watchdog.c has the same) end a command in order."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

NAMES = 'INT TERM HUP QUIT USR1 USR2 XCPU'
SIGNALS = [signal.Signals[f'SIG{name}'] for name in NAMES.split()]
Endings = Sequence[tuple[int, float]]


class Heeded:
    """Which signal came, if any."""

    number, came = signal.SIGINT, False

    def hear(self, number: int, _frame: FrameType | None) -> None:
        self.came, self.number = True, signal.Signals(number)
        # no subclass: subprocess waits without a limit for a child at any other exception
        raise KeyboardInterrupt

    def word(self) -> str:
        is_by_keyboard = self.number == signal.SIGINT
        return 'interrupted' if is_by_keyboard else f'ended by {self.number.name}'


@contextlib.contextmanager
def heeded() -> Iterator[Heeded]:
    """Each of SIGNALS is a KeyboardInterrupt, but one that is ignored (nohup, a shell's '&').

    Afterwards the process group is ended, too, where this process leads it: the compilers
    and scripts that a command started. What has a session of its own is ended by `child`.
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
def child(words: list[str], ending: Endings, **options: Any) -> Iterator[subprocess.Popen]:
    """A command in a session of its own; where what is within is interrupted, it ends by these
    signals, each of which has so many seconds.

    It hears SIGINT, also where a shell began this command by '&', so that it would inherit that
    it is ignored.
    """
    is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    if is_ignored:  # a handler of ours is the default again in a program that is started
        signal.signal(signal.SIGINT, lambda *_: None)
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, start_new_session=True, **options
        )
    finally:
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    with process:
        try:
            yield process
        except BaseException:
            end(process, ending)
            raise


def end(process: subprocess.Popen, ending: Endings) -> None:
    for number, seconds in ending:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # the group outlives its first
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(seconds)
