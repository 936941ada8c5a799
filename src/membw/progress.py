"""What a command says while it works: one line that is written over on a terminal, else a line
every ten seconds."""

import re
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

# of ReFrame's '[       OK ] (12/37) stream ...': the number of the case, and of how many
NUMBERED = re.compile(r'^\[ +[A-Z]+ \] \( *(\d+)/(\d+)\)')
BEGUN = re.compile(r'^\[ +RUN +\] (.*?)(?: /\w+)? @[^:]+:([^+]+)\+(\S+)')
CLEAR = '\r\033[K'
EVERY_S = 10  # between two lines where there is no terminal


def say(text: str, stream: TextIO | None = None) -> None:
    """Prints a line that stays, to stderr or `stream`."""
    clear()
    print(text, file=stream or sys.stderr, flush=True)


class Passing:
    """What is under way: on a terminal a line that the next one is written over, else a line every
    ten seconds, whatever the program that is waited for prints."""

    def __init__(self) -> None:
        self.text, self.ended = '', threading.Event()
        if not sys.stderr.isatty():
            threading.Thread(target=self._repeat, daemon=True).start()

    def now(self, text: str) -> None:
        self.text = text
        if sys.stderr.isatty():
            print(f'{CLEAR}{text} ...', end='', file=sys.stderr, flush=True)

    def close(self) -> None:
        self.ended.set()
        clear()

    def _repeat(self) -> None:
        while not self.ended.wait(EVERY_S):
            if self.text:
                print(f'membw: {self.text}', file=sys.stderr, flush=True)


def clear() -> None:
    """Removes a passing line."""
    if sys.stderr.isatty():
        print(CLEAR, end='', file=sys.stderr, flush=True)


class Cases:
    """Which case of a session of ReFrame is under way, and for how much longer: by its lines.

    All rounds are of one session, so that the count is of all of them from the start.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.number, self.total = 0, 0
        self.ends = [clock()]

    def take(self, line: str) -> str | None:
        """Counts a case that ended; the text on one that begins, or None."""
        ended = NUMBERED.match(line)
        if ended:
            self.number, self.total = map(int, ended.groups())
            self.ends.append(self.clock())
        begun = BEGUN.match(line)
        return f'{self.place()}{named(*begun.groups())}' if begun else None

    def place(self) -> str:
        """'13 of 37, about 4 min left: '; nothing before the first case has ended."""
        if not self.total:
            return ''
        return f'{min(self.number + 1, self.total)} of {self.total}{self.left()}: '

    def left(self) -> str:
        """By the mean of the last ten cases: the first ones are builds, which take longer."""
        last = self.ends[-11:]
        seconds = (last[-1] - last[0]) / (len(last) - 1) * (self.total - self.number)
        return f', about {duration(seconds)} left' if self.number < self.total else ''


def named(test: str, partition: str, preset: str) -> str:
    """'stream gcc-o2 omp, round 2' of 'stream %round=2 %pinning=omp'; 'build of stream gcc-o2'."""
    name, *words = test.split()
    values = dict(word.strip('%').partition('=')[::2] for word in words if '=' in word)
    number = values.pop('round', '')
    if name.startswith('spack_'):
        return f'build of {name.removeprefix("spack_")} by Spack, where it builds'
    if name.endswith('_binary'):
        name, values = f'build of {name.removesuffix("_binary")}', {}
    text = ' '.join(filter(None, [name, preset, *values.values()]))
    return f'{text}, round {number}' if number else text


def duration(seconds: float) -> str:
    """'40 s', '4 min', '2.5 h'."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min' if seconds < 5400 else f'{seconds / 3600:.1f} h'
