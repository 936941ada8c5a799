"""What every job asks of its scheduler: the whole node, no second start, a bounded wait; and what
became of it."""

import os
import pathlib
from collections.abc import Mapping

import reframe as rfm
from reframe.core.builtins import run_after, run_before
from reframe.core.schedulers import Job
from reframe.core.systems import System

from membw.site import slurm

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
    """For a test whose build or run goes to a scheduler."""

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


def given_or(variables: Mapping[str, object]) -> list[str]:
    """Lines of a job script: each variable as the site has it, else as here."""
    lines = [f': "${{{name}:={value}}}"' for name, value in variables.items()]
    return [*lines, f'export {" ".join(variables)}']


def kind(job: Job) -> str:
    return job.scheduler.registered_name


def cluster(job: Job) -> str:
    """'doduo' of a job with `-M doduo`."""
    return slurm.option([*job.sched_access, *job.options, *job.cli_options], '-M', '--clusters')


def started_once(job: Job, *options: str) -> list[str]:
    """Options of the job, but for what the site gives otherwise; the first lines of its script."""
    if kind(job) not in slurm.SCHEDULERS:
        return []
    OF_SESSION.append(job)
    given = ' '.join([*job.sched_access, *job.cli_options])
    job.options += [o for o in options if f' {o.partition("=")[0]}' not in f' {given}']
    return [*FIRST_LINES]


def forget_outer_job(system: System) -> None:
    """sbatch hands the environment on: what Slurm set of a job in which ReFrame runs would be
    taken for the inner one's (SLURM_RESTART_COUNT, SLURM_MEM_PER_CPU, SLURM_CLUSTERS)."""
    inside = any(
        part.scheduler.registered_name == 'local'
        and part.launcher_type.registered_name.startswith('srun')
        for part in system.partitions
    )
    if 'SLURM_JOB_ID' in os.environ and not inside:
        for name in [*os.environ]:
            if name.startswith('SLURM') and name not in KEPT:
                del os.environ[name]


def is_begun(stage: str, job: Job) -> bool:
    """Whether the job started: its output is there. Hooks run outside the stage folder."""
    return pathlib.Path(stage, str(job.stdout)).exists()


def errors(stage: str, job: Job) -> str:
    path = pathlib.Path(stage, str(job.stderr))
    return path.read_text(errors='replace') if path.is_file() else ''


def never_begun(job: Job) -> str:
    """The message for a job that never started, with the scheduler's reason if known."""
    limit = f' for {job.max_pending_time:g} s (max_pending_time)' if job.max_pending_time else ''
    why = reason(job)
    return f'job {job.jobid} waited{limit} and was cancelled before it started{why}'


def reason(job: Job) -> str:
    if kind(job) not in slurm.SCHEDULERS:
        return ''
    try:
        words = ('scontrol', '-o', 'show', 'job', str(job.jobid))
        said = slurm.query(*words, cluster=cluster(job))
    except slurm.NoAnswer:
        return ''
    why = said.partition(' Reason=')[2].partition(' Dependency=')[0].split(' ')[0]
    return f': {why.replace("_", " ")}' if why not in ('', 'None') else ''
