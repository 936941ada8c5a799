"""Slurm's part of a campaign: the nodes that its job could have, those that have one, one more."""

import contextlib
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
ONE_NODE = '--nodes=1', '--ntasks=1'  # whatever `access` says of other jobs
QUEUE, NODES = ('-p', '--partition'), ('-w', '--nodelist')
OF_RESERVATION = re.compile(r'^ReservationName=.*? Nodes=(\S+)', re.M)
NUMBER = 'job.number'  # in the folder of a node's job
ASLEEP = '~%!'  # sinfo's signs of a node that is, or will be, powered down


class Node(NamedTuple):
    state: str
    kind: str  # features, CPUs, memory: one kind is refused as a whole
    why: str  # "drained since TIME: 'DIMM A3'" where it takes no job, else ''
    is_old: bool  # for so long that it is no alarm

    @property
    def is_idle(self) -> bool:
        return self.state.startswith('idle') and not self.why


class Job(NamedTuple):
    number: str
    state: str
    how: str  # 'PENDING (Resources) since ..., job 812'


class Queue:
    """`jobs`: {node: its job} of those that wait, run or complete; `asleep`: nodes that a job
    would boot; `limit`: Slurm's words where it takes no more jobs."""

    def __init__(self, script: Path, name: str, most: int, in_submit: Iterable[str] = ()) -> None:
        lines = script.read_text().splitlines()
        self.options = [x.removeprefix('#SBATCH ') for x in lines if x.startswith('#SBATCH ')]
        self.script, self.name, self.most = script, name, most
        self.in_submit = [*in_submit]  # what the site wants from sbatch itself
        self.options += map(shlex.quote, self.in_submit)
        if not most:  # the time is over
            user = ('-u', str(os.getuid()))
            slurm.query('scancel', *user, '-n', name, '-t', 'PENDING', cluster=self.cluster)
        self.asleep: set[str] = set()
        self.refused: set[str] = set()
        self.limit, self.jobs = '', self.find_jobs()
        self.nodes = self.find_nodes()

    @property
    def cluster(self) -> str:
        return slurm.cluster_of(self.options)

    def table(self, *words: str) -> list[list[str]]:
        return slurm.table(*words, cluster=self.cluster)

    def find_jobs(self) -> dict[str, Job]:
        form = '%n|%i|%T|%V|%r'
        return {
            node: Job(number, state, f'{state} ({reason}) since {since}, job {number}')
            for node, number, state, since, reason in self.table(
                'squeue', '-h', '-n', self.name, '-S', 'i', form
            )
            if node
        }

    def find_nodes(self) -> dict[str, Node]:
        """Those that the job's options name."""
        queue, named = (slurm.option(self.options, *names) for names in (QUEUE, NODES))
        queue = queue or self.queue_of_job()
        where, is_named = ['-p', queue] if queue else [], bool(named)
        if booked := slurm.option(self.options, '--reservation'):
            of = ('scontrol', '-o', 'show', 'reservation', booked)
            said = slurm.query(*of, cluster=self.cluster)
            if not (found := OF_RESERVATION.search(said)):
                raise slurm.no(of, 'nodes of a reservation', said)
            named = found[1]
        elif '/' in named:  # a file, which sinfo does not take
            named = ','.join(expected_nodes(named))
        words = ('sinfo', '-h', '-N', *where, *(['-n', named] if named else []))
        without = slurm.option(self.options, '-x', '--exclude')
        left_out = {*expected_nodes(without)} if without else set()
        out, nodes = {name for (name,) in self.table(*words, '-R', '%N')}, {}
        form = '%P|%N|%T|%f %c %m|%H|%E'
        for queue, name, state, kind, since, why in self.table(*words, form):
            if (where or queue.endswith('*')) and name not in left_out:
                why = f"{state} since {since}: '{printable(why)}'" if name in out else ''
                nodes[name] = Node(state, kind, why, bool(why) and is_old(since))
                if state[-1] in ASLEEP and not (why or is_named or name in self.jobs):
                    self.asleep.add(name)
        return nodes

    def queue_of_job(self) -> str:
        """That Slurm gives it, by a constraint or a QOS; '': not known, so the default one."""
        try:
            return self.plan().partition
        except slurm.NoAnswer as err:
            if slurm.NO_PARTITION in str(err):
                raise
        return ''

    def plan(self) -> slurm.Plan:
        """Of one job more."""
        words = (*self.in_submit, *ONE_NODE, str(self.script))
        return slurm.plan(*words, cluster=self.cluster)

    def free_from(self) -> str:
        """'no node is free before TIME', as far as Slurm knows."""
        is_moving = any(job.state != 'PENDING' for job in self.jobs.values())
        could = (node for node in self.nodes.values() if node.kind not in self.refused)
        if is_moving or any(node.is_idle for node in could):
            return ''
        with contextlib.suppress(slurm.NoAnswer):
            return f'no node is free before {self.plan().when}'
        return ''

    def why(self, name: str) -> str:
        """It is not measured."""
        job = self.jobs.get(name)
        return self.nodes[name].why or (job.how if job else self.nodes[name].state)

    def submit(self, nodes: Iterable[str]) -> None:
        """Jobs for these nodes, idle ones first, as far as there is room; at most half of it is
        for busy nodes, as others may become idle before. NoAnswer: Slurm takes no job."""
        free = [n for n in nodes if n not in self.jobs and not self.nodes[n].why]
        for name in sorted(free, key=lambda name: not self.nodes[name].is_idle):
            node = self.nodes[name]
            waiting = [
                n
                for n, job in self.jobs.items()
                if job.state == 'PENDING' and n in self.nodes and not self.nodes[n].is_idle
            ]
            is_late = not node.is_idle and len(waiting) >= max(1, self.most // 2)
            full = is_late or len(self.jobs) >= self.most or self.limit
            if full or node.kind in self.refused or name in self.asleep:
                continue
            folder = self.script.parent / 'nodes' / name
            how = [f'--job-name={self.name}', f'--nice={NICE}', f'--nodelist={name}']
            words = [*self.in_submit, *how, *ONE_NODE, f'--chdir={folder}', str(self.script)]
            if number := self.taken(words, folder):
                self.jobs[name] = Job(number, 'PENDING', f'PENDING, job {number}')
            elif not self.limit:
                self.refused.add(node.kind)

    def taken(self, words: list[str], folder: Path) -> str:
        """The number of the job; '' where Slurm refuses such a node, or one job more."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            number = slurm.submit(*words, cluster=self.cluster)
        except slurm.NoAnswer as err:
            folder.rmdir()
            if slurm.NOT_FOR not in str(err):
                if not self.jobs:
                    raise
                self.limit = str(err)
            return ''
        (folder / NUMBER).write_text(number)
        return number

    def give_up(self, nodes: Iterable[str]) -> None:
        """What still waits for these is cancelled."""
        for name in [n for n in nodes if n in self.jobs and self.jobs[n].state == 'PENDING']:
            slurm.cancel(self.jobs.pop(name).number, self.cluster)


def is_old(since: str) -> bool:
    """Of a time as sinfo has it; 'Unknown' is none."""
    with contextlib.suppress(ValueError, OverflowError):
        return time.mktime(time.strptime(since, '%Y-%m-%dT%H:%M:%S')) < time.time() - OLD_S
    return False
