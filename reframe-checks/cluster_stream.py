"""STREAM on every idle node at once: one job, one record per process, one verdict per node.

Nodes share no memory: srun starts a process on each, and a node that dies costs its own figure
only. With MPI (`-S use_mpi=1`, `-S starter=mpirun`, `-S per=domain`) they measure together.
"""

import json
import pathlib
import shlex
import statistics

import ranking
import reframe as rfm
import slurm_nodes
import yaml
from lib.binaries import program_binary, spack_rows_of
from lib.measurement import measurement
from lib.stream_options import stream_options
from reframe.core.backends import getlauncher
from reframe.core.builtins import (
    fixture,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology

# what a launcher may think of binding: the threads pin themselves by OMP_PLACES. Open MPI 4 and 5
# would bind a rank to one core, and 5 refuses a rank that spans packages; Intel MPI
UNBOUND = {
    'OMPI_MCA_hwloc_base_binding_policy': 'none',
    'PRTE_MCA_hwloc_default_binding_policy': 'none',
    'I_MPI_PIN': 'off',
}
# seconds for the others to write, after a rank died: Open MPI 4 and 5
PATIENT = {
    'OMPI_MCA_odls_base_sigkill_timeout': 10,
    'PRTE_MCA_odls_base_sigkill_timeout': 10,
}
LOCAL_RANK = '${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-none}}'
WAIT_S = 300  # for the others, once the first process of a job has ended
RECORDS, ASKED = 'cluster.jsonl', 'asked.txt'
# one line per node in the log for so many nodes; of more, those alone that are not PASS
LOGGED = 64
MOST = 20  # in the reason of a failure


def given_or(variables):
    """Lines of a job script: each variable as the site has it, else as here."""
    lines = [f': "${{{name}:={value}}}"' for name, value in variables.items()]
    return [*lines, f'export {" ".join(variables)}']


def places_of_rank(shares):
    """The words of a shell that pins a rank to its own share of a node, and becomes the program.

    For launchers that bind nothing, where OMP_PLACES=cores would be the same cores for each.
    """
    cases = ''.join(
        f'{rank}) OMP_PLACES="{",".join(f"{{{cpu}}}" for cpu in cpus)}";; '
        for rank, cpus in enumerate(shares)
    )
    unknown = '*) echo "membw: no rank of this node by this launcher" >&2; exit 2;; '
    return ['-c', f'case {LOCAL_RANK} in {cases}{unknown}esac; export OMP_PLACES; exec "$0" "$@"']


class cluster_binary(program_binary):
    """The program of cluster_stream, with MPI where that was asked for."""

    program = 'stream'
    rows = fixture(spack_rows_of('stream'), scope='session')

    @run_after('init')
    def follow_the_check(self):
        self.mpi = cluster_stream.with_mpi(cluster_stream)
        self.choose_host()


@rfm.simple_test
class cluster_stream(stream_options, measurement):
    """Copy, Scale, Add and Triad of the median node, the slowest node, and who is slow."""

    descr = 'STREAM memory bandwidth of every idle node, in one job'
    tags = {'production', 'nightly', 'maintenance', 'acceptance', 'flexible'}
    binary = fixture(cluster_binary, scope='environment')
    valid_systems = ['+flexible']
    valid_prog_environs = ['+preset']
    num_tasks = 0  # all idle nodes: ReFrame's flexible allocation
    keep_files = [RECORDS, ASKED]

    # asked by -S: MPI; srun or mpirun in place of the partition's launcher; one process per 'node'
    # or (MPI) NUMA 'domain'; its threads, 0: one per core; its KiB; at most so many nodes; seconds
    # that processes are waited for
    use_mpi = variable(bool, value=False)
    per = variable(str, value='node')
    rank_threads = variable(int, value=0)
    memory_kib = variable(int, value=0)
    starter = variable(str, value='')
    max_nodes = variable(int, value=0)
    limit_s = variable(float, value=0.0)

    node_check = variable(str, value='', loggable=True)
    nodes = variable(str, value='', loggable=True)
    judged = None

    @run_after('init')
    def refuse_nonsense(self):
        self.skip_if(self.per not in ('node', 'domain'), f"per={self.per}: 'node' or 'domain'")
        if self.with_mpi():
            self.valid_prog_environs = [f'{self.valid_prog_environs[0]} +mpi']

    def with_mpi(self):
        """Processes of one node share its memory, so that domains have to agree."""
        return bool(self.use_mpi) or self.starter.startswith('mpi') or self.per == 'domain'

    @run_after('setup')
    def choose_launcher(self):
        if self.starter:
            self.job.launcher = getlauncher(self.starter)()

    @run_after('setup')
    def take_reference(self):
        """No slow node, whatever else is known of this system."""
        self.reference = {'*': {'slow_nodes': (0, None, 0, 'nodes')}}
        path = self.current_partition.extras.get('references')
        if path and 'cluster_stream' in yaml.safe_load(pathlib.Path(path).read_text()):
            self.reference = {'$ref': path}

    @run_before('run')
    def spread(self):
        part = self.current_partition
        self.shares = [topology.cores(part)]
        if self.per == 'domain':
            self.shares = list(topology.domains(part).values())
        self.num_tasks_per_node = len(self.shares)
        if self.is_dry_run():
            self.num_tasks = len(self.shares)  # one node: there may be no scheduler to ask
        self.num_cpus_per_task = len(self.shares[0])
        if (part.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = False
        self.env_vars = {
            'OMP_NUM_THREADS': self.rank_threads or self.num_cpus_per_task,
            'OMP_PLACES': 'cores',
            'OMP_PROC_BIND': 'close',
        }

    @run_before('run')
    def survive_a_node(self):
        """What is left goes on without it."""
        self.by_srun = self.job.launcher.registered_name == 'srun'
        self.job.options += ['--no-kill', '--no-requeue']
        self.prerun_cmds = [f'scontrol show hostnames >{ASKED}']
        if self.by_srun:
            self.job.launcher.options += ['--no-kill', '--kill-on-bad-exit=0']
        if self.with_mpi():
            self.prerun_cmds += given_or({**UNBOUND, **PATIENT})
        elif self.by_srun:
            # the table of one node as an example: the records have them all
            wait = f'--wait={self.limit_s or WAIT_S:.0f}'
            self.job.launcher.options += [wait, '--output=0', '--error=all']
        self.prerun_cmds += [NOTE_ENVIRONMENT]

    @run_before('run')
    def ask(self):
        options = self.program_options(RECORDS)
        options += ['-m', str(self.memory_kib)] if self.memory_kib else []
        if self.with_mpi() and self.limit_s:
            options += ['--timeout', f'{self.limit_s:g}']
        self.executable, self.executable_opts = self.binary.path, options
        if len(self.shares) > 1 and not self.by_srun:
            words = [*places_of_rank(self.shares), self.binary.path]
            self.executable = 'sh'
            self.executable_opts = [*map(shlex.quote, words), *options]

    @run_before('run')
    def look_around(self):
        """Who could be asked, before anybody is; a partition may not give all at once."""
        if self.is_dry_run():
            return
        access = self.job.sched_access
        slurm_nodes.wait_for_ending(access)
        self.before = slurm_nodes.states(access)
        idle = [name for name, state in self.before.items() if state == 'idle']
        limits = [n for n in (self.max_nodes, slurm_nodes.most_nodes(access)) if n]
        if limits and min(limits) < len(idle):
            self.num_tasks = min(limits) * self.num_tasks_per_node

    # --- after the run -------------------------------------------------------------------

    def asked(self):
        """The nodes of the job, as Slurm gave them to it."""
        path = pathlib.Path(self.stagedir, ASKED)
        return path.read_text().split() if path.is_file() else []

    @run_before('sanity')
    def read_record(self):
        """The file that rank 0 gathered, or one of each process."""
        if self.is_dry_run():
            return
        main = pathlib.Path(self.stagedir, RECORDS)
        parts = sorted(main.parent.glob(f'{RECORDS}.rank-*'))
        text = ''.join(p.read_text() for p in [main, *parts] if p.is_file())
        lines = [line + '\n' for line in text.splitlines() if line.endswith('}')]
        if not lines:
            return
        main.write_text(''.join(lines))
        self.note_provenance(json.loads(lines[0]))
        self.record = self.keep(RECORDS, 'cluster_stream')
        self.judge()

    def judge(self):
        self.node_check = str(pathlib.Path(self.record).with_suffix('.nodecheck'))
        self.judged = ranking.judge(self.record, self.asked(), self.node_check)
        self.nodes = ranking.counts(self.judged)
        self.nodes += slurm_nodes.not_asked(self.before, self.asked())
        lines = ranking.lines(self.judged)
        if len(lines) > LOGGED:
            lines = [line for line in lines if line.split()[1] != 'PASS']
        for line in [self.nodes, *lines]:
            self.say(line)

    @sanity_function
    def is_complete(self):
        """Every node of the job answered, with figures that may be believed."""
        if not self.judged:
            self.not_measured()
        lost = [
            line for word in ('MISSING', 'INVALID') for line in ranking.lines(self.judged, word)
        ]
        more = [f'and {len(lost) - MOST} more'] if len(lost) > MOST else []
        return self.conclude(lost[:MOST] + more)

    def rates(self, kernel):
        """GB/s of each node that may be believed."""
        return [
            node['figures'][kernel]
            for node in self.judged['nodes']
            if node['verdict'] in ('PASS', 'FAIL', 'SUSPECT') and kernel in node['figures']
        ]

    def median(self, kernel):
        return round(statistics.median(self.rates(kernel)), 3)

    @performance_function('GB/s')
    def copy(self):
        return self.median('copy')

    @performance_function('GB/s')
    def scale(self):
        return self.median('scale')

    @performance_function('GB/s')
    def add(self):
        return self.median('add')

    @performance_function('GB/s')
    def triad(self):
        return self.median('triad')

    @performance_function('GB/s')
    def triad_slowest(self):
        return round(min(self.rates('triad')), 3)

    @performance_function('nodes')
    def slow_nodes(self):
        """Held to 0: a slow node makes the run a FAIL, and the others' figures stay; so does one
        that may be slow (SUSPECT)."""
        return sum(len(ranking.lines(self.judged, word)) for word in ('FAIL', 'SUSPECT'))
