"""The nodes of a Slurm partition: those available for a job, and those left out."""

import os
import re
import subprocess
import time

from membw.site import slurm
from membw.site.slurm import queue

# nodes that will be idle in a moment: a job of ours has just ended on them
ENDING = 'completing'
PATIENCE_S = 1800


def query(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else ''


def states(access: list[str]) -> dict[str, str]:
    """{node: state} as `sinfo` has them now; a trailing * says that the node does not answer."""
    lines = query('sinfo', '-h', '-N', *queue(access), '-o', '%N %T').splitlines()
    return dict(line.split() for line in lines)


def own_jobs() -> list[str]:
    """Jobs of this user that ReFrame submitted and that run or wait."""
    text = query('squeue', '-h', '-u', str(os.getuid()), '-t', 'PD,R,CG', '-o', '%i %j')
    jobs = (line.split() for line in text.splitlines())
    return [words[0] for words in jobs if len(words) == 2 and words[1].startswith('rfm_')]


def is_under_way(job: str) -> bool:
    """Also where the controller does not answer in time: it says nothing of the job."""
    words = ('squeue', '-h', '-u', str(os.getuid()), '-t', 'PD,R,CG', '-o', '%i')
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode != 0 or job in done.stdout.split()


def wait_for_own_jobs(access: list[str]) -> None:
    """Until the nodes that jobs of the same run use are idle again; else they would be left out.

    At most PATIENCE_S seconds: a job may wait for a node that never comes back.
    """
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        ending = (state.startswith(ENDING) for state in states(access).values())
        if not own_jobs() and not any(ending):
            return
        time.sleep(1)


def most_nodes(access: list[str]) -> int:
    """The partition's MaxNodes: a job that wants more is refused; 0 for none."""
    words = queue(access)
    lines = query('scontrol', '-o', 'show', 'partition', *words[1:]).splitlines()
    lines = [line for line in lines if words or ' Default=YES ' in line]
    limit = re.search(r' MaxNodes=(\d+)', lines[0]) if lines else None
    return int(limit[1]) if limit else 0


def not_measured(before: dict[str, str], measured: list[str]) -> str:
    """'; not measured, because not idle: n3 (drained)' of nodes that the job did not get."""
    rest = {name: state for name, state in before.items() if name not in measured}
    text = f'; not measured, because not idle: {busy(rest)}' if busy(rest) else ''
    idle = available(rest)
    if idle:
        text += (
            f'; not measured, above the limit of {len(measured)} nodes per job: {", ".join(idle)}'
        )
    return text


def busy(nodes: dict[str, str]) -> str:
    """'n1 (allocated), n3 (drained)' of the nodes that are not available."""
    left = set(nodes) - set(available(nodes))
    return ', '.join(f'{name} ({state})' for name, state in nodes.items() if name in left)


def available(nodes: dict[str, str]) -> list[str]:
    """Those that a job of the whole partition gets."""
    return [name for name, state in nodes.items() if state in slurm.AVAILABLE]


def asleep(nodes: dict[str, str]) -> list[str]:
    """Of those the powered-down ones, which the job boots."""
    return [name for name in available(nodes) if nodes[name] != 'idle']
