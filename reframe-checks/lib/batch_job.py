"""What every job asks of its scheduler: the whole node, no second start, a bounded wait."""

import functools
import inspect
import re
import subprocess
import time
from collections.abc import Mapping

import reframe as rfm
from reframe.core.builtins import run_after, run_before
from reframe.core.logging import getlogger
from reframe.core.schedulers import Job, JobScheduler

from membw.site import slurm

LONGEST_WAIT = '12h'  # in a queue, where nobody says otherwise
NO_QUEUE = ('local', 'ssh')
# After a node failed, a scheduler would start the job again on another one, and the failure would
# be seen nowhere. OAR and Flux start no job a second time by themselves.
NO_RESTART = {
    'slurm': '--no-requeue',
    'squeue': '--no-requeue',
    'pbs': '-r n',
    'pbspro': '-r n',
    'torque': '-r n',
    'sge': '-r n',
    'lsf': '-rn',
}
# An operator can requeue it all the same. The variables are of Slurm and SGE.
REFUSE_RESTART = (
    '[ "${SLURM_RESTART_COUNT:-0}${RESTARTED:-0}" = 00 ] || '
    "{ echo 'membw: the scheduler started this job again: its first start failed' >&2; exit 1; }"
)
# `exclusive_access`, where ReFrame has no word for it. SGE's is the site's own: in `access`.
WHOLE_NODE = {
    'slurm': '--mem=0',  # with --exclusive alone the job gets its usual share of the memory
    'squeue': '--mem=0',
    'pbs': '-l place=scatter:exclhost',
    'pbspro': '-l place=scatter:exclhost',
    'torque': '-n',
}
# of OAR ReFrame requests a core per task; a host without a number of cores is a whole host
CORES_OF_OAR = re.compile(r'(-l /host=\d+)/core=\d+')

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
            self.prebuild_cmds = [*started_once(self.build_job), *self.prebuild_cmds]

    @run_before('run')
    def run_once(self) -> None:
        if self.job:
            self.job.options += whole_node(self.job) if self.exclusive_access else []
            # mpirun binds a single process to one core
            is_mpirun = self.job.launcher.registered_name.startswith('mpi')
            unbound = given_or(UNBOUND) if is_mpirun else []
            self.prerun_cmds = [*started_once(self.job), *unbound, *self.prerun_cmds]

    @run_after('compile')
    def say_that_the_build_waits(self) -> None:
        self.say_that_it_waits(self.build_job)

    @run_after('run')
    def say_that_the_run_waits(self) -> None:
        self.say_that_it_waits(self.job)

    def say_that_it_waits(self, job: Job | None) -> None:
        if job and job.jobid and kind(job) not in NO_QUEUE:
            limit = f', for {job.max_pending_time:g} s at most' if job.max_pending_time else ''
            name = f'{self.display_name} @{self.current_partition.fullname}'
            getlogger().info(f'{name}: job {job.jobid} is in the queue{limit}')


def given_or(variables: Mapping[str, object]) -> list[str]:
    """Lines of a job script: each variable as the site has it, else as here."""
    lines = [f': "${{{name}:={value}}}"' for name, value in variables.items()]
    return [*lines, f'export {" ".join(variables)}']


def kind(job: Job) -> str:
    return job.scheduler.registered_name


def whole_node(job: Job) -> list[str]:
    """Options for a node that nobody else uses, as far as ReFrame does not give them."""
    given = ' '.join([*job.sched_access, *job.cli_options])
    option = WHOLE_NODE.get(kind(job), '')
    is_given = re.search(rf'(^|\s){re.escape(option.partition("=")[0])}', given)
    return [option] if option and not is_given else []


def started_once(job: Job) -> list[str]:
    """Options of the job, and the first lines of its script."""
    if kind(job) in NO_QUEUE:
        return []
    if kind(job) in NO_RESTART:
        job.options.append(NO_RESTART[kind(job)])
    complete(job.scheduler)
    return [REFUSE_RESTART]


@functools.cache  # a scheduler is one object for all jobs of a partition
def complete(scheduler: JobScheduler) -> None:
    """What ReFrame's backends leave out, each judged by its code: `access` in SGE's scripts, the
    limit of the time in the queue in SGE and LSF, whole hosts in OAR and Flux."""
    preamble, poll, submit = scheduler.emit_preamble, scheduler.poll, scheduler.submit

    def completed(job: Job) -> list[str]:
        lines = preamble(job)
        if 'access' not in inspect.getsource(preamble):
            lines += [f'{scheduler._prefix} {option}' for option in job.sched_access]
        if job.exclusive_access:
            lines = [CORES_OF_OAR.sub(r'\1', line) for line in lines]
        return lines

    def limited(*jobs: Job) -> None:
        poll(*jobs)
        for job in filter(None, jobs):
            waited = time.time() - job.submit_time
            is_late = job.max_pending_time and waited >= job.max_pending_time
            if is_late and job.state == 'PENDING' and not job.cancelled:
                scheduler.cancel(job)

    def submit_whole(job: Job) -> None:
        """ReFrame makes the request before it knows cores and time."""
        first = job.fluxjob
        whole = {'num_nodes': 1, 'exclusive': True} if job.exclusive_access else {}
        words = ['/bin/bash', job.script_filename]
        job.fluxjob = type(first).from_command(
            command=words, num_tasks=1, cores_per_task=job.num_cpus_per_task or 1, **whole
        )
        for name in ('stdout', 'stderr', 'cwd', 'environment'):
            setattr(job.fluxjob, name, getattr(first, name))
        job.fluxjob.duration = job.time_limit or 0
        submit(job)

    if scheduler.registered_name == 'flux':
        scheduler.submit = submit_whole
    if scheduler.registered_name in ('sge', 'oar'):
        scheduler.emit_preamble = completed
    is_unlimited = 'max_pending_time' not in inspect.getsource(type(scheduler))
    if scheduler.registered_name in ('sge', 'lsf') and is_unlimited:
        scheduler.poll = limited


def never_begun(job: Job, scheduler: str) -> str:
    """The message for a job that never started, with the scheduler's reason if known."""
    limit = f' for {job.max_pending_time:g} s (max_pending_time)' if job.max_pending_time else ''
    why = reason(job, scheduler)
    return f'job {job.jobid} waited{limit} and was cancelled before it started{why}'


def reason(job: Job, scheduler: str) -> str:
    if scheduler not in slurm.SCHEDULERS:
        return ''
    words = ['scontrol', '-o', 'show', 'job', str(job.jobid)]
    try:
        said = subprocess.run(words, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ''
    why = said.partition(' Reason=')[2].partition(' Dependency=')[0].split(' ')[0]
    return f': {why.replace("_", " ")}' if why not in ('', 'None') else ''
