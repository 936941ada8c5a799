"""Slurm's part of a campaign: the nodes that its job could have, those that have one, one more."""

import contextlib
import json
import os
import re
import shlex
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from membw.printable import printable
from membw.results.hostlist import expected_nodes
from membw.site import slurm

NICE = 10_000  # behind all users
OLD_S = 14 * 86_400  # who is drained for so long is known to be missing
ONE_NODE = '--nodes=1', '--ntasks=1'  # in place of those of the first job
QUEUE, NODES = ('-p', '--partition'), ('-w', '--nodelist')
# sbatch of a node that has not what the job asks for: a smaller one, or without the feature
NOT_FOR = 'Requested node configuration is not available'


class Node(NamedTuple):
    state: str
    kind: str  # features, CPUs, memory: one kind is refused as a whole
    why: str  # "drained since TIME: 'DIMM A3'" where it takes no job, else ''
    is_old: bool  # for so long that it is no alarm


class Queue:
    """`jobs`: {node: how its job is} of those that wait, run or complete."""

    def __init__(self, script: Path, name: str, most: int) -> None:
        lines = script.read_text().splitlines()
        self.options = [x.removeprefix('#SBATCH ') for x in lines if x.startswith('#SBATCH ')]
        self.script, self.name, self.most = script, name, most
        job = script.with_name('job.json')  # what the site wants from sbatch itself
        self.in_submit = json.loads(job.read_text()).get('in_submit', []) if job.exists() else []
        self.options += map(shlex.quote, self.in_submit)
        if not most:  # the time is over
            user = ('-u', str(os.getuid()))
            slurm.query('scancel', *user, '-n', name, '-t', 'PENDING', cluster=self.cluster)
        self.jobs, self.nodes, self.refused = self.states(), self.find_nodes(), set[str]()

    @property
    def cluster(self) -> str:
        return slurm.cluster_of(self.options)

    def ask(self, *words: str) -> list[str]:
        return slurm.query(*words, cluster=self.cluster).splitlines()

    def states(self, *words: str) -> dict[str, str]:
        """'-t', 'all': of all jobs that Slurm has not forgotten."""
        rows = self.ask('squeue', '-h', '-n', self.name, '-S', 'i', *words, '-o', '%n|%T since %V')
        return dict(row.split('|', 1) for row in rows if '|' in row)

    def find_nodes(self) -> dict[str, Node]:
        """Those that the job's options name."""
        queue, named = (slurm.option(self.options, *names) for names in (QUEUE, NODES))
        queue = queue or self.queue_of_job()
        where = ['-p', queue] if queue else []
        if booked := slurm.option(self.options, '--reservation'):
            said = '\n'.join(self.ask('scontrol', '-o', 'show', 'reservation', booked))
            named = said.partition(' Nodes=')[2].partition(' ')[0]
        elif '/' in named:  # a file, which sinfo does not take
            named = ','.join(expected_nodes(named))
        words = ['sinfo', '-h', '-N', *where, *(['-n', named] if named else [])]
        without = slurm.option(self.options, '-x', '--exclude')
        left_out = {*expected_nodes(without)} if without else set()
        out, found = {*self.ask(*words, '-R', '-o', '%N')}, {}
        rows = [row.split('|', 5) for row in self.ask(*words, '-o', '%P|%N|%T|%f %c %m|%H|%E')]
        for queue, name, state, kind, since, why in (row for row in rows if len(row) == 6):
            if (where or queue.endswith('*')) and name not in left_out:
                why = f"{state} since {since}: '{printable(why)}'" if name in out else ''
                found[name] = Node(state, kind, why, bool(why) and is_old(since))
        return found

    def queue_of_job(self) -> str:
        """That Slurm gives it, by a constraint or a QOS; '': not known, so the default one."""
        words, said = ('sbatch', '--test-only', *self.for_one_node), ''
        try:
            said = slurm.query(*words, cluster=self.cluster, stream='stderr')
        except slurm.NoAnswer as err:
            if slurm.NO_PARTITION in str(err):
                raise
        found = re.search(r' in partition (\S+)', said)
        return found[1] if found else ''

    @property
    def for_one_node(self) -> tuple[str, ...]:
        return *self.in_submit, *ONE_NODE, str(self.script)

    def starts_now(self) -> tuple[bool, str]:
        return slurm.starts_now(*self.for_one_node, cluster=self.cluster)

    def why(self, name: str) -> str:
        """It is not measured."""
        return self.nodes[name].why or self.jobs.get(name) or self.nodes[name].state

    def unknown(self, nodes: Iterable[str]) -> dict[str, str]:
        """{node: why} of those that are no longer in Slurm."""
        if not (names := sorted(nodes)):
            return {}
        known = self.ask('sinfo', '-h', '-N', '-n', ','.join(names), '-o', '%N')
        return dict.fromkeys(sorted({*names} - {*known}), 'Slurm does not know it')

    def submit(self, nodes: Iterable[str], dry_run: bool) -> None:
        """Jobs for these nodes, idle ones first, as far as there is room; at most half of it is
        for busy nodes, as others may become idle before. NoAnswer: Slurm takes no job."""
        busy = {name for name, node in self.nodes.items() if not node.state.startswith('idle')}
        free = [name for name in nodes if name not in self.jobs and not self.nodes[name].why]
        for name in sorted(free, key=lambda name: name in busy):
            waiting = [n for n, how in self.jobs.items() if n in busy and 'PENDING' in how]
            is_late = name in busy and len(waiting) >= max(1, self.most // 2)
            if is_late or len(self.jobs) >= self.most or self.nodes[name].kind in self.refused:
                continue
            folder = self.script.parent / 'nodes' / name
            how = [f'--job-name={self.name}', f'--nice={NICE}', f'--nodelist={name}']
            how += [*ONE_NODE, f'--chdir={folder}']
            words = ['sbatch', '--parsable', *self.in_submit, *how, str(self.script)]
            if dry_run:
                print(shlex.join(words))
            elif not self.is_taken(words, folder):
                self.refused.add(self.nodes[name].kind)
                continue
            self.jobs[name] = 'PENDING'

    def is_taken(self, words: list[str], folder: Path) -> bool:
        folder.mkdir(parents=True)
        try:
            self.ask(*words)
        except slurm.NoAnswer as err:
            folder.rmdir()
            if NOT_FOR not in str(err):
                raise
            return False
        return True


def is_old(since: str) -> bool:
    """Of a time as sinfo has it; 'Unknown' is none."""
    with contextlib.suppress(ValueError, OverflowError):
        return time.mktime(time.strptime(since, '%Y-%m-%dT%H:%M:%S')) < time.time() - OLD_S
    return False
