"""STREAM on every idle node at once: one MPI job, one record a rank, one verdict a node."""

import json
import pathlib
import statistics

import ranking
import reframe as rfm
import slurm_nodes
import yaml
from lib.binaries import built
from lib.measurement import measurement
from reframe.core.backends import getlauncher
from reframe.core.builtins import (
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology

RECORDS, ASKED = 'cluster.jsonl', 'asked.txt'
# one line a node in the log for so many nodes; of more, those alone that are not PASS
TOLD = 64
MOST = 20  # in the reason of a failure


@rfm.simple_test
class cluster_stream(measurement):
    """Copy, Scale, Add and Triad of the median node, the slowest node, and who is slow."""

    descr = 'STREAM memory bandwidth of every idle node, in one job'
    binary = built('stream', mpi=True)
    valid_systems = ['+flexible']
    valid_prog_environs = ['+stream +mpi']
    num_tasks = 0  # all idle nodes: ReFrame's flexible allocation
    keep_files = [RECORDS, ASKED]

    # asked by -S: one rank a 'node' or a NUMA 'domain'; its threads, 0: one a core; its KiB; srun
    # or mpirun in place of the partition's launcher; seconds that ranks wait for each other
    per = variable(str, value='node')
    rank_threads = variable(int, value=0)
    memory_kib = variable(int, value=0)
    starter = variable(str, value='')
    limit_s = variable(float, value=0.0)

    node_check = variable(str, value='', loggable=True)
    nodes = variable(str, value='', loggable=True)
    found = None

    @run_after('init')
    def refuse_nonsense(self):
        self.skip_if(self.per not in ('node', 'domain'), f"per={self.per}: 'node' or 'domain'")

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
        domains = list(topology.domains(self.current_partition).values())
        shares = domains if self.per == 'domain' else [topology.cores(self.current_partition)]
        self.num_tasks_per_node = len(shares)
        if self.is_dry_run():
            self.num_tasks = len(shares)  # one node: there may be no scheduler to ask
        self.num_cpus_per_task = len(shares[0])
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = False
        self.env_vars = {
            'OMP_NUM_THREADS': self.rank_threads or self.num_cpus_per_task,
            'OMP_PLACES': 'cores',
            'OMP_PROC_BIND': 'close',
        }

    @run_before('run')
    def survive_a_node(self):
        """What is left goes on without it: the program itself bounds every wait."""
        self.job.options += ['--no-kill', '--no-requeue']
        if self.job.launcher.registered_name == 'srun':
            self.job.launcher.options += ['--no-kill', '--kill-on-bad-exit=0']
        cpus = self.num_cpus_per_task
        self.prerun_cmds = [
            f'scontrol show hostnames >{ASKED}',
            # Open MPI: a rank its own cores; and time to write, after another one died
            f': "${{OMPI_MCA_rmaps_base_mapping_policy:=slot:PE={cpus}}}"',
            ': "${OMPI_MCA_odls_base_sigkill_timeout:=10}"',
            'export OMPI_MCA_rmaps_base_mapping_policy OMPI_MCA_odls_base_sigkill_timeout',
            NOTE_ENVIRONMENT,
        ]

    @run_before('run')
    def ask(self):
        self.executable = self.binary.path
        options = self.program_options(RECORDS)
        options += ['-m', str(self.memory_kib)] if self.memory_kib else []
        options += ['--timeout', f'{self.limit_s:g}'] if self.limit_s else []
        self.executable_opts = options
        if not self.is_dry_run():
            slurm_nodes.wait_for_ending(self.job.sched_access)
            self.before = slurm_nodes.states(self.job.sched_access)

    # --- after the run -------------------------------------------------------------------

    def asked(self):
        """The nodes of the job, as Slurm gave them to it."""
        path = pathlib.Path(self.stagedir, ASKED)
        return path.read_text().split() if path.is_file() else []

    @run_before('sanity')
    def read_record(self):
        """Rank 0's file, and those of ranks that rank 0 could not hear any more."""
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
        self.found = ranking.judge(self.record, self.asked(), self.node_check)
        others = {n: s for n, s in self.before.items() if n not in self.asked()}
        not_asked = ', '.join(f'{name} ({state})' for name, state in others.items())
        self.nodes = ranking.counts(self.found)
        self.nodes += f'; not asked, as not idle: {not_asked}' if not_asked else ''
        told = ranking.lines(self.found)
        if len(told) > TOLD:
            told = [line for line in told if line.split()[1] != 'PASS']
        for line in [self.nodes, *told]:
            self.say(line)

    @sanity_function
    def is_complete(self):
        """Every node of the job answered, with figures that may be believed."""
        if not self.found:
            self.not_measured()
        lost = [
            line for word in ('MISSING', 'INVALID') for line in ranking.lines(self.found, word)
        ]
        more = [f'and {len(lost) - MOST} more'] if len(lost) > MOST else []
        return self.conclude(lost[:MOST] + more)

    def rates(self, kernel):
        """GB/s of each node that may be believed."""
        return [
            found['rates_gbs'][kernel]
            for found in self.found['nodes']
            if found['verdict'] in ('PASS', 'FAIL') and kernel in found['rates_gbs']
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
        """Held to 0: a slow node makes the run a FAIL, and the others' figures stay."""
        return len(ranking.lines(self.found, 'FAIL'))
