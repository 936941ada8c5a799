"""What every run of a program shares: its needs, its options, its verdict, its metrics."""

import json
import math
from collections.abc import Iterable

import reframe as rfm
import reframe.core.runtime as runtime
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, variable
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from lib import prerequisites
from lib.batch_job import batch_job
from lib.kept_record import kept_record
from lib.last_words import last_words
from lib.option_words import option_words
from lib.quick_log import quick_log
from lib.reference_check import reference_check
from lib.refusal import refuse

# variables below that are no options: what they say is read off the run
NOTED = (
    'verdict', 'reasons', 'note', 'compiler', 'node', 'threads', 'threads_on', 'record', 'metrics',
)  # fmt: skip


def invalid_reasons(record: dict) -> list[str]:
    """What the program itself found, as 'reason (detail)'; see undecided() for UNDECIDED."""
    if record['verdict'] != 'INVALID':
        return []
    counted = [r for r in record['reasons'] if not r['allowed']]
    texts = [f'{r["reason"]} ({r["detail"]}{by_whom(r, record)})' for r in counted]
    return texts or ['the program gives no reason']


def by_whom(reason: dict, record: dict) -> str:
    """The busiest other processes, where the program does not name them itself."""
    processes = record['busy'].get('processes')
    if reason['reason'] != 'disturbed' or not processes or 'meanwhile' in reason['detail']:
        return ''
    busiest = ', '.join(f'{p["name"]} {p["cpu_s"]:.1f} s' for p in processes)
    return f', busiest meanwhile: {busiest}'


class measurement(
    quick_log, batch_job, kept_record, reference_check, last_words, rfm.RunOnlyRegressionTest
):
    """A program of src on a node of its own: options in, JSON record out.

    A check says `binary = built('stream')` and how it runs; what it measured is in the record.
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

    verdict = variable(str, value='', loggable=True)
    reasons = variable(str, value='', loggable=True)
    # what a table says next to PASS
    note = variable(str, value='', loggable=True)
    # {name: {unit, better}} as JSON: what the figures are
    metrics = variable(str, value='', loggable=True)

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
    def name_maintainers(self) -> None:
        """Of the system's file: ReFrame names them where the check fails."""
        parts = runtime.runtime().system.partitions
        self.maintainers = self.maintainers or parts[0].extras.get('maintainers', [])

    @run_after('setup')
    def need_node(self) -> None:
        # a dry run, too, needs to know how many cores it would request
        reason = prerequisites.no_topology(self.current_partition)
        self.skip_if(reason, reason)
        if not self.is_dry_run():
            reason = prerequisites.no_scheduler(self.current_partition)
            self.skip_if(reason, reason)

    def need_tool(self, tool: str | None) -> None:
        """Here the tool is looked for at once; on a node the job looks, and says so."""
        if not tool:
            return
        if not self.is_dry_run():
            reason = prerequisites.no_tool(self.current_partition, tool)
            self.skip_if(reason, reason)
        self.prerun_cmds += [
            f"command -v {tool} >/dev/null || {{ echo 'membw-missing {tool}'; exit 0; }}"
        ]

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

    # --- after the run -------------------------------------------------------------------

    def conclude(self, problems: Iterable[str]) -> bool:
        """VALID, or a failure that begins with INVALID: such a figure is wrong."""
        problems = list(problems)
        self.verdict = 'INVALID' if problems else 'VALID'
        self.reasons = '; '.join(problems)
        self.keep_verdict(problems)
        if problems:
            self.say(f'INVALID: {self.reasons}')
            raise SanityError(f'INVALID: {self.reasons}')
        if undecided := self.undecided():
            raise SanityError(f'UNDECIDED: {"; ".join(undecided)}')
        return True

    def keep_verdict(self, problems: list[str]) -> None:
        self.keep_case(lambda record: (self.verdict, problems))

    def note_figure(self, name: str, value: float, unit: str) -> None:
        """Adds a measured metric as a performance variable of ReFrame."""
        # more digits no run repeats
        figure = value if isinstance(value, int) else float(f'{value:.6g}')
        self.perf_variables[name] = sn.make_performance_function(sn.defer(figure), unit)

    def note_metrics(self, record: dict) -> None:
        measured = {n: m for n, m in record['metrics'].items() if m['value'] is not None}
        for name, metric in measured.items():
            self.note_figure(name, metric['value'], metric['unit'])
        kinds = {n: {'unit': m['unit'], 'better': m['better']} for n, m in measured.items()}
        self.metrics = json.dumps(kinds)

    @run_before('performance')
    def note_known_issues(self) -> None:
        marked = self.known_issues_of()
        self.known_issues = json.dumps(marked) if marked else ''

    def say(self, text: str) -> None:
        getlogger().info(
            f'{self.display_name} @{self.current_partition.fullname}'
            f'+{self.current_environ.name}: {text}'
        )
