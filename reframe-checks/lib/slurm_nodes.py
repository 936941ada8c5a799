"""The nodes that a job gets: asked of Slurm as the job would ask, with all of its options."""

import functools
import os
import pathlib
import re
import time
from collections.abc import Callable, Iterable

import reframe.core.runtime as runtime
from reframe.core.exceptions import ReframeError
from reframe.core.pipeline import RegressionTest
from reframe.core.schedulers import Job

from lib.batch_job import OF_SESSION, cluster, is_ended, is_of_slurm
from membw.printable import plural
from membw.results.hostlist import expected_nodes, fold
from membw.site import slurm
from membw.site.slurm import NoAnswer

PATIENCE_S = 1800
ENDING_S = 60  # a node of a job that has just ended; some never come to an end
LIMIT_S = 1800  # for a further measurement to begin and end
Say = Callable[[str], None]


def candidates(job: Job) -> dict[str, str]:
    """{node: its state} of those that the options of the job allow, by ReFrame's own filter."""
    named = {'SLURM_CLUSTERS': cluster(job)} if cluster(job) else {}
    try:
        with runtime.temp_environment(env_vars=named):
            nodes = job.scheduler.filternodes(job, job.scheduler.allnodes())
    except ReframeError as err:
        said = getattr(err.__cause__, 'stderr', '') or getattr(err, 'stderr', '') or str(err)
        raise NoAnswer(' '.join(said.split())) from err
    return {node.name: state(node.descr) for node in nodes}


def state(node: str) -> str:
    """'idle+drain', as `scontrol show node` has it."""
    word = re.search(r' State=(\S+)', node)
    return word[1].lower() if word else 'unknown'


def under_way(job: Job, ids: Iterable[str]) -> list[str]:
    """Of these jobs those that have not ended, on the cluster of `job`; where the controller does
    not answer nothing is known of any."""
    words = 'squeue', '-h', '-t', 'all', '-u', str(os.getuid()), '%i|%T'
    try:
        states = dict(slurm.table(*words, cluster=cluster(job)))
    except NoAnswer:
        return [*ids]
    known = {one: states[one] for one in ids if one in states}
    return [one for one, state in known.items() if not is_ended(state)]


def wait_for_session(job: Job, say: Say) -> None:
    """Until the nodes that other jobs of this session use are idle again; else they would be left
    out. A job may wait for a node that never comes back: at most PATIENCE_S."""
    ids = [one.jobid for one in OF_SESSION if one.jobid]
    said, until = [], time.monotonic() + PATIENCE_S
    while (rest := under_way(job, ids)) and time.monotonic() < until:
        if rest != said:
            say(f'waits for jobs of this session: {", ".join(rest)}')
        said = rest
        time.sleep(1)
    until = time.monotonic() + ENDING_S
    while time.monotonic() < until and any('completing' in s for s in candidates(job).values()):
        time.sleep(1)


def most(job: Job, least: int, limit: int) -> tuple[int, str]:
    """(the most nodes that a job would get now, at least `least` and at most `limit`; Slurm's
    words of one node more, or of the least, where it gives none: 0)."""
    now, said = starts(job, limit)
    good, bad = (limit, limit) if now else (least - 1, limit)
    while bad - good > 1:
        number = least if good < least else (good + bad) // 2
        now, text = starts(job, number)
        if now:
            good = number
        else:
            bad, said = number, text
    return (good if good >= least else 0), said


def starts(job: Job, nodes: int) -> tuple[bool, str]:
    """(Whether a job of so many nodes would start now, what `sbatch --test-only` said)."""
    job.num_tasks = nodes
    words, what = (f'--nodes={nodes}', *in_submit(job)), plural(nodes, 'node')
    return slurm.starts_now(*words, text=script(job), what=what, cluster=cluster(job))


def script(job: Job) -> str:
    return '\n'.join(['#!/bin/sh', *job.scheduler.emit_preamble(job), 'true', ''])


def fill(job: Job, check: RegressionTest) -> None:
    """With what ReFrame gives it when it submits it."""
    job.num_tasks, job.num_tasks_per_node = check.num_tasks, check.num_tasks_per_node
    job.num_cpus_per_task, job.use_smt = check.num_cpus_per_task, check.use_multithreading
    job.exclusive_access = check.exclusive_access


def never_starts(check: RegressionTest) -> str:
    """Slurm's words where it has no node for the job of a check; '' elsewhere."""
    job = check.job
    if not is_of_slurm(job):
        return ''
    fill(job, check)
    said = why_refused(script(job), tuple(in_submit(job)), cluster(job))
    return said if slurm.NOT_FOR in said else ''


@functools.cache  # rows differ in their programs alone
def why_refused(text: str, words: tuple[str, ...], cluster: str) -> str:
    lines = (line for line in text.splitlines() if not line.startswith('#SBATCH --job-name'))
    try:
        slurm.plan(*words, text='\n'.join([*lines, '']), cluster=cluster)
    except NoAnswer as err:
        return str(err)
    return ''


def is_powered_down(state: str) -> bool:
    """'idle+cloud+powered_down': a job would boot it, which costs time, and somewhere money."""
    return bool(re.search(r'\+power(ed_down|ing_down|_down)?(\+|,|$)', state))


def without_powered_down(job: Job, before: dict[str, str]) -> list[str]:
    """The nodes that the job may have: those that are powered down only where it names nodes."""
    options = [*job.sched_access, *job.options, *job.cli_options]
    asleep = [name for name, state in before.items() if is_powered_down(state)]
    if not asleep or slurm.option(options, '-w', '--nodelist'):
        return [*before]
    given = slurm.option(options, '-x', '--exclude')
    asleep += expected_nodes(given) if given else []
    job.options = [*job.options, f'--exclude={fold(asleep)}']
    return [name for name in before if name not in asleep]


def in_submit(job: Job) -> list[str]:
    """What ReFrame gives to sbatch itself, where the partition says so."""
    in_words = is_of_slurm(job) and job.scheduler.get_option('sched_access_in_submit')
    return [word for one in job.sched_access for word in one.split()] if in_words else []


def measure_again(job: Job, folder: pathlib.Path, nodes: list[str], say: Say) -> None:
    """A further measurement: the script of the job once more, on these nodes, in a folder of its
    own, until it has ended; `sbatch --wait` looks after 2, 10, 42 s."""
    folder.mkdir()
    words = [
        f'--chdir={folder}', f'--nodelist={",".join(nodes)}',
        f'--nodes={len(nodes)}', f'--ntasks={len(nodes)}', *in_submit(job),
        str(folder.parent / pathlib.Path(job.script_filename).name),
    ]  # fmt: skip
    try:
        number = slurm.submit(*words, cluster=cluster(job))
    except NoAnswer as err:
        say(f'no further measurement: {err}')
        return
    until = time.monotonic() + LIMIT_S
    try:
        while under_way(job, [number]):
            if time.monotonic() > until:
                say(f'job {number} had not ended after {LIMIT_S} s')
                break
            time.sleep(1)
    finally:
        slurm.cancel(number, cluster(job))


def left_out(before: dict[str, str], measured: list[str], said: str) -> str:
    """'; not measured: n3 (idle+drain)' of nodes that the job could have and did not get."""
    rest = [f'{name} ({state})' for name, state in sorted(before.items()) if name not in measured]
    more = f' (one node more: {said})' if said else ''
    return f'; not measured{more}: {", ".join(rest)}' if rest else ''
