"""The nodes of a Slurm partition: who could have been asked, and who was not."""

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
