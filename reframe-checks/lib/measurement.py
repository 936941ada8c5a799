"""What every run of a program shares: its needs, its provenance, its verdict, its metrics."""

import json
import math
import pathlib
import re

import reframe as rfm
import reframe.core.runtime as runtime
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from lib import prerequisites, references
from lib.binaries import results
from lib.option_words import option_words
from lib.queue_limit import never_begun, queue_limit
from lib.quick_log import quick_log
from lib.refusal import refuse
from membw.presets.code_checksum import code_sha256
from membw.presets.presets import sha256
from membw.presets.sources import commit
from membw.results import archive
from membw.results.doubts import doubts
from membw.results.metrics import intervals, of_record

# variables below that are no options: what they say is read off the run
NOTED = (
    'verdict',
    'reasons',
    'note',
    'compiler',
    'node',
    'threads',
    'threads_on',
    'record',
    'metrics',
)
# the shell of the job, and slurmstepd
KILLED = re.compile(r': line \d+: +\d+ Killed\b|oom[-_]kill', re.I)
OUT_OF_MEMORY = ('the program was killed, as the kernel does where memory runs out: dmesg, or the '
                 'memory limit of the job, tells')  # fmt: skip


def invalid_reasons(record):
    """What the program itself found, as 'reason (detail)'."""
    if record['verdict'] == 'VALID':
        return []
    counted = [r for r in record['reasons'] if not r['allowed']]
    texts = [f'{r["reason"]} ({r["detail"]}{by_whom(r, record)})' for r in counted]
    return texts or ['the program gives no reason']


def by_whom(reason, record):
    """The busiest processes beside the program, where it does not name them itself."""
    others = record['busy'].get('processes')
    if reason['reason'] != 'disturbed' or not others or 'meanwhile' in reason['detail']:
        return ''
    return ', busiest meanwhile: ' + ', '.join(f'{o["name"]} {o["cpu_s"]:.1f} s' for o in others)


class measurement(quick_log, queue_limit, rfm.RunOnlyRegressionTest):
    """A program of src on a node of its own: options in, JSON record out.

    A check says `binary = built('stream')` and how it runs; what it measured is in the record.
    """

    valid_systems = ['*']
    valid_prog_environs = ['+preset -offload']
    # its cases are compared with each other: `membw run` measures them in rounds
    in_rounds = variable(bool, value=False, loggable=True)
    # key of the partition's extras that no figure may exceed: 'peak_gbs'; '': none is known
    peak_key = ''

    # what `--tag`, `--mode` and `membw nightly` choose by: docs/reframe.md says what each means
    tags = {'production', 'nightly', '1_node'}
    # whoever measures beside another measures the other: Slurm and LSF are told so
    exclusive_access = True

    # findings that do not count, by -S
    allow = variable(str, value='', loggable=True)

    verdict = variable(str, value='', loggable=True)
    reasons = variable(str, value='', loggable=True)
    # what a table says beside PASS
    note = variable(str, value='', loggable=True)
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
    kernel_release = variable(str, value='', loggable=True)
    thp = variable(str, value='', loggable=True)
    numa_balancing = variable(str, value='', loggable=True)
    threads = variable(int, value=0, loggable=True)
    threads_on = variable(str, value='', loggable=True)
    record = variable(str, value='', loggable=True)
    # {name: {unit, better}} as JSON: what the figures are, should the record be lost
    metrics = variable(str, value='', loggable=True)
    # whether a reference says what its figures should be
    is_held = variable(bool, value=False, loggable=True)
    # {metric: message} of each '$xfail', as JSON: ReFrame's report does not name them
    known_issues = variable(str, value='', loggable=True)
    # the last day of a calibrated reference that is over, for the table
    reference_expired = variable(str, value='', loggable=True)

    # --- before the run ------------------------------------------------------------------

    @run_after('init')
    def refuse_what_a_run_notes(self):
        """`-S stream.threads=4` would be taken and mean nothing."""
        name = next(filter(lambda name: getattr(self, name), NOTED), None)
        if name:
            refuse(self, f"'{name}' is noted by the run: '-S' cannot set it")

    @run_after('init')
    def refuse_less_than_nothing(self):
        """Our numbers are counts, sizes and seconds; 0 leaves them to the program."""
        space = type(self).var_space
        for name in sorted({*space} - {*rfm.RunOnlyRegressionTest.var_space}):
            value = getattr(self, name) if space[name].is_defined() else None
            if isinstance(value, int | float) and not 0 <= value < math.inf:
                refuse(self, f'{name}={value:g}: 0 or more')

    @run_after('init')
    def name_maintainers(self):
        """Of the system's file: whom ReFrame names where the check fails."""
        parts = runtime.runtime().system.partitions
        self.maintainers = self.maintainers or parts[0].extras.get('maintainers', [])

    @run_after('setup')
    def need_node(self):
        # a dry run, too, needs to know how many cores it would ask for
        reason = prerequisites.no_topology(self.current_partition)
        self.skip_if(reason, reason)
        if not self.is_dry_run():
            reason = prerequisites.no_scheduler(self.current_partition)
            self.skip_if(reason, reason)

    def need_tool(self, tool):
        """Here the tool is looked for at once; on a node the job looks, and says so."""
        if not tool:
            return
        if not self.is_dry_run():
            reason = prerequisites.no_tool(self.current_partition, tool)
            self.skip_if(reason, reason)
        self.prerun_cmds += [
            f"command -v {tool} >/dev/null || {{ echo 'membw-missing {tool}'; exit 0; }}"
        ]

    def program_options(self, record):
        """Command-line options of one run of the program."""
        extras = self.current_partition.extras
        # a figure above the peak makes the program's own verdict INVALID
        asked = {'--allow': self.allow, '--peak': extras.get(self.peak_key)}
        return [*option_words(asked), '--json', record]

    def take_cores(self, cpus):
        """The whole node for one task, one thread per core."""
        self.num_tasks = self.num_tasks_per_node = 1
        self.num_cpus_per_task = len(cpus)
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = 'mic' in self.current_partition.features

    @run_after('setup')
    def take_reference(self):
        """References live beside the system's facts; a system with none is recorded only."""
        path = self.current_partition.extras.get('references')
        if path and type(self).__name__ in references.read(path):
            self.reference = {'$ref': path}
            self.is_held = self.has_reference()

    # --- after the run -------------------------------------------------------------------

    def output(self):
        """Hooks run outside the stage directory, so the whole path."""
        return pathlib.Path(self.stagedir, str(self.job.stdout)).read_text(errors='replace')

    @run_before('sanity')
    def skip_what_the_node_lacks(self):
        if self.is_dry_run():
            return
        if not pathlib.Path(self.stagedir, str(self.job.stdout)).exists():
            why = never_begun(self.job, self.current_partition.scheduler.registered_name)
            raise SanityError(f'not measured, no record: {why}')
        lacks = re.search(r'^membw-missing (\S+)', self.output(), re.M)
        if lacks:
            name = self.current_partition.fullname
            self.skip(f"'{lacks[1]}' not found on the node of {name}")

    def read_records(self, names):
        """The records that were written; a program that did not measure writes none."""
        paths = [pathlib.Path(self.stagedir, name) for name in names]
        return [json.loads(p.read_text()) for p in paths if p.is_file()]

    def note_provenance(self, record):
        """Every log line, report and database row says what was measured, where, how."""
        build, facts = self.binary.facts(), record['facts']
        self.compile_line = ' '.join(build['compile_line'])
        self.compiler = build['compiler']
        self.source_sha256 = build['source_sha256']
        self.binary_sha256 = build.get('binary_sha256') or sha256(self.binary.path)
        self.code_sha256 = code_sha256(self.binary.path)
        self.spack_hash = build.get('dag_hash') or ''
        self.built_with = build.get('built_with') or 'spack'
        self.commit = commit()
        self.run_environment = archive.environment(self.stagedir)
        self.node = record['host']
        self.kernel_release = str(facts.get('kernel'))
        self.thp = str(facts.get('thp'))
        self.numa_balancing = str(facts.get('numa_balancing'))
        self.threads = record['threads']
        self.threads_on = ' '.join(t['affinity'] for t in record['threads_on'])

    def facts_beside(self):
        """What is known of the program beside its record, and kept with it."""
        return {}

    def keep(self, name, label):
        """A record of the stage, which the next run empties, to results/records; the job that
        wrote it to results/jobs.
        """
        where = self.current_partition.fullname, self.current_environ.name
        path = archive.record_path(results(), *where, label)
        if path.exists():  # tiny runs, repeated, may end in the same second
            path = path.with_name(f'{path.stem}-{self.short_name}.json')
        lines = pathlib.Path(self.stagedir, name).read_text().splitlines()
        records = [{**json.loads(line), **self.facts_beside()} for line in lines]
        path.write_text(''.join(json.dumps(record) + '\n' for record in records))
        archive.keep_job(results(), path.stem, self.stagedir, self.job_facts(name))
        return str(path)

    def job_facts(self, record):
        partition = self.current_partition
        return {
            'test': self.display_name,
            'system': self.current_system.name,
            'partition': partition.name,
            'environ': self.current_environ.name,
            'scheduler': partition.scheduler.registered_name,
            'script': pathlib.Path(self.job.script_filename).name,
            'record_in_stage': record,
            'binary': self.binary.path,
            'binary_sha256': self.binary_sha256,
        }

    def last_words(self):
        """The program's own, where it wrote no record."""
        path = pathlib.Path(self.stagedir, str(self.job.stderr))
        lines = [ln.strip() for ln in path.read_text(errors='replace').splitlines()]
        lines = [ln for ln in lines if re.search(r'\w', ln)]  # Open MPI's begin with a rule
        # ours first; else what a tool said first: its usage and srun's line come after
        ours = [ln for ln in lines if ln.startswith('membw:')]
        ours += [OUT_OF_MEMORY for ln in lines if KILLED.search(ln)]
        tools = [ln for ln in lines if not ln.startswith('srun:')]
        return [*ours, *tools, *lines, 'it said nothing'][0]

    def not_measured(self):
        raise SanityError(f'not measured, no record: {self.last_words()}')

    def conclude(self, problems):
        """VALID, or a failure that begins with INVALID: such a figure is never believed."""
        self.verdict = 'INVALID' if problems else 'VALID'
        self.reasons = '; '.join(problems)
        if problems:
            self.say(f'INVALID: {self.reasons}')
            raise SanityError(f'INVALID: {self.reasons}')
        return True

    # --- figures -------------------------------------------------------------------------

    def note_figure(self, name, value, unit):
        """A performance variable of ReFrame's, of what was measured."""
        # more digits no run repeats
        figure = value if isinstance(value, int) else float(f'{value:.6g}')
        self.perf_variables[name] = sn.make_performance_function(sn.defer(figure), unit)

    def note_metrics(self, record):
        measured = {n: m for n, m in record['metrics'].items() if m['value'] is not None}
        for name, metric in measured.items():
            self.note_figure(name, metric['value'], metric['unit'])
        kinds = {n: {'unit': m['unit'], 'better': m['better']} for n, m in measured.items()}
        self.metrics = json.dumps(kinds)

    def has_reference(self):
        """ReFrame itself passes a run without one, and says nothing."""
        try:
            return bool(self.reference.index and self.reference[self])
        except (AttributeError, KeyError):
            return False

    @run_before('performance')
    def note_known_issues(self):
        if self.has_reference():
            marked = {name: row.message for name, row in references.expected_failures(self)}
            self.known_issues = json.dumps(marked) if marked else ''

    def held_to(self, name):
        """(lowest, highest) that the reference of a metric lets pass; None: not held."""
        try:
            value, *bounds = self._resolve_reference()[
                f'{self.current_partition.fullname}:{name}'
            ][:3]
        except (KeyError, TypeError, ValueError):  # none, or one that is expected to fail
            return None
        return [value * (1 + bound) if bound is not None else None for bound in bounds]

    def doubts(self):
        """Where a figure's own interval supports neither PASS nor FAIL, as text."""
        if 'unstable' in self.allow.split(','):
            return
        figures, measured = of_record(self.measured)
        for metric in measured:
            ends, bounds = intervals(self.measured).get(metric.name), self.held_to(metric.name)
            if ends and bounds:
                yield from doubts(metric.name, figures[metric.name], metric.unit, ends, bounds)

    @run_before('performance')
    def say_no_reference(self):
        if not self.has_reference() and not self.is_dry_run():
            self.say('no reference: recorded only')

    def warn_of_old_reference(self, pinning):
        """A calibrated reference has a last day; held to it all the same."""
        path = self.current_partition.extras.get('references')
        key = self.current_partition.fullname, self.current_environ.name, pinning
        system, name = self.current_system.name, type(self).__name__
        more = references.more_of_index(path, name) if path else ()
        key += tuple(str(getattr(self, attribute)) for attribute in more)
        day = references.expired(path, name, key) if path else None
        if day:
            self.reference_expired = day
            test = '' if name == references.STREAM else f' --test {name}'
            getlogger().warning(
                f'{self.display_name} @{"+".join(key[:2])}: the reference expired on {day}: '
                f'membw calibrate --system {system}{test}'
            )

    def say(self, text):
        getlogger().info(
            f'{self.display_name} @{self.current_partition.fullname}'
            f'+{self.current_environ.name}: {text}'
        )
