"""The ledger of a test case: what is to be measured, and how each launch of it ended.

A text file in the stage folder. The check writes `expected FILE WHAT` for each record that is to
come, before the job starts; the job's script adds `begun NODE CLUSTER`, `lacks TOOL` and `ended
FILE STATUS CPU`, our programs `started FILE NODE` once they begin to measure. What is
expected and did not arrive is missing, whatever else arrived.
"""

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from membw.files import text_if_any

NAME = 'ledger.txt'
WHOLE = '-'  # in place of FILE: the status of the job's whole command
# a shell's exit status of a signal is this and its number
BY_SIGNAL = 128
USAGE = 2  # our programs refuse so, and say why
# as Slurm or Kubernetes names it; PBS, LSF, SGE and Flux name a node by its host's name
POD = '${KUBERNETES_SERVICE_HOST:+${NODE_NAME:-}}'
NODE = f'$(n=${{SLURMD_NODENAME:-{POD}}}; echo "${{n:-$(uname -n)}}")'
# a checksum of what the CPU can do
CPU = "$(grep -m1 -Ei '^(flags|features|isa)' /proc/cpuinfo | cksum)"
# of a job's end, by Slurm's states, and by what slurmstepd prints where no state is known
STATES = {
    **dict.fromkeys(('TIMEOUT', 'DEADLINE'), 'time limit reached'),
    'NODE_FAIL': 'node failed',
    'OUT_OF_MEMORY': 'memory limit reached',
    **dict.fromkeys(('PREEMPTED', 'CANCELLED', 'REVOKED'), 'cancelled'),
    **dict.fromkeys(('BOOT_FAIL', 'LAUNCH_FAILED', 'RECONFIG_FAIL'), 'the node was not ready'),
}
# by these nothing died that had not begun to measure
EARLY = ('cancelled', 'the node was not ready')
PRINTED = (
    (re.compile(r'DUE TO TIME LIMIT'), 'time limit reached'),
    (re.compile(r'DUE TO NODE FAILURE|Node failure on', re.I), 'node failed'),
    (re.compile(r'oom[-_ ]?kill|Out Of Memory', re.I), 'memory limit reached'),
    (re.compile(r'\*\*\* (?:JOB|STEP) .* CANCELLED'), 'cancelled'),
)
# the shell of the job says so of a program that a signal ended, and of one that SIGKILL did
OF_SHELL = re.compile(r': line \d+: +\d+ [A-Z]')
OF_DASH = {signal.strsignal(number) for number in signal.valid_signals()}  # without a place
KILLED = re.compile(r': line \d+: +\d+ Killed\b')
OUT_OF_MEMORY = 'perhaps as memory ran out: see dmesg, or the memory limit of the job'


@dataclass(frozen=True)
class Missing:
    """What was to be measured and did not arrive; so a record has it, too."""

    why: str  # 'ended by SIGBUS (signal 7)'
    died: bool  # it began and was ended; else it was refused, or never begun
    what: str = ''  # 'remote memory, 1 thread'; '' of the only launch
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
        self.cpus: dict[str, str] = {}  # {file: CPU}
        self.started: set[str] = set()  # files, and nodes without their domain
        self.node, self.cluster, self.lacks = '', '', ''
        for line in text.splitlines():
            word, _, rest = line.partition(' ')
            name, status, cpu = [*rest.split(' ', 2), '', ''][:3]
            if word == 'ended' and status.isdigit():
                self.ended[name], self.cpus[name] = int(status), cpu
            elif word == 'started':
                self.started |= {name, status.partition('.')[0]}
            elif word == 'begun':
                self.node = name if name[:1].isalnum() else 'localhost'  # (none)
                self.cluster = status
            elif word == 'lacks':
                self.lacks = rest

    def name(self, file: str) -> str:
        """By which `ended` and `cpus` have the launch that was to write this file."""
        return file if {*self.ended} - {WHOLE} else WHOLE


def read(folder: str | Path) -> Ledger:
    return Ledger(text_if_any(Path(folder, NAME)))


def write(folder: str | Path, expected: Mapping[str, str]) -> None:
    lines = (f'expected {file} {what}'.rstrip() for file, what in expected.items())
    Path(folder, NAME).write_text(''.join(f'{line}\n' for line in lines))


def begun() -> str:
    """A line of a job's script, before all others."""
    where = f'{NODE} ${{SLURM_CLUSTER_NAME:-}}'
    return f'export MEMBW_LEDGER="$PWD/{NAME}"; echo "begun {where}" >>{NAME}'


def ended(file: str = WHOLE, status: str = '$?') -> str:
    """A line of a job's script, directly after the launch; both may be shell variables."""
    return f'echo "ended {file} {status} {CPU}" >>{NAME}'


def lacks(tool: str) -> str:
    """A line of a job's script: it ends where the node has no such command."""
    return f'command -v {tool} >/dev/null || {{ echo "lacks {tool}" >>{NAME}; exit 0; }}'


def how(status: int) -> str:
    """'ended by SIGBUS (signal 7)', 'exit status 3'; of a shell's, or a negative one of Python."""
    number = signal_of(status)
    if not number:
        return f'exit status {status}'
    try:
        return f'ended by {signal.Signals(number).name} (signal {number})'
    except ValueError:  # a real-time signal
        return f'ended by signal {number}'


def signal_of(status: int) -> int:
    """Which ended it; 0: none did."""
    number = -status if status < 0 else status - BY_SIGNAL
    return number if 0 < number <= 64 else 0


def how_job(state: str | None, printed: str) -> str:
    """Why a job ended before its script did; '' where it is not known. `printed`: its stderr."""
    for word in re.split(r'[,+ ]', state or ''):
        if word in STATES:
            return STATES[word]
    return next((text for pattern, text in PRINTED if pattern.search(printed)), '')


def lines_of(node: str, printed: str) -> str:
    """Those that name a node: gpu-1 is not gpu-1-2, and n1 not n1.b of another domain."""
    before, name = r'(?:(?<![\w.-])|(?<=slurmstepd-))', re.escape(node)
    is_of = re.compile(rf'{before}{name}(?![\w-]|\.\w)')
    return '\n'.join(line for line in printed.splitlines() if is_of.search(line))


def last_words(text: str) -> str:
    """The line of a stderr that says why: ours, else a compiler's error, else what a tool said
    first, as its usage and srun's line come after; '' where nothing was printed. The shell's own
    line on a signal says nothing more."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if re.search(r'\w', line)]  # Open MPI's begin with a rule
    ours = [line for line in lines if line.startswith('membw:')]
    ours += [OUT_OF_MEMORY for line in lines if KILLED.search(line)]
    lines = [line for line in lines if not OF_SHELL.search(line) and line not in OF_DASH]
    tools = [line for line in lines if not line.startswith('srun:')]
    of_compiler = [line for line in tools if re.search(r'\berror: ', line)]
    return [*ours, *of_compiler, *tools, *lines, ''][0]


def judge(
    status: int | None,
    verdict: str | None = None,
    printed: str = '',
    state: str | None = '',
    started: bool = False,
    other_cpu: bool = False,
) -> Missing | None:
    """How a launch ended that did not do what was expected of it; None: it did.

    It died if it began and was ended: by a signal, with its job, or by an exit status after our
    program began to measure. Whatever else left no record was refused: by the kernel, the loader,
    the shell, a launcher, a tool before the program, or the program itself.

    Args:
        status: as a shell has it; None: it did not come to an end.
        verdict: of its record; None: it left none.
        printed: its stderr.
        state: of its job.
        started: it noted so in the ledger.
        other_cpu: it was built for the CPU of another node.
    """
    of_job, said = how_job(state, printed), last_words(printed)
    began = started or verdict is not None
    is_early = of_job in EARLY and not began
    by_job = of_job != '' and not is_early  # it died with its job
    after = '' if verdict is None else ' after its record'
    if status is None:
        return Missing(f'{of_job or said or "the job ended"}{after}', began or by_job)
    if verdict is not None and status in ((0,) if verdict == 'VALID' else (0, 1)):
        return None
    if verdict is None and status == 0:
        return Missing(of_job or f'no record: {said or "it printed nothing"}', by_job)
    by_signal = signal_of(status)
    if by_signal == signal.SIGSYS and verdict is None:
        return Missing(f'{how(status)}: a filter refused a system call', False)
    if by_signal == signal.SIGILL and other_cpu:
        return Missing(f'{how(status)}: it was built for another CPU than this node has', False)
    why = ', '.join(filter(None, [how(status), of_job]))
    said = '' if by_signal and said.startswith('srun: error: ') else said  # the same, as a number
    if verdict is not None:
        return Missing(f'{why}{after}', True)
    is_refusal = status == USAGE and said.startswith('membw:')
    died = bool(by_signal) or of_job not in ('', *EARLY) or (started and not is_refusal)
    return Missing(': '.join(filter(None, [why, said])), died and not is_early)
