"""One night in results/nights/SYSTEM/DATE: its steps, each bounded in time, and how each ended."""

import contextlib
import fcntl
import os
import pathlib
import shlex
import signal
import subprocess
import time
from datetime import datetime
from typing import IO, NamedTuple

import msgspec

from membw import strict
from membw.errors import MembwError
from membw.files import text_if_any, write_whole
from membw.interruption import child

FIRST, LAST = ('run',), ('history', 'report', 'export')
CAMPAIGN = 'campaign-'  # and the partition: steps between them
# exit statuses of a step; of STOPPED and more, or of a signal, it runs again when resumed
WELL, WRONG, NOT_DONE = 0, 1, 2
STOPPED = 124  # out of time, as timeout(1) has it
ENDING = (signal.SIGINT, 60), (signal.SIGTERM, 5), (signal.SIGKILL, 5)
STATE = 'state.json'
EARLY = 14  # nights that a history needs


class Step(msgspec.Struct):
    status: int | None = None  # not begun, or stopped
    seconds: float = 0.0
    command: list[str] = []

    @property
    def is_ended(self) -> bool:
        """By itself, however."""
        return self.status is not None and 0 <= self.status < STOPPED


class State(msgspec.Struct):
    """Written before the first step begins: what is not there was not forgotten."""

    options: list[str]  # of `membw run`: another command is another night
    begun: datetime  # with its zone: it may be resumed in another one
    steps: dict[str, Step]
    reports: list[str] = []  # of ReFrame, that the steps which measure left
    problems: dict[str, dict[str, str]] = {}  # {what is not complete: {name: why}}


class Night(NamedTuple):
    folder: pathlib.Path
    state: State
    said: str = ''  # why it does not continue the one before

    @property
    def system(self) -> str:
        return self.folder.parent.name.partition(':')[0]

    @property
    def campaigns(self) -> dict[str, str]:
        """{step: 'thin:batch'}."""
        names = [name for name in self.state.steps if name.startswith(CAMPAIGN)]
        return {name: f'{self.system}:{name.removeprefix(CAMPAIGN)}' for name in names}

    @property
    def incomplete(self) -> list[str]:
        """What was to be done and was not: steps, and what `problems` has."""
        steps = self.state.steps.items()
        left = [name for name, step in steps if step.status not in (WELL, WRONG)]
        return [*(name for name in left if not self.is_early(name)), *self.state.problems]

    @property
    def wrong(self) -> list[str]:
        return [name for name, step in self.state.steps.items() if step.status == WRONG]

    @property
    def status(self) -> int:
        """0 all well, 1 something to look at, 2 not complete."""
        return NOT_DONE if self.incomplete else WRONG if self.wrong else WELL

    def is_early(self, name: str) -> bool:
        """Whether it is the history of a system's first nights, too few for a verdict."""
        dates = {folder.name[:10] for folder in self.folder.parent.glob('2*')}
        is_undecided = name == 'history' and self.state.steps[name].status == NOT_DONE
        return is_undecided and len(dates) < EARLY

    def run(self, name: str, words: list[str], seconds: float) -> None:
        """Runs a step that has not ended, with a time limit; its output goes to NAME.log. What
        comes behind it is to be done again."""
        if self.state.steps[name].is_ended:
            return
        steps = [*self.state.steps]
        for later in steps[steps.index(name) :]:
            self.state.steps[later] = Step()
        begun, before = time.monotonic(), self.reports()
        step = self.state.steps[name] = Step(command=words)
        self.write()
        print(f'nightly: {name}: {shlex.join(words)}', flush=True)
        try:
            step.status = bounded(words, self.log(name), seconds)
        finally:
            step.seconds = round(time.monotonic() - begun, 1)
            earlier = [] if name == 'run' else self.state.reports
            self.state.reports = [*earlier, *sorted(self.reports() - before)]
            self.write()
            print(f'nightly: {name}: exit status {step.status}', flush=True)

    def write(self) -> None:
        text = msgspec.json.format(msgspec.json.encode(self.state), indent=1)
        write_whole(self.folder / STATE, text + b'\n')

    def log(self, name: str) -> pathlib.Path:
        return self.folder / f'{name}.log'

    def printed(self, name: str) -> list[str]:
        return text_if_any(self.log(name)).splitlines()

    def reports(self) -> set[str]:
        """Reports of ReFrame, or the ledgers of such: those that a step adds are its own, as one
        run at a time is under way in a checkout."""
        files = (self.folder.parents[2] / 'reports').glob('run-*')
        return {str(file.with_suffix('.json')) for file in files}


def opened(system: pathlib.Path, date: str, options: list[str], fleets: list[str]) -> Night:
    """The night of this date, in the folder of its system, with a campaign of each fleet. One that
    was stopped is continued; one that is finished, was of another command or cannot be read stays
    as it is: DATE.2 is new."""
    steps = [*FIRST, *(f'{CAMPAIGN}{name}' for name in fleets), *LAST]

    def attempt(number: int) -> pathlib.Path:
        return system / (date if number == 1 else f'{date}.{number}')

    number, said = 1, ''
    while attempt(number + 1).exists():
        number += 1
    if (newest := attempt(number)).exists():
        try:
            state = strict.file(newest / STATE, State)
            if (state.options, [*state.steps]) != (options, steps):
                said = f'was of another command: membw {shlex.join(state.options)}'
            elif all(step.is_ended for step in state.steps.values()):
                said = 'is finished'
            else:
                return Night(newest, state)
        except (OSError, strict.Damaged) as err:
            said = f'cannot be read: {err}'
        said, number = f'{newest.name} {said}: measured anew', number + 1
    attempt(number).mkdir(parents=True)
    begun = datetime.now().astimezone().replace(microsecond=0)
    night = Night(attempt(number), State(options, begun, {name: Step() for name in steps}), said)
    night.write()
    return night


def bounded(words: list[str], log: pathlib.Path, seconds: float) -> int:
    """The exit status of the command; STOPPED where it was not done in time. The log has one
    writer: whoever runs the command has its lock."""
    with contextlib.suppress(subprocess.TimeoutExpired), open(log, 'a') as file:
        end_leftovers(log, file)
        file.truncate(0)
        with child(words, ENDING, stdout=file, stderr=file) as process:
            return process.wait(timeout=max(seconds, 0))
    return STOPPED


def end_leftovers(log: pathlib.Path, file: IO) -> None:
    """A step whose night was killed runs on: it is ended before the step is run again."""
    for number, seconds in ENDING:
        if is_locked(file):
            return
        print(f'nightly: {log.stem}: an earlier call of it still runs: it is ended', flush=True)
        for one in pathlib.Path('/proc').glob('[0-9]*/fd/1'):
            with contextlib.suppress(OSError):
                if os.path.samefile(one, log):
                    os.killpg(os.getpgid(int(one.parts[2])), number)
        until = time.monotonic() + seconds
        while not is_locked(file) and time.monotonic() < until:
            time.sleep(0.1)
    if not is_locked(file):
        hint = 'on another host, perhaps: wait until it has ended'
        raise MembwError(f"another process writes '{log}'", hint)


def is_locked(file: IO) -> bool:
    """Now by us; also where the file system has no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
