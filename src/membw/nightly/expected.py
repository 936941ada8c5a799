"""nodes.txt of a night: the nodes that should have been measured, and why one may be missing.

These are the nodes with a record, those of earlier nights, and those that Slurm has in the same
partitions. A node that takes jobs and was in none of ours is in a comment: it is no alarm. Nor is
one that was MISSING in RECENT nights already: whoever reads the mail knows it.
"""

import contextlib
import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from membw.checkout import root
from membw.files import read_text, write_whole
from membw.results.hostlist import KNOWN, fold, read_node_check
from membw.results.verdict import MISSING
from membw.site.slurm import SCHEDULERS, queue

FILE = 'nodes.txt'
DEFAULT = '*'  # the queue of jobs that name none
LIMIT_S = 60
RECENT = 14  # nights: a node of an older one, which Slurm does not have, is no longer expected;
# one that Slurm has is known to be missing
TAKES_JOBS = (
    'idle', 'alloc', 'mix', 'comp', 'plan', 'resv', 'reserved', 'maint', 'power', 'boot',
)  # fmt: skip


class State(NamedTuple):
    """Of a node, as sinfo has it."""

    queues: set[str]
    node: str
    word: str
    since: str
    reason: str

    @property
    def takes_jobs(self) -> bool:
        """idle* does not answer."""
        return self.word.startswith(TAKES_JOBS) and not self.word.endswith('*')

    @property
    def text(self) -> str:
        """'drained since 2026-11-24T09:12:00: DIMM'."""
        since = f' since {self.since}' if self.since[:1].isdigit() else ''
        return self.word + since + (f': {self.reason}' if self.reason != 'none' else '')


def write(folder: Path, records: Path) -> Path:
    """The file in the folder of the night whose cluster records are given."""
    rows = list(_rows(records))
    measured = {row['host'].partition('.')[0] for row in rows if row.get('host')}
    queues = _queues(row.get('case') or {} for row in rows)
    states = {one.node: one for one in sinfo()}
    ours = {node for node, one in states.items() if queues & one.queues}
    last, missed = _earlier_nights(folder)
    recent = sorted(set(last.values()), reverse=True)[:RECENT]
    ours |= {node for node, night in last.items() if night in recent}
    lines, free = sorted(measured), []
    for node in sorted(ours - measured):
        when = f'last measured in the night {last[node]}' if node in last else 'never measured'
        if node in states and states[node].takes_jobs:
            free.append(node)
        else:
            now = states[node].text if node in states else 'Slurm does not know it'
            known = f'{KNOWN} for {missed[node]} nights' if missed[node] >= RECENT else ''
            lines.append(f'{node}  # {"; ".join(filter(None, [known, now * bool(states), when]))}')
    if free:
        lines.insert(0, f'# not measured, in use or not in the job: {fold(free)}')
    write_whole(folder / FILE, '\n'.join([*lines, '']))
    return folder / FILE


def _rows(records: Path) -> Iterator[dict]:
    for file in sorted(records.iterdir()):
        for line in read_text(file).splitlines():
            with contextlib.suppress(ValueError):  # `rank` names damaged lines
                row = json.loads(line)
                if isinstance(row, dict):
                    yield row


def comments(folder: Path) -> list[str]:
    """Of the file's lines without a node."""
    file = folder / FILE
    lines = file.read_text().splitlines() if file.exists() else []
    return [line.removeprefix('# ') for line in lines if line.startswith('#')]


def _earlier_nights(folder: Path) -> tuple[dict[str, str], Counter[str]]:
    """({node: the newest night before this one in which it was measured}, {node: the nights since
    then in which it was MISSING})."""
    last: dict[str, str] = {}
    missed: Counter[str] = Counter()
    for night in sorted(folder.parent.glob('2*')):
        if night.name < folder.name:
            for name, word, _ in read_node_check(night / 'nodecheck.txt'):
                node = name.partition('.')[0]
                if word == MISSING:
                    missed[node] += 1
                else:
                    last[node], missed[node] = night.name, 0
    return last, missed


def _queues(cases: Iterable[dict]) -> set[str]:
    """Slurm's names of the partitions; DEFAULT of one that is not named."""
    found = set()
    for system, partition in {(case.get('system'), case.get('partition')) for case in cases}:
        file = Path(root(), 'systems', f'{system}.yaml')
        facts = yaml.safe_load(file.read_text()) if file.exists() else {'partitions': []}
        for one in facts['partitions']:
            if one['name'] == partition and one['scheduler'] in SCHEDULERS:
                found.update(queue(one.get('access', []))[1:] or [DEFAULT])
    return found


def sinfo() -> list[State]:
    """[] where there is no Slurm, or it does not answer."""
    words = ['sinfo', '-h', '-N', '-o', '%P|%N|%T|%H|%E']
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = [line.split('|', 4) for line in done.stdout.splitlines() if line.count('|') >= 4]
    queues: dict[str, set[str]] = defaultdict(set)
    for name, node, *_ in rows:
        queues[node] |= {name.rstrip('*'), *[DEFAULT] * name.endswith('*')}
    return [State(queues[node], node, *rest) for _, node, *rest in rows]
