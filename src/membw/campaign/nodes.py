"""What is known of each node of a campaign, in its folder's nodes.json: when it was measured last,
and what became of each job that it was given since.

Whoever was measured once is expected until `--again` names it. A job that ended is an attempt,
also one of which Slurm alone knows; after MOST that brought nothing there is no further one.
"""

import time
from pathlib import Path

import msgspec

from membw import strict
from membw.files import write_whole
from membw.grouped import grouped

FILE = 'nodes.json'
MOST, KEPT = 2, 20  # attempts: in vain, of a node


class Attempt(msgspec.Struct):
    job: str  # its number
    time: float
    how: str  # why it brought nothing: Slurm's word; '' it did
    record: str = ''  # its time


class Node(msgspec.Struct):
    measured: float = 0.0  # 0: not, or not since `since`
    since: float = 0.0  # of --again: what was before does not count
    attempts: list[Attempt] = []


class Nodes(dict[str, Node]):
    """{name as Slurm has it: Node}"""

    def __init__(self, home: Path) -> None:
        self.file = home / FILE
        if self.file.exists():
            try:
                self |= strict.file(self.file, dict[str, Node])
            except (OSError, strict.Damaged) as err:
                print(f'membw: {err}: begun anew', flush=True)

    def __missing__(self, name: str) -> Node:
        self[name] = Node()
        return self[name]

    def write(self) -> None:
        write_whole(self.file, msgspec.json.format(msgspec.json.encode(dict(self)), indent=1))

    def again(self, names: list[str]) -> None:
        """They are measured anew; those that Slurm has not are expected no more."""
        self |= {name: Node(since=time.time()) for name in names}
        self.write()

    def since(self, name: str) -> float:
        """What was measured before does not count."""
        return self[name].since if name in self else 0.0

    def note_measured(self, name: str, when: float) -> None:
        own = self[name]
        own.measured = max(own.measured, when)

    def lost(self, name: str, begin: float) -> str:
        """'Slurm: FAILED JobLaunchFailure, exit 0:53 (job 812), twice' of a node that gets no
        further job; '' of another one."""
        if name not in self:
            return ''
        since = max(begin, self[name].since)
        vain = [one for one in self[name].attempts if one.how and one.time >= since]
        ends = grouped((one.how, one.job) for one in vain)
        texts = [f'{how} (job {of[-1]}){", twice" * (len(of) > 1)}' for how, of in ends.items()]
        return '; '.join(texts) if len(vain) >= MOST else ''

    def note_end(self, name: str, job: str, how: str, record: str) -> None:
        """`how`: of one that left no record; `record`: the time in what it left."""
        own = self[name]
        if record and record in (one.record for one in own.attempts):
            how = f'its record has the time of an earlier one, {record}'
        own.attempts = [*own.attempts, Attempt(job, time.time(), how, record)][-KEPT:]
