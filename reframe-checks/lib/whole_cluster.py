"""One job on every idle node of a partition, a record of each, a verdict of each."""

import json
import pathlib
import re
import shlex
import statistics
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reframe.core.backends import getlauncher
from reframe.core.builtins import performance_function, run_after, run_before, variable
from reframe.core.exceptions import SanityError

from lib import batch_job, slurm_nodes
from lib.batch_job import CAMPAIGN, UNBOUND, given_or, refuse
from lib.logged import logged_text
from lib.measurement import invalid_reasons, measurement
from membw.errors import MembwError
from membw.files import text_if_any
from membw.grouped import grouped
from membw.printable import at_most, plural
from membw.results import archive, ledger
from membw.results.hostlist import expected_nodes, fold, write_node_check
from membw.results.node_names import match_expected, without_card
from membw.results.record import HIGHER, read_records
from membw.site import slurm, topology

if TYPE_CHECKING:
    from membw.rank.judge import NodeVerdict
    from membw.rank.ranking import Ranking

# seconds for the other ranks to write, after a rank died: Open MPI 4 and 5
PATIENT = {'OMPI_MCA_odls_base_sigkill_timeout': 10, 'PRTE_MCA_odls_base_sigkill_timeout': 10}
WAIT_S = 300  # for the other processes, once the first process of a job has ended
RECORDS, REQUESTED = 'cluster.jsonl', 'requested.txt'
MEASURED = ('PASS', 'VALID', 'FAIL', 'UNDECIDED')
NOT_PASS = ('FAIL', 'DIED', 'UNDECIDED', 'INVALID', 'MISSING')
GONE = 'node failed, or gave no answer'
MOST = 20  # in the reason of a failure
AGAIN = 3  # as membw.rank.judge.AGAIN, whose numpy and scipy are not for each session


class whole_cluster(measurement):
    """A check adds `binary` and the command; RECORDS, or one of each process, is what its program
    writes. Each metric of the records is a figure, that of the median node."""

    valid_systems = ['+flexible']
    num_tasks = 0  # all idle nodes: ReFrame's flexible allocation
    keep_files = [RECORDS, REQUESTED]
    least_nodes = 1
    slowest_of = ''  # a pattern: of these metrics the slowest node is a figure of its own

    # set by -S: srun or mpirun in place of the partition's launcher; at most so many nodes
    starter = variable(str, value='')
    max_nodes = variable(int, value=0)

    node_check = logged_text()
    nodes = logged_text()
    ranking: 'Ranking | None' = None

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
        """Where the system has none: no slow node."""
        self.reference = {'*': {'slow_nodes': (0, None, 0, 'nodes')}}
        super().take_reference()

    def take_nodes(self, with_mpi: bool = False, wait_s: float = WAIT_S) -> None:
        """Lines and options of the job: one process per node, with a CPU of each core; what is
        left goes on without a node."""
        self.num_tasks_per_node = 1
        self.num_cpus_per_task = len(topology.cores(self.current_partition))
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = False
        if not (with_mpi or self.starter):  # each process for itself, whoever starts MPI's here
            self.job.launcher = getlauncher('srun')()
        by_srun = self.job.launcher.registered_name == 'srun'
        self.notes_ends = by_srun and not with_mpi
        self.expected = {}  # what nodes lack, their verdicts say
        self.job.options += ['--no-kill']
        self.prerun_cmds += [f'echo "$SLURM_JOB_NODELIST" >{REQUESTED}']
        if by_srun:
            self.job.launcher.options += ['--no-kill', '--kill-on-bad-exit=0']
        if with_mpi:
            self.prerun_cmds += given_or({**UNBOUND, **PATIENT})
        elif by_srun:
            # what one node prints as an example: the records have them all
            self.job.launcher.options += [f'--wait={wait_s:.0f}', '--output=0', '--error=all']
        self.prerun_cmds += [archive.NOTE_ENVIRONMENT]
        if self.is_dry_run() or CAMPAIGN:  # there may be no scheduler, or no node free
            self.num_tasks = self.least_nodes
        else:
            self.look_around()

    def look_around(self) -> None:
        """How many nodes the job gets, before it is submitted: all that would start it now."""
        job = self.job
        slurm_nodes.fill(job, self)
        try:
            slurm_nodes.wait_for_session(job, self.say)
            self.before = slurm_nodes.candidates(job)
            awake = len(slurm_nodes.without_powered_down(job, self.before))
            limit = min(awake, self.max_nodes or awake)
            least = self.least_nodes
            count, self.refused = slurm_nodes.most(job, least, limit) if limit else (0, '')
        except slurm.NoAnswer as err:
            self.not_now(str(err))
        if not count:
            each = ', '.join(f'{name} ({word})' for name, word in sorted(self.before.items()))
            needed = plural(self.least_nodes, 'idle node')
            why = ': '.join(filter(None, [self.refused, each]))
            self.not_now(f'{needed} needed, of {plural(len(self.before), "node")}: {why}')
        self.num_tasks = count
        job.options = [*job.options, f'--nodes={count}']  # whatever `access` says of other jobs

    def run_on_nodes(self, *words: str) -> None:
        """The command; each process that srun starts notes in the ledger how the program ended on
        its node."""
        self.executable, *self.executable_opts = words
        if self.notes_ends:
            end = ledger.ended(ledger.NODE, '$status')
            loop = f'"$0" "$@"; status=$?; {end}; exit $status'
            self.executable, self.executable_opts = 'sh', ['-c', shlex.quote(loop), *words]

    @run_before('run', always_last=True)
    def leave_to_campaign(self) -> None:
        if CAMPAIGN:
            self.job.submit = self.keep_for_campaign

    def keep_for_campaign(self) -> None:
        """In place of sbatch: where the script is, and what a record of it says."""
        self.note_build()
        case = self.case_facts()
        if 'native' in self.current_environ.features:
            case |= {'binary_sha256': '', 'code_sha256': ''}  # each node builds its own
        facts = {**self.job_facts(), 'case': case, 'stage': self.stagedir}
        where = f'{self.current_partition.name}-{self.current_environ.name}.json'
        pathlib.Path(CAMPAIGN, where).write_text(json.dumps(facts))
        self.skip('its job is left to membw campaign')

    # --- after the run -------------------------------------------------------------------

    def read_run(self) -> None:
        """The file that rank 0 gathered, or one of each process."""
        stage = pathlib.Path(self.stagedir)
        named = text_if_any(stage / REQUESTED).strip()
        self.nodes_of_job = expected_nodes(named) if named else []
        records = self.records_of(stage, self.nodes_of_job, self.order())
        if not records:
            self.expected = {RECORDS: '' if self.notes_ends else 'the MPI job'}
            self.gather()
            if not self.notes_ends:  # the node of the launcher is not to blame
                self.missing = [replace(one, node='') for one in self.missing]
            self.keep(None)
            return
        self.judges_records = False
        self.note_build()
        if one := next((record for record in records if record['metrics']), None):
            self.note_provenance(one)
        self.keep_records(records)
        self.rank()
        low = sorted({node for nodes in self.ranking.low.values() for node in nodes})
        if low and self.notes_ends:
            controls = {node for nodes in self.ranking.controls.values() for node in nodes}
            beside = sorted(controls - {*low})
            self.say(f'low, measured again: {", ".join(low)}; with: {", ".join(beside)}')
            self.keep_records([*records, *self.measured_again([*low, *beside])])
            self.rank()
        if not of_verdict(self.ranking.nodes, 'FAIL'):
            self.unclear = at_most(of_verdict(self.ranking.nodes, 'UNDECIDED'), MOST)
        self.report_metrics()
        self.tell()

    def records_of(self, stage: pathlib.Path, nodes: list[str], order: dict) -> list[dict]:
        """The records of a measurement, and one without a figure of each node that left none:
        how the program ended there."""
        records = self.gathered(stage)
        if self.notes_ends:
            records += self.of_the_lost(stage, records, nodes)
        return [{**record, 'case': order} for record in records]

    def gathered(self, stage: pathlib.Path) -> list[dict]:
        paths = [stage / RECORDS, *sorted(stage.glob(f'{RECORDS}.rank-*'))]
        return self.read_lines(paths)

    def read_lines(self, paths: Iterable[pathlib.Path]) -> list[dict]:
        """Of a damaged line its node has none: the others are judged."""
        records, self.damaged = read_records(*paths)
        for line in self.damaged:
            self.warn(line)
        return records

    def of_the_lost(
        self, stage: pathlib.Path, records: list[dict], nodes: list[str]
    ) -> list[dict]:
        hosts = {record['host'] for record in records}
        known = ledger.read(stage)
        printed = batch_job.errors(str(stage), self.job)
        made = []
        for node, host in zip(nodes, match_expected(hosts, nodes), strict=True):
            if host not in hosts:
                own = ledger.lines_of(node, printed)
                end = self.end_of(node, known, own or printed, ledger.how_job('', own))
                if self.damaged and known.ended.get(node) in (0, 1):
                    end = ledger.Missing(f'perhaps a damaged record: {self.damaged[0]}', False)
                made.append(archive.empty_record(self.program_name(), node, known.cluster, end))
        return made

    def end_of(self, node: str, known: ledger.Ledger, printed: str, of_job: str) -> ledger.Missing:
        status, started = known.ended.get(node), node.partition('.')[0] in known.started
        if status:
            other = self.is_of_another_cpu(known.cpus[node])
            end = ledger.judge(status, None, '', '', started, other)
            assert end
            return end
        if started or of_job not in ('', *ledger.EARLY):
            return ledger.Missing(of_job or GONE, True)
        return ledger.Missing(ledger.last_words(printed) or GONE, False)

    def job_facts(self) -> dict[str, str]:
        return {**super().job_facts(), 'record_in_stage': RECORDS}

    def measured_again(self, nodes: list[str]) -> list[dict]:
        """Records of further measurements of these nodes; none where they are not free."""
        records = []
        for number in range(1, AGAIN + 1):
            folder = pathlib.Path(self.stagedir, f'again-{number}')
            order = self.order(number)
            slurm_nodes.measure_again(self.job, folder, nodes, self.say)
            records += self.records_of(folder, nodes, order)
        return records

    def keep_records(self, records: list[dict]) -> None:
        if self.record:
            self.store(records)
        else:
            self.keep_all(records)
        self.note_cases(lambda record: (record['verdict'], invalid_reasons(record)))

    def note_verdict(self, problems: object) -> None:
        """Nothing to note here: each node's record has its own verdict."""

    def rank(self) -> None:
        """By the rule of `membw rank`, with a line of each node in the node-check file."""
        # not for every session that lists the checks
        from membw.rank.ranking import rank_files

        self.node_check = str(pathlib.Path(self.record).with_suffix('.nodecheck'))
        try:
            self.ranking = rank_files([self.record], self.nodes_of_job)
            write_node_check(self.node_check, self.ranking.nodes)
        except MembwError as err:
            raise SanityError(f'not judged: {err}') from err
        left_out = slurm_nodes.left_out(self.before, self.nodes_of_job, self.refused)
        self.nodes = self.ranking.counts() + left_out

    def tell(self) -> None:
        """A line for nodes that are alike, those that are well, too."""
        for line in [self.nodes, *of_verdict(self.ranking.nodes, 'PASS', 'VALID')]:
            self.say(line)
        for line in [*of_verdict(self.ranking.nodes, *NOT_PASS), *self.ranking.problems]:
            self.warn(line)

    def problems(self) -> list[str]:
        """Nodes that did not answer, or with invalid figures."""
        if not self.ranking:
            return []
        dead = [node for node in self.ranking.nodes if node.verdict == 'DIED']
        self.missing = [ledger.Missing(node.reason, True, node.name) for node in dead]
        known = ledger.read(self.stagedir)
        status = known.ended.get(ledger.WHOLE, 0)
        # of MPI's ranks none notes its own end
        is_mpi = not self.notes_ends and of_verdict(self.ranking.nodes, 'MISSING')
        if is_mpi and status not in (0, 1):
            end = ledger.judge(status, None, self.errors(), started=RECORDS in known.started)
            self.missing += [replace(end, what='the MPI job')] if end else []
        return at_most(self.lost(), MOST)

    def lost(self) -> list[str]:
        """Nodes with invalid figures, as text."""
        return of_verdict(self.ranking.nodes, 'MISSING', 'INVALID')

    def report_metrics(self) -> None:
        """Medians of the nodes with valid figures; of some metrics the slowest node, too. Bounds
        count where no node has an estimate, and are compared with no reference."""
        names = {node.name for node in self.ranking.nodes if node.verdict in MEASURED}
        nodes = (pair for group in self.ranking.groups for pair in group.first.items())
        runs = [run.figures for node, run in nodes if without_card(node) in names]
        made: dict[str, dict[str, Any]] = {}
        for name, every in grouped((f.metric, f) for run in runs for f in run.values()).items():
            figures = [f for f in every if not f.is_bound] or every
            one, values = figures[0], [f.value for f in figures]
            kind = {'unit': one.unit, 'better': one.better, 'bound': one.bound}
            made[name] = {'value': statistics.median(values), **kind}
            if re.fullmatch(self.slowest_of, name):
                slowest = min(values) if one.better == HIGHER else max(values)
                made[f'{name}_slowest'] = {'value': slowest, **kind}
        for name, row in made.items():
            if not row['bound']:
                self.note_figure(name, row['value'], row['unit'])
        # ReFrame keeps no figure of a case that is UNDECIDED or lacks a node
        self.medians = made

    @performance_function('nodes')
    def slow_nodes(self) -> int:
        """Must be 0: a node that stays low is a FAIL; the figures of the others stay."""
        return sum(node.verdict == 'FAIL' for node in self.ranking.nodes)


def of_verdict(nodes: 'Iterable[NodeVerdict]', *words: str) -> list[str]:
    """'n[4-5] FAIL copy 171 GB/s, ...' of the nodes with one of these verdicts."""
    chosen = (((n.verdict, n.reason), n.name) for n in nodes if n.verdict in words)
    return [f'{fold(names)} {" ".join(why)}'.rstrip() for why, names in grouped(chosen).items()]
