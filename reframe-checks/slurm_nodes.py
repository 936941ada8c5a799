"""The nodes of a Slurm partition: who could have been asked, and who was not."""

import re
import subprocess
import time

# nodes that will be idle in a moment: a job of ours has just ended on them
ENDING = 'completing'
PATIENCE_S = 60


def ask(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else ''


def queue(access):
    """The words of a partition's `access` that sinfo understands as well: its queue."""
    words = [word for option in access for word in option.split()]
    for word, following in zip(words, [*words[1:], '']):
        if word in ('-p', '--partition'):
            return ['-p', following]
        if word.startswith('--partition='):
            return ['-p', word.partition('=')[2]]
    return []


def states(access):
    """{node: state} as `sinfo` has them now; a trailing * says that the node does not answer."""
    lines = ask('sinfo', '-h', '-N', *queue(access), '-o', '%N %T').splitlines()
    return dict(line.split() for line in lines)


def wait_for_ending(access):
    """Else a node on which the program was just built would not be idle, and left out."""
    for _ in range(PATIENCE_S):
        if not any(state.startswith(ENDING) for state in states(access).values()):
            return
        time.sleep(1)


def most_nodes(access):
    """The partition's MaxNodes: a job that wants more is refused; 0 for none."""
    words = queue(access)
    lines = ask('scontrol', '-o', 'show', 'partition', *words[1:]).splitlines()
    lines = [line for line in lines if words or ' Default=YES ' in line]
    limit = re.search(r' MaxNodes=(\d+)', lines[0]) if lines else None
    return int(limit[1]) if limit else 0


def not_asked(before, asked):
    """'; not asked, ...: n3 (drained)' of the nodes that were there and not in the job, or ''."""
    others = {name: state for name, state in before.items() if name not in asked}
    idle = [name for name, state in others.items() if state == 'idle']
    busy = [f'{name} ({state})' for name, state in others.items() if state != 'idle']
    text = f'; not asked, as not idle: {", ".join(busy)}' if busy else ''
    if idle:
        text += (
            f'; not asked, beyond the {len(asked)} nodes that a job may have: {", ".join(idle)}'
        )
    return text
