"""What a command says while it works: one line that is written over on a terminal, else a line
every ten seconds."""

import shutil
import statistics
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from membw.files import text_if_any
from membw.results.case import of_display_name
from membw.results.run_events import Event, read
from membw.results.run_ledger import EXPECTED, RESULTS, Key

CLEAR = '\r\033[K'
EVERY_S = 10  # between two lines where there is no terminal
TERMINAL_S = 1
PLAN = 'membw-progress: '  # src/harness/plan.h
Events = Sequence[Event]
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
    if sys.stderr.isatty():
        print(CLEAR, end='', file=sys.stderr, flush=True)


def under_way(report: str, before: Events | None = ()) -> str:
    """'3 of 9, about 4 min left: ladder gcc-o2, 31 of 72 sizes, about 70 s left', by the ledger
    beside the report of a run; nothing before the first case. `before`: that of the run before;
    None: a limit of time ends it."""
    events = read(report)
    last = {event.key: event for event in events}
    ended = sum(event.event in RESULTS for event in last.values())
    begun = [event for event in last.values() if event.stage]
    if not begun or ended == len(last):
        return ''
    now = max(begun, key=lambda event: event.time)
    expected = next(e for e in events if e.key == now.key)
    name = named(expected.display_name, now.environ)
    since = next(e.time for e in events if e.stage == now.stage)
    job = f'job {now.job}{waits(now)}, ' if now.job and now.scheduler != 'local' else ''
    so_far = f'{job}{duration(time.time() - since)} so far'
    rest = '' if job or before is None else time_left(events, before, since)
    return f'{ended + 1} of {len(last)}{rest}: {name}, {plan_of(now.stage) or so_far}'


def waits(now: Event) -> str:
    """' waits', so long as the job's script has no output: it may be for ever, in a partition that
    is closed."""
    kind = 'build' if now.event == 'compile' else 'job'
    return '' if Path(now.stage, f'rfm_{kind}.out').exists() else ' waits in the queue'


def time_left(events: Events, before: Events, since: float) -> str:
    """', about 4 min left': a case takes what the same took in this run or the one before, else
    what its test took; 'more than': of some nothing is known. `since`: when the newest began."""
    known = [took(events), took(before)]
    ended = {e.key for e in events if e.event in RESULTS}
    seconds, is_least = min(since - time.time(), 0.0), False
    for case in (e for e in events if e.event == EXPECTED):
        if case.key not in ended:
            found = [of[kind] for kind in kinds(case) for of in known if kind in of]
            seconds += statistics.median(found[0]) if found else 0.0
            is_least |= not found
    word = 'more than' if is_least else 'about'
    return f', {word} {duration(seconds)} left' if seconds >= EVERY_S else ''


def took(events: Events) -> dict[str, list[float]]:
    """{kind: seconds of each case of it that ended}."""
    expected = {e.key: e for e in events if e.event == EXPECTED}
    begun, seconds = dict[Key, float](), defaultdict[str, list[float]](list)
    for event in events:
        key = event.key
        if event.stage:
            begun.setdefault(key, event.time)
        if event.event in RESULTS and event.event != 'abort' and key in expected:
            # a row that is skipped says nothing of its test
            for kind in kinds(expected[key])[: 1 if event.event == 'skip' else 2]:
                seconds[kind].append(max(event.time - begun.get(key, event.time), 0.0))
    return seconds


def kinds(case: Event) -> list[str]:
    """Its row, whatever the round; its test. Of a build the test alone: it is done once."""
    name = of_display_name(case.display_name)
    row = f'{name.test} {name.pairs | {"round": ""}} {case.where} {case.environ}'
    return [name.test] if case.fixture else [row, name.test]


def plan_of(stage: str) -> str:
    """'31 of 72 sizes, about 70 s left': what the program under way printed last of its plan."""
    lines = text_if_any(Path(stage, 'rfm_job.err')).splitlines()
    own = [line for line in lines if line.startswith(PLAN)]
    return own[-1].removeprefix(PLAN) if own else ''


def named(test: str, preset: str) -> str:
    """'stream gcc-o2 omp, round 2' of 'stream %round=2 %pinning=omp'; 'building stream gcc-o2'."""
    name, values, _ = of_display_name(test)
    if name.startswith('spack_'):
        return f'building {name.removeprefix("spack_")} by Spack, where it builds'
    if name.endswith('_binary'):
        return f'building {name.removesuffix("_binary")} {preset}'
    words = (value for what, value in values.items() if what != 'round')
    text = ' '.join(filter(None, [name, preset, *words]))
    return f'{text}, round {values["round"]}' if 'round' in values else text


def duration(seconds: float) -> str:
    """'40 s', '4 min', '2.5 h'; 0 where the clock was put back."""
    seconds = max(seconds, 0)
    if seconds < 90:
        return f'{seconds:.0f} s'
    return f'{seconds / 60:.0f} min' if seconds < 5400 else f'{seconds / 3600:.1f} h'
