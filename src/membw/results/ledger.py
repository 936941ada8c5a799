"""The ledger of a test case: what is to be measured, and how each launch of it ended.

A text file in the stage folder. The check writes `expected FILE WHAT` for each record that is to
come, before the job starts; the job's script adds `begun HOST`, `lacks TOOL`, `note TEXT` and
`ended FILE STATUS`. What is expected and did not arrive is missing, whatever else arrived.
"""

import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

NAME = 'ledger.txt'
WHOLE = '-'  # in place of FILE: the status of the job's whole command
# a shell's exit status of a signal is this and its number
BY_SIGNAL = 128
USAGE = 2  # our programs refuse so, and say why
# of a job's end, by Slurm's states, and by what slurmstepd prints where no state is known
STATES = {
    'TIMEOUT': 'time limit reached',
    'DEADLINE': 'time limit reached',
    'NODE_FAIL': 'node failed',
    'BOOT_FAIL': 'node failed',
    'OUT_OF_MEMORY': 'memory limit reached',
    'PREEMPTED': 'cancelled',
    'CANCELLED': 'cancelled',
}
PRINTED = (
    (re.compile(r'DUE TO TIME LIMIT'), 'time limit reached'),
    (re.compile(r'DUE TO NODE FAILURE|Node failure on', re.I), 'node failed'),
    (re.compile(r'oom[-_ ]?kill|Out Of Memory', re.I), 'memory limit reached'),
    (re.compile(r'\*\*\* (?:JOB|STEP) .* CANCELLED'), 'cancelled'),
)


class Missing(NamedTuple):
    """What was to be measured and did not arrive."""

    what: str  # 'remote memory, 1 thread'; '' of the only launch
    why: str  # 'ended by SIGBUS (signal 7)'
    died: bool  # it was begun and did not end by itself; else it was refused, or never begun
    node: str = ''

    @property
    def text(self) -> str:
        """'remote memory, 1 thread: ended by SIGBUS (signal 7) on n2'."""
        where = f' on {self.node}' if self.node else ''
        return ': '.join(filter(None, [self.what, f'{self.why}{where}']))


class Ledger:
    """A ledger as it was read; empty where there is none."""

    def __init__(self, text: str = '') -> None:
        self.ended: dict[str, int] = {}  # {file: exit status as a shell has it}
        self.node, self.lacks = '', ''
        self.notes: list[str] = []
        for line in text.splitlines():
            word, _, rest = line.partition(' ')
            name, _, more = rest.partition(' ')
            if word == 'ended' and more.isdigit():
                self.ended[name] = int(more)
            elif word == 'begun':
                self.node = rest
            elif word == 'lacks':
                self.lacks = rest
            elif word == 'note':
                self.notes.append(rest)

    def status(self, file: str) -> int | None:
        """How the launch that was to write this file ended; None: it did not come to an end."""
        own = {name for name in self.ended if name != WHOLE}
        return self.ended.get(file if own else WHOLE)


def read(folder: str | Path) -> Ledger:
    """Of a stage folder."""
    path = Path(folder, NAME)
    return Ledger(path.read_text(errors='replace') if path.is_file() else '')


def write(folder: str | Path, expected: Mapping[str, str]) -> None:
    lines = (f'expected {file} {what}'.rstrip() for file, what in expected.items())
    Path(folder, NAME).write_text(''.join(f'{line}\n' for line in lines))


def begun() -> str:
    """A line of a job's script, before all others."""
    return f'echo "begun $(uname -n)" >>{NAME}'


def ended(file: str = WHOLE, status: str = '$?') -> str:
    """A line of a job's script, directly after the launch; both may be shell variables."""
    return f'echo "ended {file} {status}" >>{NAME}'


def lacks(tool: str) -> str:
    """A line of a job's script: it ends where the node has no such command."""
    return f'command -v {tool} >/dev/null || {{ echo "lacks {tool}" >>{NAME}; exit 0; }}'


def how(status: int) -> str:
    """'ended by SIGBUS (signal 7)', 'exit status 3'; of a shell's, or a negative one of Python."""
    number = -status if status < 0 else status - BY_SIGNAL
    if number <= 0:
        return f'exit status {status}'
    try:
        name = signal.Signals(number).name
    except ValueError:  # a real-time signal, or no signal at all
        return f'exit status {status}' if number > 64 else f'ended by signal {number}'
    return f'ended by {name} (signal {number})'


def how_job(state: str | None, printed: str) -> str:
    """Why a job ended before its script did; '' where it is not known. `printed`: its stderr."""
    for word in re.split(r'[,+ ]', state or ''):
        if word in STATES:
            return STATES[word]
    return next((text for pattern, text in PRINTED if pattern.search(printed)), '')


def is_odd(status: int, verdict: str) -> bool:
    """Whether a program that wrote a record with this verdict should have ended otherwise."""
    return status not in ((0,) if verdict == 'VALID' else (0, 1))
