"""A partition of Slurm, and a job on one of its nodes."""

import json
import os
import re
import shlex
import shutil
import subprocess
from contextlib import suppress

from membw.checkout import root
from membw.errors import MembwError
from membw.presets.table import Facts
from membw.site import slurm

JOB_MINUTES = 10
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


def seconds(limit: str) -> int:
    """'1-02:00:00', '1-02', '30:00', '45' (minutes) or 'infinite' -> s; 0: no limit."""
    if not re.fullmatch(r'(\d{1,6}-)?\d{1,6}(:\d\d?){0,2}', limit, re.ASCII):
        return 0
    days, _, clock = limit.rpartition('-')
    parts = [int(part) for part in clock.split(':')]
    if days:  # hours come first
        hours, minutes, rest = [*parts, 0, 0][:3]
    else:  # minutes alone, minutes and seconds, or all three
        hours, minutes, rest = parts if len(parts) == 3 else [0, *parts, 0][:3]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + rest


def partition(name: str, access: list[str]) -> dict[str, int]:
    """{'nodes': how many, 'idle': of them, 'limit_s': of a job}"""
    rows = table(access, 'sinfo', '-h', '%R|%F|%l')  # %F: nodes allocated/idle/other/all
    mine = [row for row in rows if row[0] == name]
    if not mine:
        known = sorted({row[0] for row in rows})
        hint = f'known here: {" ".join(known)}' if known else 'sinfo lists none'
        raise MembwError(f"Slurm has no partition '{name}'", hint)
    counts = [row[1].split('/') for row in mine]  # allocated, idle, other, all
    return {
        'nodes': sum(int(count[3]) for count in counts),
        'idle': sum(int(count[1]) for count in counts),
        'limit_s': seconds(mine[0][2]),
    }


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
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    for line in reversed(done.stdout.splitlines()):  # a module, a prolog, a profile may print
        with suppress(ValueError, RecursionError):
            facts = json.loads(line)
            if isinstance(facts, dict) and 'processor' in facts:
                return facts
    said = [*filter(None, [*done.stderr.splitlines(), *done.stdout.splitlines()])]
    raise MembwError(
        f"the job on a node of '{name}' printed no facts: {said[0] if said else 'nothing'}",
        "options that your jobs need: --access '-A PROJECT'; the checkout must lie on a file "
        'system that the nodes see',
    )
