"""The ledger of a run as it is read. results/run_ledger.py writes it, in ReFrame's process, whose
Python may lack msgspec."""

import contextlib
from pathlib import Path

import msgspec

from membw import strict
from membw.results.run_ledger import SUFFIX, Key, path_of


class Event(msgspec.Struct):
    """How a case goes on; '' where it is not said."""

    event: str
    time: float
    unique_name: str
    where: str
    environ: str
    # of the first
    name: str = ''
    display_name: str = ''
    fixture: bool = False
    round: int = 1
    dependencies_actual: list[Key] = []
    # under way
    stage: str = ''
    scheduler: str = ''
    job: str = ''
    state: str = ''
    # of the last
    why: str = ''
    phase: str = ''
    record: str = ''
    word: str = ''
    reasons: str = ''
    node_check: str = ''

    @property
    def key(self) -> Key:
        return self.unique_name, self.where, self.environ


def read(report: str | Path) -> list[Event]:
    """Of the run with this report; [] where there is none. A line that was cut ends it."""
    events = list[Event]()
    with contextlib.suppress(FileNotFoundError, strict.Damaged):
        for line in path_of(report).read_bytes().splitlines():
            events.append(strict.decode(line, Event))
    return events


def fullest(base: str) -> list[Event]:
    """Of the longest of the five runs before the one of this base name; [] where there is none."""
    files = sorted(Path(base).parent.glob(f'run-2*{SUFFIX}'))  # named for their moments
    before = [file for file in files if file.stem < Path(base).name][-5:]
    return read(max(before, key=lambda file: file.stat().st_size)) if before else []
