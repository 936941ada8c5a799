"""What a run needs and this host may lack: each lack is one readable reason. Where it is of the
moment it is a NotNow: the row is MISSING, else it is skipped.

A card here is any node that is reached by ssh and sees no file of this host: ReFrame takes the
stage folder to it, runs the job in it and brings it back.
"""

import contextlib
import functools
import os
import re
import shutil
import sys

import reframe.core.runtime as runtime
from reframe.core.environments import Environment
from reframe.core.systems import SystemPartition

from lib import CHECKOUT, end
from membw.call import call
from membw.site import slurm
from membw.site.topology import is_local

# busybox and a dead card: neither may hold up the session
LIMIT_S = 20
# on a card: the stage folder there is the working folder of the job
VARIABLES = {'LD_LIBRARY_PATH': '$PWD:$LD_LIBRARY_PATH'}
# an INVALID run ends with status 1, and what a job leaves that failed is not brought back
BRING_BACK = 'true'
# by ReFrame's name of the scheduler: what is asked of it is asked by these
SUBMIT = {
    **dict.fromkeys(slurm.SCHEDULERS, ('Slurm', 'sbatch')), 'pbs': ('PBS', 'qsub'),
    'torque': ('Torque', 'qsub'), 'sge': ('SGE', 'qsub'), 'lsf': ('LSF', 'bsub'),
    'oar': ('OAR', 'oarsub'), 'flux': ('Flux', 'flux'), 'ssh': ('ssh', 'ssh'),
}  # fmt: skip


class NotNow(str):
    """It is to be measured here, and cannot be for now: no answer, module or licence."""


def is_card(partition: SystemPartition) -> bool:
    return partition.scheduler.registered_name == 'ssh'


@functools.cache  # one answer for all cases of a session
def answer(command: str) -> str | None:
    """What a command prints, None: it fails or takes too long."""
    done = call(['sh', '-c', command], LIMIT_S)
    return done.stdout if done.returncode == 0 else None


def no_scheduler(partition: SystemPartition) -> str | None:
    """Why no job of this partition can be started from here, or None."""
    reason, kind = None, partition.scheduler.registered_name
    scheduler, command = SUBMIT.get(kind, ('', ''))
    if command and not shutil.which(command):
        reason = f"{partition.fullname} needs {scheduler}: no '{command}' on this host"
    elif kind in slurm.SCHEDULERS:
        if not answers(slurm.cluster_of(partition.access)):
            reason = f"{partition.fullname} needs Slurm: no controller answers 'sinfo'"
        elif said := no_partition(tuple(partition.access)):
            reason = f'{partition.fullname} needs a partition of Slurm: {said}'
    elif is_card(partition):
        reason = unreachable(partition)
        if not reason:  # of the moment is what does not answer, not which card is there
            return another(partition)
    return NotNow(reason) if reason else None


@functools.cache
def answers(cluster: str) -> bool:
    """Whether the controller of Slurm's cluster does."""
    with contextlib.suppress(slurm.NoAnswer):
        slurm.query('sinfo', '-h', cluster=cluster)
        return True
    return False


@functools.cache
def no_partition(access: tuple[str, ...]) -> str:
    """Slurm's words for jobs that name none, where none is the default, and what to write."""
    is_named = slurm.option(access, '-p', '--partition')
    if is_named or any(word.startswith(('-J', '--job-option')) for word in sys.argv):
        return ''
    words = [word for one in access for word in slurm.words_of(one)]
    try:
        slurm.query('sbatch', '--test-only', *words, text='#!/bin/sh\n')
    except slurm.NoAnswer as err:
        return str(err) if slurm.NO_PARTITION in str(err) else ''
    return ''


def refuse_what_is_elsewhere() -> None:
    """Of a run none of whose partitions can be reached ReFrame would print the reason once per
    build, skip all, and end with PASSED and status 0."""
    if not any(re.fullmatch('-[Rqv]*r[Rqv]*|--run', word) for word in sys.argv) or has_others():
        return
    system = runtime.runtime().system
    reasons = {p.fullname: no_scheduler(p) or '' for p in system.partitions}
    if reasons and all(reasons.values()):
        each = {why.removeprefix(f'{name} '): name for name, why in reasons.items()}
        facts = ', '.join(f'{name} {why}' for why, name in each.items())
        end(
            f'nothing was measured: {facts}',
            f"run it on {system.name}; 'membw run -l' lists its tests, '--system local' measures "
            'this machine',
        )


def has_others() -> bool:
    """Whether checks of the site run in this session as well: they may need no scheduler."""
    given = runtime.runtime().get_option('general/0/check_search_path')
    # where the session began, perhaps: ReFrame loads a file from its own folder
    places = os.environ.get('PWD', ''), CHECKOUT
    every = [{os.path.realpath(os.path.join(place, path)) for place in places} for path in given]
    ours = f'{CHECKOUT}/reframe-checks'
    return not all(any(path.startswith(ours) for path in paths) for paths in every)


def no_topology(partition: SystemPartition) -> str | None:
    """Why it is not known how many cores a node has, or None."""
    if not partition.processor.num_cpus and not is_local(partition):
        return NotNow(
            f'the cores of {partition.fullname} are not known: its file has no '
            "'processor', and no job could be started there to find them"
        )


def no_modules(environ: Environment) -> str | None:
    """Why the modules of this environment cannot be loaded, or None."""
    wanted, system = environ.modules, runtime.runtime().modules_system
    if not wanted:
        return None
    if system.name == 'nomod':
        return f"{environ.name} needs module '{wanted[0]}': no modules system here"
    for module in wanted:
        if not system.available_modules(module):
            return NotNow(f"{environ.name} needs module '{module}': not available here")


# --- of a card ----------------------------------------------------------------------------------


def unreachable(partition: SystemPartition) -> str | None:
    """Why no job can be started there, or None: of several hosts those that answer are measured,
    and a dead one fails by itself."""
    hosts = partition.extras.get('hosts', [])
    reasons = [why for host in hosts if (why := no_answer(partition, host))]
    is_dead = hosts and len(reasons) == len(hosts)
    return f'{partition.fullname} is reached by ssh: {reasons[0]}' if is_dead else None


def no_answer(partition: SystemPartition, host: str) -> str | None:
    """What ReFrame calls there: the shell of its scripts, and rsync where this host has it; as it
    would call ssh itself."""
    tools = 'bash rsync' if shutil.which('rsync') else 'bash'
    command = f'for tool in {tools}; do command -v $tool >/dev/null || echo $tool; done'
    options = ' '.join(partition.access)
    said = answer(f"ssh -o BatchMode=yes -o ConnectTimeout=5 {options} {host} '{command}'")
    if said is None:
        return f"'{host}' does not answer"
    # a shell's start may print what it likes
    lacks = [line for line in said.split('\n') if line in tools.split()]
    return f"'{host}' has no '{lacks[0]}', which ReFrame needs there" if lacks else None


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
