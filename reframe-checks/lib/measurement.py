"""A run of a program, from its options to its verdict: what every check of ours shares."""

import math
import os
import pathlib
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NoReturn

import reframe as rfm
import reframe.core.runtime as runtime
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, sanity_function, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from lib import prerequisites, references, slurm_nodes
from lib.batch_job import batch_job, end_of, errors, is_begun, never_begun, option_words, refuse
from lib.binaries import results
from lib.logged import logged_number, logged_text
from membw.errors import did_you_mean
from membw.files import text_if_any, write_whole
from membw.moments import utc
from membw.presets import sha256
from membw.presets.sources import commit
from membw.printable import amount, at_most
from membw.results import archive, ledger
from membw.results.case import mapping, of_display_name
from membw.results.figure import Figure
from membw.results.findings import text_of
from membw.results.ledger import Missing
from membw.results.record import read_records, sealed
from membw.results.table import read_table
from membw.results.verdict import judged
from membw.site.topology import is_local
from membw.words import DIED, INVALID, MISSING, PASS, UNDECIDED, VALID

# which run of ReFrame a record is of: `membw run` names it, else it is this process
SESSION = os.environ.get('MEMBW_SESSION') or time.strftime(f'%Y%m%dT%H%M%S-{os.getpid()}')
# variables below that are no options: what they say is read off the run
NOTED = ('word', 'verdict', 'reasons', 'node', 'threads', 'record', 'medians')


class expectations:
    """What a case was to measure, what arrived, and how the rest ended.

    A check may change `expected`, {file: what}, before the run; `gather` reads `arrived`, and
    `missing` is the rest.
    """

    def expect_a_record(self) -> None:
        self.expected = {'record.json': ''}
        self.arrived: dict[str, dict] = {}
        self.missing: list[Missing] = []
        self.ledger = ledger.Ledger()

    def gather(self) -> None:
        self.ledger = ledger.read(self.stagedir)
        for file in self.ledger.ended:  # whatever was launched counts
            if file.endswith('.json'):
                self.expected.setdefault(file, file.removesuffix('.json'))
        for file, what in self.expected.items():
            record = read_record(pathlib.Path(self.stagedir, file))
            if record is not None:
                self.arrived[file] = record
            end = self._end(file, record)
            if end:
                self.missing.append(replace(end, what=what, node=self.node_of(record)))

    def _end(self, file: str, record: dict | None) -> Missing | None:
        """How a launch ended that left no record, or should have ended otherwise; None: it did."""
        job, known, name = self.job, self.ledger, self.ledger.name(file)
        status, stopped = known.ended.get(name), (record or {}).get('ended_by')
        printed = self.errors(file if status is not None else '')
        word = None if record is None else record['verdict']
        if status is not None and not stopped:
            other = self.is_of_another_cpu(known.cpus[name])
            return ledger.judge(status, word, printed, job.state, file in known.started, other)
        if not is_begun(self.stagedir, job):
            return Missing(never_begun(job), False)
        if stopped:
            of_job = ledger.how_job(end_of(job), printed)
            return Missing(', '.join(filter(None, [f'ended by {stopped}', of_job])), True)
        if known.ended and record is None:
            return Missing('not begun', False)
        return ledger.judge(None, word, printed, end_of(job), file in known.started)

    def is_of_another_cpu(self, cpu: str) -> bool:
        """Whether the code is for a CPU (-march=native) and that is not the one of the node."""
        built_on = getattr(getattr(self, 'binary', None), 'cpu', '')
        return bool(built_on and cpu and built_on != cpu)

    def node_of(self, record: dict | None = None) -> str:
        nodes = self.job.nodelist or [''] if self.job else ['']
        return (record or {}).get('host') or self.ledger.node or nodes[0]

    def errors(self, file: str = '') -> str:
        """What the launch of this file wrote to stderr, else the job."""
        own = pathlib.Path(self.stagedir, f'{file}.err')
        return text_if_any(own) if own.is_file() else errors(self.stagedir, self.job)


class measurement(expectations, batch_job, rfm.RunOnlyRegressionTest):
    """A program of src on a node of its own: options in, JSON record out.

    A check says `binary = built('stream')` and how it runs.
    """

    valid_systems = ['*']
    valid_prog_environs = ['+preset -offload']
    # key of the partition's extras that no figure may exceed: 'peak_gbs'; '': none is known
    peak_key = ''

    # {option of the program: the variable that has its value}
    options: dict[str, str] = {}
    # the metrics that are bounds
    bounds: dict[str, dict] = {}
    # of NOTED, what `-S` may set all the same
    takes: tuple[str, ...] = ()

    # what `--tag`, `--mode` and `membw nightly` choose by: docs/bring-up.md says what each means
    tags = {'production', 'nightly', '1_node'}
    # a second measurement on the same node disturbs the first: Slurm and LSF keep the node free
    exclusive_access = True

    # findings that do not count, by -S
    allow = logged_text()

    # of membw/words.py, and why; membw reads them in ReFrame's report
    word = logged_text()
    reasons = logged_text()
    # of the figures: VALID or INVALID
    verdict = logged_text()
    # of a whole cluster: {name: its median, unit, better, bound}
    medians = variable(dict, value={}, loggable=True)
    # the last day of a calibrated reference that is over
    reference_expired = logged_text()

    # every log line and report says what was measured, where, how
    build = variable(dict, value={}, loggable=True)
    run_environment = logged_text()
    node = logged_text()
    threads = logged_number()
    threads_on = logged_text()
    record = logged_text()

    # --- before the run ------------------------------------------------------------------

    @run_after('init')
    def refuse_what_means_nothing(self) -> None:
        """`-S stream.threads=4` would be taken and mean nothing. Numbers are counts, sizes and
        seconds, never negative; 0: the program's default."""
        for name in NOTED:
            if getattr(self, name) and name not in self.takes:
                refuse(self, f"'{name}' is a result of the run: '-S' cannot set it")
        space = type(self).var_space
        for name in sorted({*space} - {*rfm.RunOnlyRegressionTest.var_space}):
            value = getattr(self, name) if space[name].is_defined() else None
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                refuse(self, f'{name}={value:g}: 0 or more')

    @run_after('init')
    def name_maintainers(self) -> None:
        """Of the system's file: ReFrame names them where the check fails."""
        results()  # found now: see there
        parts = runtime.runtime().system.partitions
        self.maintainers = self.maintainers or parts[0].extras.get('maintainers', [])

    @run_after('setup')
    def begin_case(self) -> None:
        self.expect_a_record()
        self.further: dict[str, Any] = {}  # what is known beyond the record, and kept with it
        self.judges_records = True  # else medians of many records are compared
        self.unclear: list[str] = []  # why a check of many nodes cannot say PASS

    @run_after('setup')
    def need_node(self) -> None:
        # a dry run, too, needs to know how many cores it would request
        part, reason = self.current_partition, prerequisites.no_topology(self.current_partition)
        if not self.is_dry_run():
            reason = reason or prerequisites.no_scheduler(part)
            reason = reason or prerequisites.lacking_library(part, self.current_environ)
            if isinstance(reason, prerequisites.NotNow):
                self.not_now(reason)
        self.skip_if(reason, reason)

    @run_after('setup')
    def take_reference(self) -> None:
        """References stand with the system's facts; a system with none is recorded only."""
        path = self.current_partition.extras.get('references')
        if path and type(self).__name__ in references.read(path) and not self.threads:
            self.reference = {'$ref': path}

    def not_now(self, reason: str) -> NoReturn:
        """What is to be measured here and cannot be for now is MISSING; a skip is of what this
        system has not."""
        self.word, self.reasons = MISSING, reason
        raise SanityError(f'{MISSING}: {self.reasons}')

    def need_tool(self, tool: str | None) -> None:
        """Here the tool is looked for at once; on a node the job looks, and says so."""
        if tool:
            is_here = is_local(self.current_partition) and not self.is_dry_run()
            self.skip_if(is_here and not shutil.which(tool), f"'{tool}' not found on this host")
            self.prerun_cmds += [ledger.lacks(tool)]

    def program_options(self, record: str) -> list[str]:
        """Command-line options of one run of the program."""
        given = {option: getattr(self, name) for option, name in self.options.items()}
        # a figure above the peak makes the program's own verdict INVALID
        peak = self.current_partition.extras.get(self.peak_key)
        return [*option_words({**given, '--allow': self.allow, '--peak': peak}), '--json', record]

    def take_cores(self, cpus: list[int]) -> None:
        """The whole node for one task, one thread per core."""
        self.num_tasks = self.num_tasks_per_node = 1
        self.num_cpus_per_task = len(cpus)
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = 'mic' in self.current_partition.features

    @run_before('run', always_last=True)
    def refuse_what_never_starts(self) -> None:
        """A job for which there is no node would wait to the end of its time."""
        if not (self.is_dry_run() or hasattr(self, 'before')):
            if said := slurm_nodes.never_starts(self):
                self.not_now(f'no node for its job: {said}')

    @run_before('run', always_last=True)
    def open_ledger(self) -> None:
        """The job notes where it began, and how what it launched ended."""
        self.prerun_cmds = [ledger.begun(), *self.prerun_cmds]
        self.postrun_cmds = [ledger.ended(), *self.postrun_cmds]
        ledger.write(self.stagedir, self.expected)

    def program_there(self) -> Any:
        """The program by the path that the node knows; what it needs goes to a card with it."""
        if not prerequisites.is_card(self.current_partition):
            return self.binary.path
        paths = prerequisites.libraries(self.current_partition, self.current_environ)
        if not self.is_dry_run():
            for path in (self.binary.path, *paths):
                shutil.copy(path, self.stagedir)
        self.env_vars.update(prerequisites.VARIABLES)
        self.postrun_cmds += [prerequisites.BRING_BACK]
        return f'./{os.path.basename(self.binary.path)}'

    # --- the record ----------------------------------------------------------------------

    @run_before('sanity')
    def read_results(self) -> None:
        if self.is_dry_run():
            return
        self.gather()
        if self.ledger.lacks:
            where = f'not found on the node of {self.current_partition.fullname}'
            self.skip(f"'{self.ledger.lacks}' {where}")
        self.read_run()

    def read_run(self) -> None:
        """A check keeps here what arrived."""

    def keep(self, record: dict | None, label: str = '') -> None:
        """Keeps a record, its figures and its provenance; None: nothing arrived, which has a
        record of its own."""
        if hasattr(self, 'binary'):
            self.note_build()
        self.node = self.node_of(record)
        if record:
            self.note_provenance(record)
            self.note_metrics(record)
        where = self.node, self.ledger.cluster
        self.keep_all([record or archive.empty_record(self.program_name(), *where)], label)

    def keep_all(self, records: Iterable[dict], label: str = '') -> None:
        """Writes records into results/records, which the next run does not empty, and into
        results/jobs the job that wrote them."""
        where = self.current_partition.fullname, self.current_environ.name
        path = archive.record_path(results(), type(self).__name__, *where, label)
        if path.exists():  # tiny runs, repeated, may end in the same second
            path = path.with_name(f'{path.stem}-{self.short_name}.json')
        self.record = str(path)
        self.store(records)
        if hasattr(self, 'binary'):  # what is not ours to build cannot be made again
            archive.keep_job(results(), path.stem, self.stagedir, self.job_facts())

    def store(self, records: Iterable[dict]) -> None:
        missing = [vars(one) for one in self.missing]
        more = {**self.further, **({'missing': missing} if missing else {})}
        self.records = [{**one, **more} for one in records]
        write_whole(self.record, ''.join(map(sealed, self.records)))

    def note_cases(self, of_record: Callable[[dict], tuple[str, list[str]]]) -> None:
        """Writes `case` into each record; `of_record` gives a record's (verdict, reasons) as the
        check found them."""
        if not self.record:
            return
        taken = utc(time.time())
        for record in self.records:
            verdict, reasons = of_record(record)
            order = record.get('case') or self.order()
            order = {name: order[name] for name in ('measurement', 'submitted')}
            order['taken'] = taken
            record['case'] = {**self.case_facts(), **order, 'verdict': verdict, 'reasons': reasons}
        self.store(self.records)

    def order(self, measurement: int | None = None) -> dict:
        """Which measurement of its session a record is of, the first is 0, and when it was
        submitted: by this host's clock, as the nodes' may differ."""
        begin = time.time() if measurement else self.job.submit_time or time.time()
        number = measurement or getattr(self, 'round', 1) - 1
        return {'measurement': number, 'submitted': utc(begin)}

    def case_facts(self) -> dict:
        """Which test case this is, its references and what it was built with; the same for
        all records of its file."""
        return {
            'test': type(self).__name__,
            'system': self.current_system.name,
            'partition': self.current_partition.name,
            'scheduler': self.current_partition.scheduler.registered_name,
            'environ': self.current_environ.name,
            'pinning': getattr(self, 'pinning', ''),
            'parameters': dict(mapping(of_display_name(self.display_name).pairs.items())),
            'references': references.tuples(self),
            'reference_expired': references.last_day(self),
            'known_issues': references.known_issues(self),
            **self.build,
            'modules': [module['name'] for module in self.current_environ.modules_detailed],
            'run_environment': archive.environment(self.stagedir),
            'session': SESSION,
            'peak_source': self.current_partition.extras.get('peak_source', ''),
        }

    def program_name(self) -> str:
        return self.binary.program if hasattr(self, 'binary') else type(self).__name__

    def note_build(self) -> None:
        from membw.codegen.elf import code_sha256  # not at each start of ReFrame

        facts, binary = self.binary.facts(), self.binary.path
        self.build = {
            'compile_line': ' '.join(facts['compile_line']),
            'compiler': facts['compiler'],
            'source_sha256': facts['source_sha256'],
            'code_sha256': code_sha256(binary),
            'binary_sha256': facts.get('binary_sha256') or sha256(binary),
            'spack_hash': facts.get('dag_hash') or '',
            'built_with': facts.get('built_with') or 'spack',
            'commit': commit(),
        }

    def note_provenance(self, record: dict) -> None:
        self.run_environment = archive.environment(self.stagedir)
        self.threads = record.get('threads') or 0
        self.threads_on = ' '.join(t['affinity'] for t in record.get('threads_on', ()))

    def job_facts(self) -> dict[str, str]:
        """What `membw reproduce` needs to run the job again."""
        partition = self.current_partition
        return {
            'test': self.display_name,
            'system': self.current_system.name,
            'scheduler': partition.scheduler.registered_name,
            'in_submit': slurm_nodes.in_submit(self.job),
            'script': self.job.script_filename.rpartition('/')[2],
            'record_in_stage': next(iter(self.expected), ''),
            'binary': self.binary.path,
            'binary_sha256': self.build.get('binary_sha256', ''),
        }

    def note_metrics(self, record: dict) -> None:
        measured = {n: m for n, m in record['metrics'].items() if m['value'] is not None}
        for name, metric in measured.items():
            self.note_figure(name, metric['value'], metric['unit'])
        self.bounds = {name: m for name, m in measured.items() if m.get('bound')}
        if self.bounds:  # ReFrame's line of each has None: its logs keep estimates alone
            rows = self.bounds.items()
            figures = (Figure(n, m['value'], m['unit'], bound=m['bound']) for n, m in rows)
            texts = [f'{f.metric} {f.sign}{amount(f.value)} {f.unit}' for f in figures]
            self.say(f'bounds, no estimates (None below): {", ".join(at_most(texts, 8))}')

    def note_figure(self, name: str, value: float, unit: str) -> None:
        """Adds a measured metric as a performance variable of ReFrame."""
        # more digits no run repeats
        figure = value if isinstance(value, int) else float(f'{value:.6g}')
        self.perf_variables[name] = sn.make_performance_function(sn.defer(figure), unit)

    @property
    def perfvalues(self) -> dict[str, list]:
        """A bound is no figure: ReFrame's logs have no value for it, its reports and comparisons
        pass over it."""
        return {
            key: [None, *row[1:]] if key.rpartition(':')[2] in self.bounds else row
            for key, row in super().perfvalues.items()
        }

    # --- the verdict ---------------------------------------------------------------------

    def problems(self) -> Iterable[str]:
        """What is wrong of what arrived, as 'reason (detail)'."""
        return ()

    @sanity_function
    def is_valid(self) -> bool:
        """All that was expected arrived, it is right, and can be compared."""
        problems = list(self.problems())
        self.verdict = INVALID if problems else VALID
        self.note_verdict(problems)
        self.word, self.reasons = self.word_and_why(problems)
        if self.word == PASS:
            return True
        if self.word == INVALID:
            self.say(f'INVALID: {self.reasons}')
        raise SanityError(f'{self.word}: {self.reasons}')

    def note_verdict(self, problems: list[str]) -> None:
        self.note_cases(lambda record: (self.verdict, problems))

    def word_and_why(self, problems: list[str]) -> tuple[str, str]:
        """What is missing goes before what is wrong; a figure outside its reference is left to
        ReFrame, which shows it."""
        lost = [one.text for one in self.missing]
        if lost:
            word = DIED if any(one.died for one in self.missing) else MISSING
            return word, '; '.join([*lost, *problems])
        if problems:
            return INVALID, '; '.join(problems)
        measured = list(self.perf_variables)
        # a misspelt name would mean that nothing is compared
        unapplied = [
            f"no figure for the reference of '{name}': {did_you_mean(name, measured)}"
            for name in references.rows(self)
            if name not in measured
        ]
        undecided = [*self.unclear, *unapplied, *self.undecided()]
        return (UNDECIDED, '; '.join(undecided)) if undecided else (PASS, '')

    def undecided(self) -> list[str]:
        """Figures outside their reference that may be within, or why all are: by the record as it
        is kept, so that ReFrame does not compare a bound as an estimate."""
        if not self.record or not self.judges_records:
            return []
        figures = read_table([self.record]).figures
        if not figures:  # of a busy node, in its time
            return ['no figure in its record']
        words = ((f, judged(f)) for f in figures if not f.known_issue)
        # what --allow set aside was requested, and stays in the record
        unclear = (why for f, (word, why) in words if word == UNDECIDED and not f.allowed)
        texts = map(text_of, unclear)
        return list(dict.fromkeys(texts))

    @run_before('performance')
    def say_what_is_compared(self) -> None:
        """ReFrame passes a run without a reference silently; a calibrated one has a last day."""
        if self.is_dry_run():
            return
        if not references.rows(self):
            self.say('no reference: recorded only')
            if self.judges_records and self.word == PASS:
                self.word = VALID  # nothing was compared
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


def invalid_reasons(record: dict) -> list[str]:
    """What the program itself found, as 'reason (detail)'; `undecided` has the rest."""
    if record['verdict'] != 'INVALID':
        return []
    counted = [r for r in record['reasons'] if not r['allowed']]
    return [f'{r["reason"]} ({r["detail"]})' for r in counted] or ['the program gives no reason']


def read_record(path: pathlib.Path) -> dict | None:
    """The record of a file, None: there is none, or it is damaged. What another program printed
    is no record: it is only there."""
    if path.suffix != '.json':
        return {'verdict': 'VALID'} if path.is_file() and path.stat().st_size else None
    records, _ = read_records(path)
    return records[0] if len(records) == 1 else None
