"""Slurm as ReFrame knows it."""

import argparse
import contextlib
import functools
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable

# with and without accounting; as `scheduler` of a partition
SCHEDULERS = ('slurm', 'squeue')
ANSWER_S = 60
SOON_S = 300  # a job that Slurm would start so soon starts now: clocks may differ as much
OF_FEDERATION = 'scontrol', 'show', 'federation'
NO_PARTITION = 'No partition specified'  # and none is the default
SAY_ONE = "write '-p NAME' to 'access' of the system's file: 'sinfo -o %R' lists the names"
# variables of a person's shell by which a command asks, or shows, something else
OF_USER = re.compile(r'S(BATCH|QUEUE|INFO|ACCT|CONTROL|CANCEL)_')


class NoAnswer(Exception):
    """Slurm's own words for why there is none."""


def query(*words: str, cluster: str = '', text: str | None = None, stream: str = 'stdout') -> str:
    """What one of Slurm's commands prints, asked of a cluster; `text`: its input."""
    cluster = cluster or ('' if words == OF_FEDERATION else own_cluster())
    env = {k: v for k, v in os.environ.items() if not OF_USER.match(k)}
    env |= {'SLURM_TIME_FORMAT': 'standard'} | ({'SLURM_CLUSTERS': cluster} if cluster else {})
    try:
        done = subprocess.run(
            words, input=text or '', capture_output=True, text=True, timeout=ANSWER_S, env=env
        )
    except (OSError, subprocess.TimeoutExpired) as err:
        raise NoAnswer(str(err)) from err
    if done.returncode:
        said = ' '.join(f'{done.stderr} {done.stdout}'.split())
        said += f'; {SAY_ONE}' if NO_PARTITION in said else ''
        raise NoAnswer(f"'{words[0]}': {said or f'exit status {done.returncode}'}")
    return getattr(done, stream)


def own_cluster() -> str:
    """That of this shell; of a federation that of this host, as a job would start on any."""
    of_shell = os.environ.get('SLURM_CLUSTERS', '')
    return of_shell if of_shell and 'SLURM_JOB_ID' not in os.environ else of_federation()


@functools.cache
def of_federation() -> str:
    """'': there is none, or nobody to ask."""
    with contextlib.suppress(NoAnswer):
        found = re.search(r'^Self:\s*([^:\s]+)', query(*OF_FEDERATION), re.M)
        return found[1] if found else ''
    return ''


@functools.cache
def cluster_here() -> str:
    """To which a command speaks that says nothing else; '': not known, or a shell may say else."""
    if not os.environ.get('SLURM_CLUSTERS'):
        with contextlib.suppress(NoAnswer):
            found = re.search(
                r'^ClusterName\s*=\s*(\S+)', query('scontrol', 'show', 'config'), re.M
            )
            return found[1] if found else ''
    return ''


def starts_now(
    *words: str, text: str | None = None, what: str = '', cluster: str = ''
) -> tuple[bool, str]:
    """(Whether a job with these words of sbatch would start now, what Slurm says of it, which
    names it as `what`)."""
    try:
        said = query('sbatch', '--test-only', *words, text=text, stream='stderr', cluster=cluster)
    except NoAnswer as err:
        return False, str(err)
    when = said.partition(' to start at ')[2].partition(' ')[0]
    try:
        start = time.mktime(time.strptime(when, '%Y-%m-%dT%H:%M:%S'))
    except (ValueError, OverflowError):
        return False, ' '.join(said.split())
    return start < time.time() + SOON_S, f'{what} not before {when}'.lstrip()


@functools.cache
def lacks_accounting() -> bool:
    """Whether a Slurm is here whose `sacct` says that it stores nothing; ReFrame waits for jobs
    by sacct, unless its backend is `squeue`."""
    if not (shutil.which('sbatch') and shutil.which('sacct')):
        return bool(shutil.which('sbatch'))
    try:
        query('sacct', '-n', '-X', '-S', 'now')
    except NoAnswer as err:
        return 'disabled' in str(err)
    return False


def cluster_of(access: Iterable[str]) -> str:
    """'doduo' of '-M doduo'; else that of this shell or federation, if any."""
    return option(access, '-M', '--clusters') or own_cluster()


def option(options: Iterable[str], *names: str) -> str:
    """The value of an option of a job, in whichever way it is written; '': it is not given."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(*names, dest='value', default='', nargs='?', const='')
    words = [word for one in options for word in words_of(one)]
    return str(parser.parse_known_args(words)[0].value)


def without(words: list[str], *names: str) -> list[str]:
    """An option's words, however it is written, are left out."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(*names)
    return parser.parse_known_args(words)[1]


def words_of(line: str) -> list[str]:
    """As a shell has them; as they stand where a quote is left open: `--comment=it's`."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
