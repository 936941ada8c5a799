"""One job on every idle node of a partition, a record of each, a verdict of each."""

import json
import pathlib
import re
import shlex
import statistics
from typing import Any

from reframe.core.backends import getlauncher
from reframe.core.builtins import (
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)

from lib import measured_again, ranking, references, slurm_nodes
from lib.batch_job import UNBOUND, given_or
from lib.measurement import invalid_reasons, measurement
from lib.variables import refuse
from membw.printable import at_most, plural
from membw.results import archive, ledger
from membw.results.archive import NOTE_ENVIRONMENT
from membw.results.table import HIGHER
from membw.site import topology

# seconds for the other ranks to write, after a rank died: Open MPI 4 and 5
PATIENT = {'OMPI_MCA_odls_base_sigkill_timeout': 10, 'PRTE_MCA_odls_base_sigkill_timeout': 10}
WAIT_S = 300  # for the other processes, once the first process of a job has ended
RECORDS, REQUESTED = 'cluster.jsonl', 'requested.txt'
UNCLEAR = ('SUSPECT', 'UNDECIDED')
MEASURED = ('PASS', 'FAIL', *UNCLEAR)
LOST = ('MISSING', 'NOT MEASURED')
NOT_PASS = ('FAIL', 'DIED', *UNCLEAR, 'INVALID', *LOST)
# one line per node in the log for so many nodes; of more, those alone that are not PASS
LOGGED = 64
GONE = 'node failed, or gave no answer'
NODE = '${SLURMD_NODENAME:-$(uname -n)}'  # as Slurm names it
MOST = 20  # in the reason of a failure


class whole_cluster(measurement):
    """A check adds `binary` and the command; RECORDS, or one of each process, is what its program
    writes. Each metric of the records is a figure, that of the median node."""

    valid_systems = ['+flexible']
    num_tasks = 0  # all idle nodes: ReFrame's flexible allocation
    keep_files = [RECORDS, REQUESTED]
    least_nodes = 1
    times_again = 3  # as membw.rank.screen.AGAIN, whose numpy and scipy are not for each session
    slowest_of = ''  # a pattern: of these metrics the slowest node is a figure of its own

    # set by -S: srun or mpirun in place of the partition's launcher; at most so many nodes
    starter = variable(str, value='')
    max_nodes = variable(int, value=0)

    node_check = variable(str, value='', loggable=True)
    nodes = variable(str, value='', loggable=True)
    judged = None

    @run_after('init')
    def refuse_another_starter(self) -> None:
        """Another launcher would start one process: all other nodes would be MISSING."""
        if self.starter and self.starter != 'srun' and not self.starter.startswith('mpi'):
            refuse(self, f"starter={self.starter}: 'srun' or 'mpirun'")

    @run_after('setup')
    def choose_launcher(self) -> None:
        if self.starter:
            self.job.launcher = getlauncher(self.starter)()

    @run_after('setup')
    def take_reference(self) -> None:
        """The only reference: no slow node."""
        self.reference = {'*': {'slow_nodes': (0, None, 0, 'nodes')}}
        path = self.current_partition.extras.get('references')
        if path and type(self).__name__ in references.read(path):
            self.reference = {'$ref': path}

    def survive_a_node(self, with_mpi: bool, wait_s: float = WAIT_S) -> None:
        """Lines and options of the job script: what is left goes on without a node."""
        self.by_srun = self.job.launcher.registered_name == 'srun'
        self.uses_mpi = with_mpi
        self.case.expected = {}  # what nodes lack, their verdicts say
        self.job.options += ['--no-kill']
        self.prerun_cmds = [f'scontrol show hostnames >{REQUESTED}']
        if self.by_srun:
            self.job.launcher.options += ['--no-kill', '--kill-on-bad-exit=0']
        if with_mpi:
            self.prerun_cmds += given_or({**UNBOUND, **PATIENT})
        elif self.by_srun:
            # what one node prints as an example: the records have them all
            self.job.launcher.options += [f'--wait={wait_s:.0f}', '--output=0', '--error=all']
        self.prerun_cmds += [NOTE_ENVIRONMENT]

    def look_around(self) -> None:
        """The available nodes, before the job; a partition may not give all at once.

        After num_tasks_per_node is known.
        """
        if self.is_dry_run():
            return
        access = self.job.sched_access
        slurm_nodes.wait_for_own_jobs(access)
        self.before = slurm_nodes.states(access)
        idle, asleep = slurm_nodes.available(self.before), slurm_nodes.asleep(self.before)
        busy = slurm_nodes.busy(self.before)
        self.skip_if(
            len(idle) < self.least_nodes,
            f'{plural(self.least_nodes, "idle node")} needed, {len(idle)} found'
            + (f'; not idle: {busy}' if busy else ''),
        )
        if asleep:
            self.say(f'powered down, the job waits until they boot: {", ".join(asleep)}')
        limits = [n for n in (self.max_nodes, slurm_nodes.most_nodes(access)) if n]
        if limits and min(limits) < len(idle):
            self.num_tasks = min(limits) * self.num_tasks_per_node

    # --- after the run -------------------------------------------------------------------

    def requested_nodes(self) -> list[str]:
        """The nodes of the job, as Slurm gave them to it."""
        path = pathlib.Path(self.stagedir, REQUESTED)
        return path.read_text().split() if path.is_file() else []

    @run_before('sanity')
    def read_record(self) -> None:
        """The file that rank 0 gathered, or one of each process."""
        if self.is_dry_run():
            return
        lines = self.gathered()
        self.nodes_of_job = self.requested_nodes()
        lines += self.of_the_dead(lines, self.nodes_of_job)
        if not lines:
            self.case.expected = {node: node for node in self.nodes_of_job} or {RECORDS: ''}
            self.case.gather()
            self.keep(None)
            return
        self.case.judges_records = False
        self.note_build()
        self.note_provenance(json.loads(lines[0]))
        self.keep_lines(lines)
        self.judge()
        low, beside = self.low_and_beside()
        if low and self.by_srun and not self.uses_mpi:
            self.say(f'LOW, measured again: {", ".join(low)}; with: {", ".join(beside)}')
            more = self.measured_again([*low, *beside])
            self.keep_lines([*lines, *more, *self.of_the_dead(more, [*low, *beside])])
            self.judge()
        if not ranking.of_verdict(self.judged.nodes, 'FAIL'):
            self.case.unclear = at_most(ranking.of_verdict(self.judged.nodes, *UNCLEAR), MOST)
        self.report_metrics()
        self.tell()

    def low_and_beside(self) -> tuple[list[str], list[str]]:
        """The nodes to measure again, and healthy ones with them."""
        low = {node for nodes in self.judged.low.values() for node in nodes}
        beside = {node for nodes in self.judged.controls.values() for node in nodes}
        return sorted(low), sorted(beside - low)

    def gathered(self) -> list[str]:
        """The records of one measurement, which are taken out of the stage folder."""
        folder = pathlib.Path(self.stagedir)
        paths = [folder / RECORDS, *sorted(folder.glob(f'{RECORDS}.rank-*'))]
        text = ''.join(path.read_text() for path in paths if path.is_file())
        for path in paths:
            path.unlink(missing_ok=True)
        return [line + '\n' for line in text.splitlines() if line.endswith('}')]

    def of_the_dead(self, lines: list[str], nodes: list[str]) -> list[str]:
        """Records, without a figure, of nodes that left none: how the program ended there."""
        if not self.by_srun or self.uses_mpi or not lines:
            return []
        hosts = {json.loads(line)['host'].partition('.')[0] for line in lines}
        ended = ledger.read(self.stagedir).ended
        made = []
        for node in nodes:
            if node.partition('.')[0] not in hosts:
                why = ledger.how(ended[node]) if ended.get(node) else GONE
                one = ledger.Missing('', why, True, node)
                empty = archive.empty_record(self.program_name(), node)
                made.append(json.dumps({**empty, 'missing': [one._asdict()]}) + '\n')
        return made

    def job_facts(self) -> dict[str, str]:
        return {**super().job_facts(), 'record_in_stage': RECORDS}

    def take_whole_nodes(self) -> None:
        """One process per node, with a CPU of each core."""
        self.num_tasks_per_node = 1
        if self.is_dry_run():
            self.num_tasks = 1  # there may be no scheduler
        self.num_cpus_per_task = len(topology.cores(self.current_partition))
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = False
        self.survive_a_node(with_mpi=False)
        self.look_around()

    def note_ends(self) -> None:
        """Each process that srun starts notes in the ledger how the program ended on its node."""
        if self.by_srun and not self.uses_mpi:
            loop = '"$0" "$@"; status=$?; ' + ledger.ended(NODE, '$status') + '; exit $status'
            words = [self.executable, *self.executable_opts]
            self.executable, self.executable_opts = 'sh', ['-c', shlex.quote(loop), *words]

    def measured_again(self, nodes: list[str]) -> list[str]:
        """Records of further measurements of these nodes; none where they are not free."""
        lines = []
        for number in range(1, self.times_again + 1):
            measured_again.measure(self.stagedir, self.job.script_filename, nodes, number)
            lines += self.gathered()
        return lines

    def keep_lines(self, lines: list[str]) -> None:
        records = [json.loads(line) for line in lines]
        if self.record:
            self.case.rewrite(records)
        else:
            self.keep_all(records)
        self.case.note_verdict(lambda record: (record['verdict'], invalid_reasons(record)))

    def note_verdict(self, problems: object) -> None:
        """Nothing to note here: each node's record has its own verdict."""

    def judge(self) -> None:
        self.node_check = str(pathlib.Path(self.record).with_suffix('.nodecheck'))
        nodes = self.nodes_of_job
        self.judged, counts = ranking.judge(self.record, nodes, self.node_check)
        self.nodes = counts + slurm_nodes.not_measured(self.before, nodes)

    def tell(self) -> None:
        """A line for each node: all of a few, of more those that are not PASS."""
        self.say(self.nodes)
        if len(self.judged.nodes) <= LOGGED:
            for line in ranking.of_verdict(self.judged.nodes, 'PASS'):
                self.say(line)
        for line in ranking.of_verdict(self.judged.nodes, *NOT_PASS):
            self.warn(line)

    @sanity_function
    def is_complete(self) -> bool:
        """Every node of the job answered, with valid figures."""
        if not self.judged:
            return self.conclude([])
        dead = [node for node in self.judged.nodes if node.verdict == 'DIED']
        self.case.missing = [ledger.Missing(node.name, node.reason, True) for node in dead]
        status = ledger.read(self.stagedir).ended.get(ledger.WHOLE, 0)
        lacks = ranking.of_verdict(self.judged.nodes, *LOST)
        # of MPI's ranks none notes its own end
        if self.uses_mpi and lacks and ledger.is_odd(status, 'INVALID'):
            self.case.missing.append(ledger.Missing('the MPI job', ledger.how(status), True))
        return self.conclude(at_most(self.lost(), MOST))

    def lost(self) -> list[str]:
        """Nodes with invalid figures, as text."""
        return ranking.of_verdict(self.judged.nodes, *LOST, 'INVALID')

    def report_metrics(self) -> None:
        """Medians of the nodes with valid figures; of some metrics the slowest node, too. Bounds
        count where no node has an estimate, and are compared with no reference."""
        names = {node.name for node in self.judged.nodes if node.verdict in MEASURED}
        groups = self.judged.groups
        nodes = {n: of for group in groups for n, of in group.figures.items() if n in names}
        one = {name: f for group in groups for name, f in group.any.items()}
        made: dict[str, dict[str, Any]] = {}
        for name, metric in one.items():
            every = [of[name] for of in nodes.values() if name in of]
            sure = [f for f in every if not f.is_bound]
            figures = [f.value for f in sure or every]
            kind = {'unit': metric.unit, 'better': metric.better}
            kind |= {} if sure or not every else {'is_bound': True, 'bound': every[0].bound}
            if figures:
                made[name] = {'value': statistics.median(figures), **kind}
            if figures and re.fullmatch(self.slowest_of, name):
                slowest = min(figures) if metric.better == HIGHER else max(figures)
                made[f'{name}_slowest'] = {'value': slowest, **kind}
        for name, row in made.items():
            if 'is_bound' not in row:
                self.note_figure(name, row['value'], row['unit'])
        # ReFrame keeps no figure of a case that is UNDECIDED or lacks a node
        self.metrics = json.dumps(made)

    @performance_function('nodes')
    def slow_nodes(self) -> int:
        """Must be 0: a node that stays low is a FAIL; the figures of the others stay."""
        return len(ranking.of_verdict(self.judged.nodes, 'FAIL'))
