"""One job on every idle node of a partition, a record of each, a verdict of each."""

import contextlib
import json
import pathlib
import re
import shlex
import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from reframe.core.backends import getlauncher
from reframe.core.builtins import (
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import SanityError

from lib import batch_job, references, slurm_nodes
from lib.batch_job import UNBOUND, given_or
from lib.measurement import invalid_reasons, measurement
from lib.variables import refuse
from membw.errors import MembwError
from membw.printable import at_most, plural
from membw.results import archive, ledger
from membw.results.archive import NOTE_ENVIRONMENT
from membw.results.table import HIGHER
from membw.site import slurm, topology

if TYPE_CHECKING:
    from membw.rank.ranking import Node, Ranking

# seconds for the other ranks to write, after a rank died: Open MPI 4 and 5
PATIENT = {'OMPI_MCA_odls_base_sigkill_timeout': 10, 'PRTE_MCA_odls_base_sigkill_timeout': 10}
WAIT_S = 300  # for the other processes, once the first process of a job has ended
RECORDS, REQUESTED = 'cluster.jsonl', 'requested.txt'
UNCLEAR = ('UNDECIDED',)
MEASURED = ('PASS', 'FAIL', *UNCLEAR)
NOT_PASS = ('FAIL', 'DIED', *UNCLEAR, 'INVALID', 'MISSING')
# one line per node in the log for so many nodes; of more, those alone that are not PASS
LOGGED = 64
GONE = 'node failed, or gave no answer'
MANY = 1_000_000
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
    judged: 'Ranking | None' = None

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
        self.prerun_cmds += [f'scontrol show hostnames >{REQUESTED}']
        if self.by_srun:
            self.job.launcher.options += ['--no-kill', '--kill-on-bad-exit=0']
        if with_mpi:
            self.prerun_cmds += given_or({**UNBOUND, **PATIENT})
        elif self.by_srun:
            # what one node prints as an example: the records have them all
            self.job.launcher.options += [f'--wait={wait_s:.0f}', '--output=0', '--error=all']
        self.prerun_cmds += [NOTE_ENVIRONMENT]

    def look_around(self) -> None:
        """How many nodes the job gets, before it is submitted: all that would start it now.

        After num_tasks_per_node is known.
        """
        if self.is_dry_run():
            return
        job = self.job
        job.num_tasks_per_node, job.num_cpus_per_task = (
            self.num_tasks_per_node, self.num_cpus_per_task)  # fmt: skip
        job.use_smt, job.exclusive_access = self.use_multithreading, self.exclusive_access
        try:
            slurm_nodes.wait_for_session(job, self.say)
            self.before = slurm_nodes.candidates(job)
            limit = min(len(self.before), self.max_nodes or MANY)
            count, self.refused = slurm_nodes.most(job, self.least_nodes, limit)
        except slurm.NoAnswer as err:
            self.not_now(str(err))
        if not count:
            each = ', '.join(f'{name} ({word})' for name, word in sorted(self.before.items()))
            needed = plural(self.least_nodes, 'idle node')
            why = ': '.join(filter(None, [self.refused, each]))
            self.not_now(f'{needed} needed, of {plural(len(self.before), "node")}: {why}')
        self.num_tasks = count * self.num_tasks_per_node

    # --- after the run -------------------------------------------------------------------

    @run_before('sanity')
    def read_record(self) -> None:
        """The file that rank 0 gathered, or one of each process."""
        if self.is_dry_run():
            return
        stage = pathlib.Path(self.stagedir)
        self.nodes_of_job = requested(stage)
        records = self.arrived(stage, self.nodes_of_job, self.case.order())
        if not records:
            self.case.expected = {node: node for node in self.nodes_of_job} or {RECORDS: ''}
            self.case.gather()
            self.keep(None)
            return
        self.case.judges_records = False
        self.note_build()
        self.note_provenance(next((r for r in records if r['metrics']), records[0]))
        self.keep_records(records)
        self.judge()
        low, beside = self.low_and_beside()
        if low and self.by_srun and not self.uses_mpi:
            self.say(f'low, measured again: {", ".join(low)}; with: {", ".join(beside)}')
            self.keep_records([*records, *self.measured_again([*low, *beside])])
            self.judge()
        if not of_verdict(self.judged.nodes, 'FAIL'):
            self.case.unclear = at_most(of_verdict(self.judged.nodes, *UNCLEAR), MOST)
        self.report_metrics()
        self.tell()

    def low_and_beside(self) -> tuple[list[str], list[str]]:
        """The nodes to measure again, and healthy ones with them."""
        low = {node for nodes in self.judged.low.values() for node in nodes}
        beside = {node for nodes in self.judged.controls.values() for node in nodes}
        return sorted(low), sorted(beside - low)

    def arrived(self, stage: pathlib.Path, nodes: list[str], order: dict) -> list[dict]:
        """The records of a measurement, and one without a figure of each node that left none:
        how the program ended there. [] where there is none at all."""
        records = self.gathered(stage)
        if records and self.by_srun and not self.uses_mpi:
            records += self.of_the_lost(stage, records, nodes)
        return [{**record, 'case': order} for record in records]

    def gathered(self, stage: pathlib.Path) -> list[dict]:
        paths = [stage / RECORDS, *sorted(stage.glob(f'{RECORDS}.rank-*'))]
        return read_lines(path for path in paths if path.is_file())

    def of_the_lost(
        self, stage: pathlib.Path, records: list[dict], nodes: list[str]
    ) -> list[dict]:
        hosts = {record['host'].partition('.')[0] for record in records}
        known = ledger.read(stage)
        printed = batch_job.errors(str(stage), self.job)
        made = []
        for node in nodes:
            name = node.partition('.')[0]
            if name not in hosts:
                own = '\n'.join(line for line in printed.splitlines() if is_of(name, line))
                end = self.end_of(node, known, own or printed, ledger.how_job('', own))
                missing = [ledger.Missing('', *end, node)._asdict()]
                made.append(archive.empty_record(self.program_name(), node) | {'missing': missing})
        return made

    def end_of(self, node: str, known: ledger.Ledger, printed: str, of_job: str) -> ledger.End:
        status, started = known.ended.get(node), node.partition('.')[0] in known.started
        if status:
            other = self.case.is_of_another_cpu(known.cpus[node])
            end = ledger.judge(status, None, '', '', started, other)
            assert end
            return end
        if started or of_job not in ('', 'cancelled'):
            return ledger.End(of_job or GONE, True)
        return ledger.End(ledger.last_words(printed) or GONE, False)

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
            end = ledger.ended(ledger.NODE, '$status')
            loop = f'"$0" "$@"; status=$?; {end}; exit $status'
            words = [self.executable, *self.executable_opts]
            self.executable, self.executable_opts = 'sh', ['-c', shlex.quote(loop), *words]

    def measured_again(self, nodes: list[str]) -> list[dict]:
        """Records of further measurements of these nodes; none where they are not free."""
        records = []
        for number in range(1, self.times_again + 1):
            folder = pathlib.Path(self.stagedir, f'again-{number}')
            order = self.case.order(number)
            slurm_nodes.measure_again(self.job, folder, nodes, self.say)
            records += self.arrived(folder, nodes, order)
        return records

    def keep_records(self, records: list[dict]) -> None:
        if self.record:
            self.case.rewrite(records)
        else:
            self.keep_all(records)
        self.case.note_verdict(lambda record: (record['verdict'], invalid_reasons(record)))

    def note_verdict(self, problems: object) -> None:
        """Nothing to note here: each node's record has its own verdict."""

    def judge(self) -> None:
        """By the rule of `membw rank`, with a line of each node in the node-check file."""
        # not for every session that lists the checks
        from membw.rank.ranking import rank_files
        from membw.results.hostlist import write_node_check

        self.node_check = str(pathlib.Path(self.record).with_suffix('.nodecheck'))
        nodes = self.nodes_of_job
        try:
            self.judged = rank_files([self.record], nodes)
            write_node_check(self.node_check, self.judged.nodes)
        except MembwError as err:
            raise SanityError(f'not judged: {err}') from err
        left_out = slurm_nodes.left_out(self.before, nodes, self.refused)
        self.nodes = self.judged.counts() + left_out

    def tell(self) -> None:
        """A line for each node: all of a few, of more those that are not PASS."""
        self.say(self.nodes)
        if len(self.judged.nodes) <= LOGGED:
            for line in of_verdict(self.judged.nodes, 'PASS'):
                self.say(line)
        for line in of_verdict(self.judged.nodes, *NOT_PASS):
            self.warn(line)

    @sanity_function
    def is_complete(self) -> bool:
        """Every node of the job answered, with valid figures."""
        if not self.judged:
            return self.conclude([])
        dead = [node for node in self.judged.nodes if node.verdict == 'DIED']
        self.case.missing = [ledger.Missing(node.name, node.reason, True) for node in dead]
        known = ledger.read(self.stagedir)
        status = known.ended.get(ledger.WHOLE, 0)
        lacks = of_verdict(self.judged.nodes, 'MISSING')
        # of MPI's ranks none notes its own end
        if self.uses_mpi and lacks and status not in (0, 1):
            printed, started = self.case.errors(), RECORDS in known.started
            end = ledger.judge(status, None, printed, started=started)
            self.case.missing += [ledger.Missing('the MPI job', *end)] if end else []
        return self.conclude(at_most(self.lost(), MOST))

    def lost(self) -> list[str]:
        """Nodes with invalid figures, as text."""
        return of_verdict(self.judged.nodes, 'MISSING', 'INVALID')

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
        return len(of_verdict(self.judged.nodes, 'FAIL'))


def is_of(node: str, line: str) -> bool:
    return bool(re.search(rf'\b{re.escape(node)}\b', line))


def requested(stage: pathlib.Path) -> list[str]:
    """The nodes of the job, as Slurm gave them to it."""
    path = stage / REQUESTED
    return path.read_text().split() if path.is_file() else []


def read_lines(paths: Iterable[pathlib.Path]) -> list[dict]:
    """The records of these files; of a line that was cut off there is none."""
    records = []
    for line in ''.join(path.read_text() for path in paths).splitlines():
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return records


def of_verdict(nodes: 'Iterable[Node]', *words: str) -> list[str]:
    """'n4 FAIL copy 171 GB/s, ...' of each node with one of these verdicts."""
    chosen = (node for node in nodes if node.verdict in words)
    return [f'{node.name} {node.verdict} {node.reason}'.rstrip() for node in chosen]
