"""What every run of a program shares: its needs, its options, its verdict, its metrics."""

import json
import math
import os
from collections.abc import Iterable
from typing import Any, NoReturn

import reframe as rfm
import reframe.core.runtime as runtime
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from lib import card, prerequisites, references
from lib.batch_job import batch_job
from lib.binaries import results
from lib.case import BUILD, Case
from lib.variables import option_words, own_variables, refuse
from membw.results import archive, ledger
from membw.results.verdict import INVALID, MISSING, PASS

# variables below that are no options: what they say is read off the run
NOTED = (
    'word', 'verdict', 'reasons', 'note', 'compiler', 'node', 'threads', 'threads_on', 'record',
    'metrics',
)  # fmt: skip


def invalid_reasons(record: dict) -> list[str]:
    """What the program itself found, as 'reason (detail)'; see undecided() for UNDECIDED."""
    if record['verdict'] != 'INVALID':
        return []
    counted = [r for r in record['reasons'] if not r['allowed']]
    texts = [f'{r["reason"]} ({r["detail"]})' for r in counted]
    return texts or ['the program gives no reason']


class measurement(own_variables, batch_job, rfm.RunOnlyRegressionTest):
    """A program of src on a node of its own: options in, JSON record out.

    A check says `binary = built('stream')` and how it runs. What is expected, what arrived, the
    record, its references and the verdict are one object, `self.case`.
    """

    valid_systems = ['*']
    valid_prog_environs = ['+preset -offload']
    # key of the partition's extras that no figure may exceed: 'peak_gbs'; '': none is known
    peak_key = ''

    # of NOTED, what `-S` may set all the same
    takes: tuple[str, ...] = ()

    # what `--tag`, `--mode` and `membw nightly` choose by: docs/bring-up.md says what each means
    tags = {'production', 'nightly', '1_node'}
    # a second measurement on the same node disturbs the first: Slurm and LSF keep the node free
    exclusive_access = True

    # findings that do not count, by -S
    allow = variable(str, value='', loggable=True)

    # of membw/results/verdict.py, and why; membw reads them in ReFrame's report
    word = variable(str, value='', loggable=True)
    reasons = variable(str, value='', loggable=True)
    # of the figures: VALID or INVALID
    verdict = variable(str, value='', loggable=True)
    # what a table says next to PASS
    note = variable(str, value='', loggable=True)
    # {name: {unit, better}} as JSON: what the figures are
    metrics = variable(str, value='', loggable=True)
    # {metric: message} of each '$xfail', as JSON: ReFrame's report does not name them
    known_issues = variable(str, value='', loggable=True)
    # the last day of a calibrated reference that is over
    reference_expired = variable(str, value='', loggable=True)

    # every log line and report says what was measured, where, how
    compile_line = variable(str, value='', loggable=True)
    compiler = variable(str, value='', loggable=True)
    source_sha256 = variable(str, value='', loggable=True)
    code_sha256 = variable(str, value='', loggable=True)
    binary_sha256 = variable(str, value='', loggable=True)
    spack_hash = variable(str, value='', loggable=True)
    built_with = variable(str, value='', loggable=True)
    commit = variable(str, value='', loggable=True)
    run_environment = variable(str, value='', loggable=True)
    node = variable(str, value='', loggable=True)
    threads = variable(int, value=0, loggable=True)
    threads_on = variable(str, value='', loggable=True)
    record = variable(str, value='', loggable=True)

    # --- before the run ------------------------------------------------------------------

    @run_after('init')
    def refuse_what_a_run_notes(self) -> None:
        """`-S stream.threads=4` would be taken and mean nothing."""
        given = (name for name in NOTED if getattr(self, name) and name not in self.takes)
        name = next(given, None)
        if name:
            refuse(self, f"'{name}' is a result of the run: '-S' cannot set it")

    @run_after('init')
    def refuse_less_than_nothing(self) -> None:
        """Numbers are counts, sizes and seconds, never negative; 0: the program's default."""
        space = type(self).var_space
        for name in sorted({*space} - {*rfm.RunOnlyRegressionTest.var_space}):
            value = getattr(self, name) if space[name].is_defined() else None
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                refuse(self, f'{name}={value:g}: 0 or more')

    @run_after('init')
    def find_results(self) -> None:
        results()

    @run_after('init')
    def name_maintainers(self) -> None:
        """Of the system's file: ReFrame names them where the check fails."""
        parts = runtime.runtime().system.partitions
        self.maintainers = self.maintainers or parts[0].extras.get('maintainers', [])

    @run_after('setup')
    def begin_case(self) -> None:
        self.case = Case(self)

    @run_after('setup')
    def need_node(self) -> None:
        # a dry run, too, needs to know how many cores it would request
        reason = prerequisites.no_topology(self.current_partition)
        if self.is_dry_run():
            self.skip_if(reason, reason)
            return
        reason = reason or prerequisites.no_scheduler(self.current_partition)
        if reason:
            self.not_now(reason)

    @run_after('setup')
    def take_reference(self) -> None:
        """References stand with the system's facts; a system with none is recorded only."""
        path = self.current_partition.extras.get('references')
        if path and type(self).__name__ in references.read(path) and not self.threads:
            self.reference = {'$ref': path}

    def not_now(self, reason: str) -> NoReturn:
        """What is to be measured here and cannot be for now is MISSING; a skip is of what this
        system has not."""
        self.word, self.reasons = MISSING, reason.removeprefix(prerequisites.NOT_NOW)
        raise SanityError(f'{MISSING}: {self.reasons}')

    def need_tool(self, tool: str | None) -> None:
        """Here the tool is looked for at once; on a node the job looks, and says so."""
        if not tool:
            return
        if not self.is_dry_run():
            reason = prerequisites.no_tool(self.current_partition, tool)
            self.skip_if(reason, reason)
        self.prerun_cmds += [ledger.lacks(tool)]

    def program_options(self, record: str) -> list[str]:
        """Command-line options of one run of the program."""
        extras = self.current_partition.extras
        # a figure above the peak makes the program's own verdict INVALID
        given = {'--allow': self.allow, '--peak': extras.get(self.peak_key)}
        return [*option_words(given), '--json', record]

    def take_cores(self, cpus: list[int]) -> None:
        """The whole node for one task, one thread per core."""
        self.num_tasks = self.num_tasks_per_node = 1
        self.num_cpus_per_task = len(cpus)
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = 'mic' in self.current_partition.features

    @run_before('run', always_last=True)
    def open_ledger(self) -> None:
        """The job notes where it began, and how what it launched ended."""
        self.prerun_cmds = [ledger.begun(), *self.prerun_cmds]
        self.postrun_cmds = [ledger.ended(), *self.postrun_cmds]
        self.case.open()

    @run_after('setup')
    def need_libraries(self) -> None:
        if card.is_card(self.current_partition) and not self.is_dry_run():
            reason = card.lacking_library(self.current_partition, self.current_environ)
            self.skip_if(reason, reason)

    def program_there(self) -> Any:
        """The program by the path that the node knows; what it needs goes to a card with it."""
        if not card.is_card(self.current_partition):
            return self.binary.path
        paths = card.libraries(self.current_partition, self.current_environ)
        if not self.is_dry_run():
            card.stage(self.stagedir, self.binary.path, paths)
        self.env_vars.update(card.VARIABLES)
        self.postrun_cmds += [card.BRING_BACK]
        return f'./{os.path.basename(self.binary.path)}'

    # --- after the run -------------------------------------------------------------------

    @run_before('sanity')
    def read_ledger(self) -> None:
        if self.is_dry_run():
            return
        self.case.gather()
        if self.case.ledger.lacks:
            where = f'not found on the node of {self.current_partition.fullname}'
            self.skip(f"'{self.case.ledger.lacks}' {where}")

    def keep(self, record: dict | None, label: str = '') -> None:
        """Keeps a record, its figures and its provenance; None: nothing arrived, which has a
        record of its own."""
        if hasattr(self, 'binary'):
            self.note_build()
        self.node = self.case.node(record)
        if record:
            self.note_provenance(record)
            self.note_metrics(record)
        self.keep_all([record or self.empty_record()], label)

    def keep_all(self, records: Iterable[dict], label: str = '') -> None:
        # what is not ours to build cannot be made again
        job = self.job_facts() if hasattr(self, 'binary') else None
        self.case.keep(records, label, job)
        self.record = str(self.case.path)

    def empty_record(self) -> dict:
        """Of a case that left no figure: where and when."""
        return archive.empty_record(self.program_name(), self.case.node())

    def program_name(self) -> str:
        return self.binary.program if hasattr(self, 'binary') else type(self).__name__

    def note_build(self) -> None:
        self.case.note_build(self.binary.facts(), self.binary.path)
        for name in BUILD:
            setattr(self, name, self.case.build[name])

    def note_provenance(self, record: dict) -> None:
        self.run_environment = archive.environment(self.stagedir)
        self.threads = record['threads']
        self.threads_on = ' '.join(t['affinity'] for t in record['threads_on'])

    def job_facts(self) -> dict[str, str]:
        """What `membw reproduce` needs to run the job again."""
        partition = self.current_partition
        return {
            'test': self.display_name,
            'system': self.current_system.name,
            'partition': partition.name,
            'environ': self.current_environ.name,
            'scheduler': partition.scheduler.registered_name,
            'script': self.job.script_filename.rpartition('/')[2],
            'record_in_stage': next(iter(self.case.expected), ''),
            'binary': self.binary.path,
            'binary_sha256': self.binary_sha256,
        }

    def note_metrics(self, record: dict) -> None:
        measured = {n: m for n, m in record['metrics'].items() if m['value'] is not None}
        for name, metric in measured.items():
            self.note_figure(name, metric['value'], metric['unit'])
        kinds = {n: {'unit': m['unit'], 'better': m['better']} for n, m in measured.items()}
        self.metrics = json.dumps(kinds)

    def note_figure(self, name: str, value: float, unit: str) -> None:
        """Adds a measured metric as a performance variable of ReFrame."""
        # more digits no run repeats
        figure = value if isinstance(value, int) else float(f'{value:.6g}')
        self.perf_variables[name] = sn.make_performance_function(sn.defer(figure), unit)

    def conclude(self, problems: Iterable[str]) -> bool:
        """True, or a failure of the sanity check: not all that was expected arrived, it is wrong,
        or it cannot be compared."""
        problems = list(problems)
        self.verdict = 'INVALID' if problems else 'VALID'
        self.note_verdict(problems)
        self.word, self.reasons = self.case.judge(problems)
        if self.word == PASS:
            return True
        if self.word == INVALID:
            self.say(f'INVALID: {self.reasons}')
        raise SanityError(f'{self.word}: {self.reasons}')

    def note_verdict(self, problems: list[str]) -> None:
        self.case.note_verdict(lambda record: (self.verdict, problems))

    @run_before('performance')
    def say_what_is_compared(self) -> None:
        """ReFrame passes a run without a reference silently; a calibrated one has a last day."""
        if self.is_dry_run():
            return
        marked = references.known_issues(self)
        self.known_issues = json.dumps(marked) if marked else ''
        if not references.rows(self):
            self.say('no reference: recorded only')
        self.reference_expired = references.last_day(self)
        if self.reference_expired:
            name = type(self).__name__
            test = '' if name == references.STREAM else f' --test {name}'
            self.warn(
                f'the reference expired on {self.reference_expired}: '
                f'membw calibrate --system {self.current_system.name}{test}'
            )

    def say(self, text: str) -> None:
        getlogger().info(f'{self.place()}: {text}')

    def warn(self, text: str) -> None:
        """`membw run` shows it, too."""
        getlogger().warning(f'{self.place()}: {text}')

    def place(self) -> str:
        where = f'{self.current_partition.fullname}+{self.current_environ.name}'
        return f'{self.display_name} @{where}'
