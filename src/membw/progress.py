"""What a command says while it works: one line that is written over on a terminal, else a line
every ten seconds."""

import re
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from membw.results.table import HIGHER, Figure, read_table

# of ReFrame's '[       OK ] (12/37) stream ...': the number of the case, and of how many
NUMBERED = re.compile(r'^\[ +[A-Z]+ \] \( *(\d+)/(\d+)\) ')
BEGUN = re.compile(r'^\[ +RUN +\] (.*?)(?: /\w+)? @[^:]+:([^+]+)\+(\S+)')
CLEAR = '\r\033[K'
EVERY_S = 10  # between two lines where there is no terminal
TERMINAL_S = 1
PLAN = 'membw-progress: '  # src/harness/plan.h
LOCK = threading.Lock()  # of stderr: a passing line and one that stays


def say(text: str, stream: TextIO | None = None) -> None:
    """Prints a line that stays, to stderr or `stream`."""
    with LOCK:
        clear()
        print(text, file=stream or sys.stderr, flush=True)


class Passing:
    """What is under way: on a terminal a line that is written over each second, else a line
    every ten seconds, whatever the program that is waited for prints."""

    def __init__(self) -> None:
        self.text: Callable[[], str] = str
        self.is_terminal, self.ended = sys.stderr.isatty(), threading.Event()
        threading.Thread(target=self._repeat, daemon=True).start()

    def now(self, text: Callable[[], str] | str) -> None:
        """`text`: a function, where the line says more as time passes."""
        self.text = text if callable(text) else lambda: text
        if self.is_terminal:
            self._print()

    def close(self) -> None:
        with LOCK:
            self.ended.set()
            clear()

    def _repeat(self) -> None:
        said = ''
        while not self.ended.wait(TERMINAL_S if self.is_terminal else EVERY_S):
            if self.is_terminal or self.text() != said:  # no line twice
                said = self.text()
                self._print()

    def _print(self) -> None:
        text = self.text()
        with LOCK:
            if self.ended.is_set() or not text:
                return
            if self.is_terminal:
                wide = shutil.get_terminal_size().columns - 1
                print(f'{CLEAR}{text[:wide]}', end='', file=sys.stderr, flush=True)
            else:
                print(f'membw: {text}', file=sys.stderr, flush=True)


def clear() -> None:
    """Removes a passing line."""
    if sys.stderr.isatty():
        print(CLEAR, end='', file=sys.stderr, flush=True)


class Cases:
    """Which case of a session of ReFrame is under way, and for how much longer: by its lines.

    All rounds are of one session, so that the count is of all of them from the start.

    Args:
        until: when a quick run ends (seconds since 1970), whatever is left of its rounds.
        results: the folder in which the programs say what they have done, and their records lie.
    """

    def __init__(self, until: float = 0.0, results: Path = Path()) -> None:
        self.until, self.results = until, results
        self.number, self.total, self.begun = 0, 0, time.time()
        self.name, self.folder = '', ''
        self.best: Figure | None = None  # so far, of the test under way

    def take(self, line: str) -> bool:
        """Counts a case that ended; whether one begins."""
        ended, begun = NUMBERED.match(line), BEGUN.match(line)
        if ended:
            self.number, self.total = int(ended[1]), int(ended[2])
            self.take_figure(newest_figure(self.results, self.begun))
        if begun:
            self.begun, self.name = time.time(), named(*begun.groups())
            test, partition, preset = begun.groups()
            self.folder = f'stage/*/{partition}/{preset}/{test.split()[0]}*/rfm_job.err'
        return bool(begun)

    def take_figure(self, new: Figure | None) -> None:
        old = self.best
        if new and old and (old.benchmark, old.metric) == (new.benchmark, new.metric):
            sign = 1 if new.better == HIGHER else -1
            new = max(old, new, key=lambda f: sign * f.value)
        self.best = new or old

    def text(self) -> str:
        """'3 of 4: ladder gcc-o2: 31 of 72 sizes, about 70 s left'; nothing before the first."""
        if not self.name:
            return ''
        count = f'{min(self.number + 1, self.total)} of {self.total}: ' if self.total else ''
        own = plan_of(self.results, self.folder, self.begun)
        if self.until:
            count = ''
        so_far = f'{duration(time.time() - self.begun)} so far{self.left()}'
        f, best = self.best, ''
        if f and f.benchmark == self.name.split(' ')[0]:
            best = f'; best: {f.metric} {f.sign}{f.value:.3g} {f.unit} ({f.preset})'
        return f'{count}{self.name}, {own or so_far}{best}'

    def left(self) -> str:
        """Of a quick run; builds and a first round are waited for, however long they take. Of
        another it is not known: tests take unlike times."""
        seconds = self.until - time.time()
        if seconds < 1 or not self.name.endswith(tuple('23456789')):
            return ''
        return f', about {duration(seconds)} left'


def plan_of(results: Path, pattern: str, begun: float) -> str:
    """'31 of 72 sizes, about 70 s left': what the program under way printed last of its plan."""
    files = [(f.stat().st_mtime, f) for f in results.glob(pattern)] if pattern else []
    if not files or max(files)[0] < begun:
        return ''
    lines = max(files)[1].read_text(errors='replace').splitlines()
    own = [line for line in lines if line.startswith(PLAN)]
    return own[-1].removeprefix(PLAN) if own else ''


def newest_figure(results: Path, since: float) -> Figure | None:
    """The headline of the newest record since then, where it is valid."""
    files = [(f.stat().st_mtime, str(f)) for f in results.glob('records/*.json')]
    file = max((each for each in files if each[0] >= since), default=None)
    figures = read_table([file[1]]).figures if file else []
    return next((f for f in figures if f.is_headline and f.verdict == 'VALID'), None)


def named(test: str, partition: str, preset: str) -> str:
    """'stream gcc-o2 omp, round 2' of 'stream %round=2 %pinning=omp'; 'building stream gcc-o2'."""
    name, *words = test.split()
    values = dict(word.strip('%').partition('=')[::2] for word in words if '=' in word)
    number = values.pop('round', '')
    if name.startswith('spack_'):
        return f'building {name.removeprefix("spack_")} by Spack, where it builds'
    if name.endswith('_binary'):
        name, values = f'building {name.removesuffix("_binary")}', {}
    text = ' '.join(filter(None, [name, preset, *values.values()]))
    return f'{text}, round {number}' if number else text


def duration(seconds: float) -> str:
    """'40 s', '4 min', '2.5 h'."""
    if seconds < 90:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min' if seconds < 5400 else f'{seconds / 3600:.1f} h'
