"""A partition of Slurm, and a job on one of its nodes."""

import os
import re
import shlex
import shutil

from membw.call import call
from membw.checkout import root
from membw.errors import MembwError
from membw.presets.table import Facts
from membw.site import slurm
from membw.system import compiler_modules

JOB_MINUTES = 10
LIMIT = re.compile(r'(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):\d\d', re.ASCII)
OF_SBATCH = '--export', '--get-user-env', '--requeue', '--no-requeue'  # not for srun


def table(access: list[str], *words: str) -> list[list[str]]:
    """As slurm.table, of the cluster of the jobs."""
    try:
        return slurm.table(*words, cluster=slurm.cluster_of(access))
    except slurm.NoAnswer as err:
        if not shutil.which(words[0]):
            raise MembwError(
                f"no '{words[0]}' on the PATH: only Slurm is supported",
                'for another scheduler write the file: docs/bring-up.md has an example',
            ) from err
        raise MembwError(str(err), 'is the controller up?') from err


def minutes(limit: str) -> int:
    """'1-02:00:00', '2:00:00', '30:00' or 'infinite', as sinfo prints it; 0: no limit."""
    if not (found := LIMIT.fullmatch(limit)):
        return 0
    days, hours, rest = (int(number or 0) for number in found.groups())
    return max((24 * days + hours) * 60 + rest, 1)


def partition(name: str, access: list[str]) -> dict[str, int]:
    """{'nodes': how many, 'idle': of them, 'minutes': of a job}"""
    rows = table(access, 'sinfo', '-h', '%R|%F|%l')  # %F: nodes allocated/idle/other/all
    mine = [row for row in rows if row[0] == name]
    if not mine:
        known = sorted({row[0] for row in rows})
        hint = f'known here: {" ".join(known)}' if known else 'sinfo lists none'
        raise MembwError(f"Slurm has no partition '{name}'", hint)
    counts = [[*map(int, row[1].split('/'))] for row in mine]
    idle, every = (sum(count[at] for count in counts) for at in (1, 3))
    return {'nodes': every, 'idle': idle, 'minutes': minutes(mine[0][2])}


def node_facts(name: str, access: list[str]) -> Facts:
    """What membw.system.node says on one node of that partition."""
    # bash: another shell would not pass on the function `module`
    script = f'. {shlex.quote(os.path.join(root(), "setup-env.sh"))} && exec python -m {{}}'
    # bash is on our PATH
    access = [word for word in access if not word.startswith(OF_SBATCH)]
    cluster = slurm.cluster_of(access)
    access += [f'--clusters={cluster}'] if cluster else []
    words = ['srun', '-p', name, *access, '--exclusive', '-N1', '-n1', f'--time={JOB_MINUTES}']
    words += ['--job-name=membw', 'bash', '-c', script.format('membw.system.node')]
    done = call(words, None)  # the job waits for a node
    if facts := compiler_modules.facts_in(done.stdout, 'toolchains'):
        return facts
    said = [*filter(None, [*done.stderr.splitlines(), *done.stdout.splitlines()])]
    raise MembwError(
        f"the job on a node of '{name}' printed no facts: {said[0] if said else 'nothing'}",
        "options that your jobs need: --access '-A PROJECT'; do the nodes see this checkout?",
    )
