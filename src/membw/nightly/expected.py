"""nodes.txt of a night: the nodes that should have been measured, and why one may be missing.

These are the nodes with a record, those of earlier nights, and those that Slurm has in the
partitions of the whole-cluster checks. A node that takes jobs and was in none of ours is in a
comment: it is no alarm. Nor is one that was MISSING in RECENT nights already: whoever reads the
mail knows it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import yaml

from membw.checkout import root
from membw.files import write_whole
from membw.nightly.measured import CLUSTER, RECENT, hosts_of
from membw.nightly.night import Night
from membw.results.hostlist import KNOWN, fold, read_node_check
from membw.results.verdict import MISSING
from membw.site import slurm

FILE = 'nodes.txt'
DEFAULT = '*'  # the queue of jobs that name none


class State(NamedTuple):
    """Of a node, as sinfo has it."""

    queues: set[str]
    counts: str  # '1/0/0/1': allocated, idle, other, all
    word: str
    since: str
    reason: str

    @property
    def takes_jobs(self) -> bool:
        """Of those that it counts as allocated or idle; idle* does not answer, and who drains a
        node says why."""
        is_other = self.counts.split('/')[2] != '0'
        return not is_other and self.reason == 'none' and not self.word.endswith('*')

    @property
    def text(self) -> str:
        """'drained since 2026-11-24T09:12:00: DIMM'."""
        since = f' since {self.since}' if self.since[:1].isdigit() else ''
        return self.word + since + (f': {self.reason}' if self.reason != 'none' else '')


def write(night: Night, cases: Iterable[dict]) -> dict[str, str]:
    """{node that is missing: why}; `cases`: of the night, measured or not."""
    folder, records = night.folder, night.folder / CLUSTER
    files = records.iterdir() if records.exists() else []
    measured = {host.partition('.')[0] for file in files for host in hosts_of(file)}
    queues = _queues({(c['system'], c['partition']) for c in cases if 'node_check' in c})
    states = sinfo(night) if queues else {}
    last, missed = _earlier_nights(folder)
    recent = sorted(set(last.values()), reverse=True)[:RECENT]
    ours = {node for node, one in states.items() if queues & one.queues}
    ours |= {node for node, night in last.items() if night in recent}
    missing, free = {}, []
    for node in sorted(ours - measured):
        if node in states and states[node].takes_jobs:
            free.append(node)
            continue
        reasons = [f'{KNOWN} for {missed[node]} nights'] * (missed[node] >= RECENT)
        if states:
            reasons.append(states[node].text if node in states else 'Slurm does not know it')
        when = f'last measured in the night {last[node]}' if node in last else 'never measured'
        missing[node] = '; '.join([*reasons, when])
    lines = [f'# not measured, in use or not in the job: {fold(free)}'] * bool(free)
    lines += sorted(measured) + [f'{node}  # {why}' for node, why in missing.items()]
    if lines:
        write_whole(folder / FILE, '\n'.join([*lines, '']))
    return missing


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
    for night in sorted(path for path in folder.parent.glob('2*') if path.name < folder.name):
        for name, word, _ in read_node_check(night / 'nodecheck.txt'):
            node = name.partition('.')[0]
            if word == MISSING:
                missed[node] += 1
            else:
                last[node], missed[node] = night.name, 0
    return last, missed


def _queues(places: Iterable[tuple[str, str]]) -> set[str]:
    """Slurm's names of the partitions; DEFAULT of one that is not named."""
    found = set()
    for system, partition in places:
        file = Path(root(), 'systems', f'{system}.yaml')
        facts = yaml.safe_load(file.read_text()) if file.exists() else {'partitions': []}
        for one in facts['partitions']:
            if one['name'] == partition and one['scheduler'] in slurm.SCHEDULERS:
                found.add(slurm.option(one.get('access', []), '-p', '--partition') or DEFAULT)
    return found


def sinfo(night: Night) -> dict[str, State]:
    """{node: its state}; {} where Slurm does not answer, which is a problem of the night."""
    try:
        lines = slurm.query('sinfo', '-h', '-N', '-o', '%P|%N|%F|%T|%H|%E').splitlines()
    except slurm.NoAnswer as err:
        night.state.problems['sinfo'] = [f'no nodes of Slurm: {err}']
        return {}
    rows = [line.split('|', 5) for line in lines if line.count('|') >= 5]
    queues: dict[str, set[str]] = defaultdict(set)
    for name, node, *_ in rows:
        queues[node] |= {name.rstrip('*'), *[DEFAULT] * name.endswith('*')}
    return {node: State(queues[node], *rest) for _, node, *rest in rows}
