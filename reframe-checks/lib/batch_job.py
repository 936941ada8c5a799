"""What every test of ours shares: variables that are refused where they make no sense, and what
its job asks of the scheduler: the whole node, no second start, a bounded wait.

Refused is one line, exit status 2, before anything is measured. An error of a check's hook would
not do: ReFrame passes over the check and ends with status 0.
"""

import contextlib
import os
import pathlib
import signal
import time
from collections.abc import Mapping
from typing import NoReturn

import reframe as rfm
from reframe.core.builtins import run_after, run_before
from reframe.core.fields import remove_convertible
from reframe.core.schedulers import Job, JobScheduler
from reframe.core.schedulers.local import LocalJobScheduler
from reframe.core.schedulers.slurm import SlurmJobScheduler, slurm_state_completed
from reframe.core.systems import System, SystemPartition

from lib import end
from membw.files import text_if_any
from membw.results import ledger
from membw.site import slurm
from membw.site.topology import is_local

CAMPAIGN = os.environ.get('MEMBW_CAMPAIGN', '')  # where `membw campaign` wants the job's facts
LONGEST_WAIT = '12h'  # in a queue, where nobody says otherwise
OF_SESSION: list[Job] = []  # jobs of Slurm, submitted or to be
# with --exclusive alone a job gets its usual share of the memory
WHOLE_NODE = '--mem=0'
# after a node failed Slurm would start the job again on another one, and the failure would be seen
# nowhere
NO_RESTART = '--no-requeue'
FIRST_LINES = (
    # an operator can requeue it all the same
    '[ "${SLURM_RESTART_COUNT:-0}" = 0 ] || '
    "{ echo 'membw: the scheduler started this job again: its first start failed' >&2; exit 1; }",
    # `--export=NONE` of sbatch is srun's as well: no OMP_PLACES, no PATH
    'export SLURM_EXPORT_ENV=ALL',
)
# of the variables of an outer job: what is of the site
KEPT = ('SLURM_CONF', 'SLURM_CONF_SERVER', 'SLURM_MPI_TYPE')

# What a launcher may think of binding: the threads pin themselves by OMP_PLACES. Open MPI 4 and 5
# would bind a rank to one core, and 5 refuses a rank that spans packages; Intel MPI
UNBOUND = {
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'PRTE_MCA_hwloc_default_binding_policy': 'none',
    'I_MPI_PIN': 'off',
}


class batch_job(rfm.RegressionTestPlugin):
    """For every test class."""

    @classmethod
    def setvar(cls, name: str, value: object) -> object:
        """`-S array_size=abc`: ReFrame ends with a traceback."""
        try:
            return type(cls).setvar(cls, name, value)
        except (TypeError, ValueError) as err:
            end(f"{cls.__name__}: '-S {name}={remove_convertible(value)}': {err}")

    @classmethod
    def loggable_attrs(cls) -> list[tuple]:
        """Without `variables`, deprecated since ReFrame 4.0: it unwinds the stack each time it is
        read, and all variables are read for each line of the log. `env_vars` stays."""
        return [attr for attr in type(cls).loggable_attrs(cls) if attr[0] != 'variables']

    @run_after('setup')
    def wait_no_longer(self) -> None:
        """By the partition's file, unless `-S max_pending_time=1h` says otherwise."""
        if self.max_pending_time is None:
            extras = self.current_partition.extras
            self.max_pending_time = extras.get('max_pending_time', LONGEST_WAIT)

    @run_before('compile')
    def build_once(self) -> None:
        if self.build_job:
            # ReFrame sets it for the run alone
            self.build_job.max_pending_time = self.max_pending_time
            self.prebuild_cmds = [*started_once(self.build_job, NO_RESTART), *self.prebuild_cmds]

    @run_before('run')
    def run_once(self) -> None:
        if self.job:
            # mpirun binds a single process to one core
            is_mpirun = self.job.launcher.registered_name.startswith('mpi')
            unbound = given_or(UNBOUND) if is_mpirun else []
            whole = [WHOLE_NODE] if self.exclusive_access else []
            first = started_once(self.job, *whole, NO_RESTART)
            self.prerun_cmds = [*first, *unbound, *self.prerun_cmds]


def refuse(check: rfm.RegressionTest, fact: str) -> NoReturn:
    end(f'{type(check).__name__}: {fact}')


def option_words(given: Mapping[str, object]) -> list[str]:
    """['-n', '1000', '--quick'] of {'-n': 1000, '--pages': None, '--quick': True}: without a
    value the program decides."""
    words: list[str] = []
    for name, value in given.items():
        text = f'{value:g}' if isinstance(value, float) else str(value)
        words += [name, text][: 1 if value is True else 2] if value else []
    return words


def given_or(variables: Mapping[str, object]) -> list[str]:
    """Lines of a job script: each variable as the site has it, else as here."""
    lines = [f': "${{{name}:={value}}}"' for name, value in variables.items()]
    return [*lines, f'export {" ".join(variables)}']


def is_of_slurm(of: Job | SystemPartition) -> bool:
    return of.scheduler.registered_name in slurm.SCHEDULERS


def cluster(job: Job) -> str:
    """'doduo' of a job with `-M doduo`."""
    return slurm.cluster_of([*job.sched_access, *job.options, *job.cli_options])


def started_once(job: Job, *options: str) -> list[str]:
    """Options of the job, but for what the site gives otherwise; the first lines of its script."""
    if not is_of_slurm(job):
        return []
    OF_SESSION.append(job)
    given = ' '.join([*job.sched_access, *job.cli_options])
    job.options += [o for o in options if f' {o.partition("=")[0]}' not in f' {given}']
    return [*FIRST_LINES]


def is_ended(state: str | None) -> bool:
    """ReFrame waits for a job that was preempted: of ours none is requeued."""
    return slurm_state_completed(state) or state in ledger.STATES


def forget_outer_job(system: System) -> None:
    """sbatch hands the environment on: what Slurm set of a job in which ReFrame runs would be
    taken for the inner one's (SLURM_RESTART_COUNT, SLURM_MEM_PER_CPU, SLURM_CLUSTERS). By a
    person's SQUEUE_NAMES ReFrame would see its jobs as ended."""
    for name in filter(slurm.OF_USER.match, [*os.environ]):
        del os.environ[name]
    inside = any(
        is_local(part) and part.launcher_type.registered_name.startswith('srun')
        for part in system.partitions
    )
    if 'SLURM_JOB_ID' in os.environ and not inside:
        for name in [*os.environ]:
            if name.startswith('SLURM') and name not in KEPT:
                del os.environ[name]
    clusters = {slurm.cluster_of(p.access) for p in system.partitions if is_of_slurm(p)}
    if len(clusters) == 1 and (cluster := clusters.pop()):  # for ReFrame's scancel and scontrol
        os.environ['SLURM_CLUSTERS'] = cluster


# --- what became of it ---------------------------------------------------------------------------


def is_begun(stage: str, job: Job) -> bool:
    """Whether the job started: its output is there. Hooks run outside the stage folder."""
    return pathlib.Path(stage, str(job.stdout)).exists()


def errors(stage: str, job: Job) -> str:
    return text_if_any(pathlib.Path(stage, str(job.stderr)))


def never_begun(job: Job) -> str:
    """The message for a job that never started: how long it waited, and what Slurm says of it."""
    said = known_of(job)
    how = ledger.how_job(getattr(job, 'state', '') or (said.state if said else ''), '')
    if how not in ('', 'cancelled'):
        return f'job {job.jobid} ended before it started: {how}'
    waited = time.time() - job.submit_time if job.submit_time else 0.0
    text = f'job {job.jobid} waited for {waited:.0f} s, and did not start'
    if job.max_pending_time and waited >= job.max_pending_time:
        text += f': max_pending_time is {job.max_pending_time:g} s'
    elif how:
        text += ': somebody cancelled it'
    why = said.reason.replace('_', ' ') if said else ''
    return f'{text} (Slurm: {why})' if why else text


def known_of(job: Job) -> slurm.Job | None:
    """What Slurm says of the job; None where it has no part in it, or has forgotten it."""
    is_known = is_of_slurm(job) and str(job.jobid).isdigit()
    return slurm.job(str(job.jobid), cluster(job)) if is_known else None


def end_of(job: Job) -> str:
    """The state of a job that did not come to its end. Without accounting ReFrame knows that it
    left the queue, which may be before its last lines are printed."""
    if ledger.how_job(job.state, ''):
        return str(job.state)
    known = known_of(job)
    return known.state if known else str(job.state)


# --- local jobs ----------------------------------------------------------------------------------
# Two mistakes of ReFrame's, mended here until upstream has docs/upstream's patches: the end of a
# job waits for any child of ReFrame and takes its exit status away, as that of a build beside jobs
# by ssh; what a job wrote before its time limit is not read. tests/checks/test_local_jobs.py says
# when ReFrame's own may stay.


def kill_own_alone(scheduler: JobScheduler, job: Job) -> None:
    """Without `os.waitpid(0, 0)` at its end: the job itself has been waited for."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # ended, or no more ours
        os.killpg(int(job.jobid), signal.SIGKILL)
    job.f_stdout.close()
    job.f_stderr.close()


def poll(scheduler: JobScheduler, *jobs: Job) -> None:
    """At its limit a job has the state TIMEOUT alone, as under Slurm, and no error."""
    for job in filter(None, jobs):
        scheduler._poll_job(job)
        if job.state == 'TIMEOUT' and not job.name.startswith('rfm_build'):
            job._exception = None


def mend_jobs() -> None:
    LocalJobScheduler._kill_all, LocalJobScheduler.poll = kill_own_alone, poll
    SlurmJobScheduler.finished = lambda scheduler, job: is_ended(job.state)
