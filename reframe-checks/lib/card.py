"""A node that is reached by ssh and sees no file of this host, as a card does: which one it is,
what it lacks; what is copied there.

ReFrame takes the stage folder to the node, runs the job in it and brings it back.
"""

import functools
import os
import re
import shutil
import subprocess

from reframe.core.environments import Environment
from reframe.core.systems import SystemPartition

# busybox and a dead card: neither may hold up the session
LIMIT_S = 20


def is_card(partition: SystemPartition) -> bool:
    return partition.scheduler.registered_name == 'ssh'


@functools.cache  # one answer for all cases of a session
def answer(command: str) -> str | None:
    """What a command prints, None: it fails or takes too long."""
    try:
        done = subprocess.run(
            ['sh', '-c', command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=LIMIT_S)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def remote(partition: SystemPartition, host: str, command: str) -> str | None:
    """The command there, as ReFrame itself would call ssh."""
    options = ' '.join(partition.access)
    return answer(f'ssh -o BatchMode=yes -o ConnectTimeout=5 {options} {host} {command}')


def unreachable(partition: SystemPartition) -> str | None:
    """Why no job can be started there, or None."""
    by_ssh = f'{partition.fullname} is reached by ssh'
    if not shutil.which('ssh'):
        return f"{by_ssh}: no 'ssh' on this host"
    hosts = partition.extras.get('hosts', [])
    reasons = [why for host in hosts if (why := no_answer(partition, host))]
    # of several hosts those that answer are measured, and a dead one fails by itself
    return f'{by_ssh}: {reasons[0]}' if reasons and len(reasons) == len(hosts) else None


def no_answer(partition: SystemPartition, host: str) -> str | None:
    if remote(partition, host, 'true') is None:
        return f"'{host}' does not answer"
    # what ReFrame calls there: the shell of its scripts, and rsync where this host has it
    for tool in ('bash', 'rsync') if shutil.which('rsync') else ('bash',):
        if remote(partition, host, f'"command -v {tool}"') is None:
            return f"'{host}' has no '{tool}', which ReFrame needs there"


def another(partition: SystemPartition) -> str | None:
    """Why what answers is not the card of this partition, or None: `identify` of its extras."""
    identify = partition.extras.get('identify')
    if not identify:
        return None
    command = identify['command']
    text = answer(command)
    if text is None:
        return f"{partition.fullname}: the card cannot be identified: '{command}' fails"
    for label, pattern in identify['says'].items():
        line = re.search(rf'^\s*{re.escape(label)}\s*:\s*(.*?)\s*$', text, re.M)
        said = line[1] if line else 'not said'
        if not re.search(pattern, said):
            return f"{partition.fullname}: this is another card: {label} is '{said}'"


def libraries(partition: SystemPartition, environ: Environment) -> list[str]:
    """Shared libraries that the program needs there, as paths of this host."""
    paths = list(partition.extras.get('libraries', []))
    if 'hugetlbfs' in environ.features:
        paths.append(f'{partition.extras.get("libhugetlbfs")}/obj64/libhugetlbfs.so')
    return paths


def lacking_library(partition: SystemPartition, environ: Environment) -> str | None:
    """Why the program would not start there, or None."""
    for path in libraries(partition, environ) if is_card(partition) else ():
        if not os.path.isfile(path):
            return f"{partition.fullname}: no '{path}' on this host to copy there"


# the stage folder there is the working folder of the job
VARIABLES = {'LD_LIBRARY_PATH': '$PWD:$LD_LIBRARY_PATH'}
# an INVALID run ends with status 1, and what a job leaves that failed is not brought back
BRING_BACK = 'true'
