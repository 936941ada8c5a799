"""Slurm as ReFrame knows it. What its commands print is read here: a site's wrapper may print
lines before it, behind it or in its place, and none of them becomes a name or a number."""

import argparse
import contextlib
import functools
import os
import re
import shlex
import shutil
import time
from collections.abc import Iterable
from typing import NamedTuple

from membw.call import LATE, NOT_STARTED, call

# with and without accounting; as `scheduler` of a partition
SCHEDULERS = ('slurm', 'squeue')
ANSWER_S = 30  # twice, but for what changes something
ONCE = ('sbatch', 'scancel')
ROW = 'membw|'  # begins each line of sinfo and squeue that was requested
# of their formats; all else is anything but a bar, and the last field is anything
FIELDS = {
    '%N': r'[\w.-]+', '%n': r'[\w.-]*', '%T': r'[A-Za-z_]+\W?', '%i': r'\d+(?:[_+]\S+)?',
    '%F': r'\d+/\d+/\d+/\d+',
}  # fmt: skip
NUMBER = re.compile(r'(\d+)(?:;[\w.-]+)?', re.ASCII)
PLANNED = re.compile(r'\bJob \d+ to start at (\S+)(?: .* in partition (\S+))?', re.ASCII)
OF_JOB = re.compile(r'(?:^|\s)(JobState|Reason|ExitCode)=(\S+)')
OF_ACCOUNT = re.compile(r'([A-Z_]+)(?: by \d+)?\|(\d+:\d+)', re.ASCII)
SOON_S = 300  # a job that Slurm would start so soon starts now: clocks may differ as much
OF_FEDERATION = 'scontrol', 'show', 'federation'
# of a job for which no node is large enough, or has the features, or all that are stay drained
NOT_FOR = 'Requested node configuration is not available'
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
    done = call([*words], ANSWER_S, text or '', env=env)
    if done.returncode == LATE and words[0] not in ONCE:
        done = call([*words], ANSWER_S, text or '', env=env)
    if done.returncode in (LATE, NOT_STARTED) and done.stderr:  # else it is its own status
        raise NoAnswer(done.stderr)
    if done.returncode:
        said = ' '.join(f'{done.stderr} {done.stdout}'.split())
        said += f'; {SAY_ONE}' if NO_PARTITION in said else ''
        raise NoAnswer(f"'{words[0]}': {said or f'exit status {done.returncode}'}")
    return getattr(done, stream)


def no(words: Iterable[str], what: str, said: str) -> NoAnswer:
    first = next((line.strip() for line in said.splitlines() if line.strip()), 'nothing')
    return NoAnswer(f"'{next(iter(words))}' printed no {what}: {first[:200]}")


def table(*words: str, cluster: str = '') -> list[list[str]]:
    """The fields of each row that sinfo or squeue prints by a format, '%n|%T', the last word."""
    *command, form = words
    names, made = form.split('|'), []
    fields = [FIELDS.get(name, '[^|]*') for name in names[:-1]] + [FIELDS.get(names[-1], '.*')]
    pattern = re.compile(r'\|'.join(f'({field})' for field in fields), re.ASCII)
    for line in query(*command, '-o', ROW + form, cluster=cluster).splitlines():
        if line.startswith(ROW):
            if not (found := pattern.fullmatch(line.removeprefix(ROW).rstrip())):
                raise no(words, 'row as requested', line)
            made.append([*found.groups()])
    return made


def submit(*words: str, cluster: str = '') -> str:
    """The number of the job."""
    said = query('sbatch', '--parsable', *words, cluster=cluster)
    found = [m for line in said.splitlines() if (m := NUMBER.fullmatch(line.strip()))]
    if not found:
        raise no(('sbatch',), 'number', said)
    return found[-1][1]


def cancel(number: str, cluster: str = '') -> None:
    """Where it has ended, or nobody answers, this does nothing."""
    with contextlib.suppress(NoAnswer):
        query('scancel', number, cluster=cluster)


class Job(NamedTuple):
    state: str
    reason: str  # '': none
    exit: str  # '0:53'; '': none

    @property
    def text(self) -> str:
        """'FAILED JobLaunchFailure, exit 0:53'."""
        how = f', exit {self.exit}' if self.exit else ''
        return f'{self.state} {self.reason.replace("_", " ")}'.strip() + how


def job(number: str, cluster: str = '') -> Job | None:
    """What Slurm, or else its accounting, says of it; None: neither does."""
    with contextlib.suppress(NoAnswer):
        said = query('scontrol', '-o', 'show', 'job', number, cluster=cluster)
        found = dict(reversed(OF_JOB.findall(said)))  # the first of each
        if 'JobState' in found:
            reason, code = found.get('Reason', ''), found.get('ExitCode', '')
            return Job(found['JobState'], reason.replace('None', ''), code.replace('0:0', ''))
    with contextlib.suppress(NoAnswer):
        said = query('sacct', '-n', '-X', '-P', '-j', number, '-o', 'State,ExitCode')
        for line in said.splitlines():
            if of_account := OF_ACCOUNT.fullmatch(line.strip()):
                return Job(of_account[1], '', of_account[2].replace('0:0', ''))
    return None


class Plan(NamedTuple):
    when: str
    partition: str


def plan(*words: str, text: str | None = None, cluster: str = '') -> Plan:
    """Of a job with these words of sbatch; NoAnswer: Slurm would not take it."""
    said = query('sbatch', '--test-only', *words, text=text, stream='stderr', cluster=cluster)
    if not (found := PLANNED.search(said)):
        raise no(('sbatch --test-only',), 'time', said)
    return Plan(found[1], found[2] or '')


def own_cluster() -> str:
    """That of this shell; of a federation that of this host, as a job would start on any."""
    of_shell = os.environ.get('SLURM_CLUSTERS', '')
    return of_shell if of_shell and 'SLURM_JOB_ID' not in os.environ else of_federation()


def _said(pattern: str, *words: str) -> str:
    """'': it does not say so, or nobody answers."""
    with contextlib.suppress(NoAnswer):
        if found := re.search(pattern, query(*words), re.M):
            return found[1]
    return ''


@functools.cache
def of_federation() -> str:
    """'': there is none."""
    return _said(r'^Self:\s*([^:\s]+)', *OF_FEDERATION)


@functools.cache
def cluster_here() -> str:
    """To which a command speaks that says nothing else; '': not known, or a shell may say else."""
    if os.environ.get('SLURM_CLUSTERS'):
        return ''
    return _said(r'^ClusterName\s*=\s*(\S+)', 'scontrol', 'show', 'config')


def starts_now(
    *words: str, text: str | None = None, what: str = '', cluster: str = ''
) -> tuple[bool, str]:
    """(Whether a job with these words of sbatch would start now, what Slurm says of it, which
    names it as `what`)."""
    try:
        when = plan(*words, text=text, cluster=cluster).when
        start = time.mktime(time.strptime(when, '%Y-%m-%dT%H:%M:%S'))
    except (NoAnswer, ValueError, OverflowError) as err:
        return False, str(err)
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
    words = [word for one in options for word in words_of(one)]
    return str(_parsed(words, names)[0].value)


def without(words: list[str], *names: str) -> list[str]:
    """An option's words, however it is written, are left out."""
    return _parsed(words, names)[1]


def _parsed(words: list[str], names: tuple[str, ...]) -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument(*names, dest='value', default='', nargs='?', const='')
    return parser.parse_known_args(words)


def words_of(line: str) -> list[str]:
    """As a shell has them; as they stand where a quote is left open: `--comment=it's`."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()
