"""STREAM on one node, with every compiler, preset and pinning method it has."""

import reframe as rfm
from lib import pinnings, reference_age, stream_table
from lib.measurement import invalid_reasons, measurement
from reframe.core.builtins import (
    parameter,
    performance_function,
    run_after,
    run_before,
    sanity_function,
    variable,
)
from reframe.core.exceptions import SanityError
from reframe.core.logging import getlogger

from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology


@rfm.simple_test
class stream(measurement):
    """Best Copy, Scale, Add and Triad of a whole node, one thread a core."""

    descr = 'STREAM memory bandwidth of one node'
    pinning = parameter(list(pinnings.METHODS), loggable=True)
    keep_files = ['record.json']
    # the last day of a calibrated reference that is over, for the table
    reference_expired = variable(str, value='', loggable=True)

    @run_after('init')
    def choose_partitions(self):
        """KMP_AFFINITY is what the cards were measured with; they have no other tool."""
        self.valid_systems = ['+mic'] if self.pinning == 'kmp' else ['-mic']

    @run_after('setup')
    def take_reference(self):
        """References live beside the system's facts; a system with none is recorded only."""
        path = self.current_partition.extras.get('references')
        if path:
            self.reference = {'$ref': path}

    @run_before('run')
    def pin(self):
        # in front of the program: launcher.options are dropped by the local launcher
        self.need_tool(pinnings.tool(self.pinning))
        self.cpus = topology.cores(self.current_partition)
        self.take_cores(self.cpus)
        command, env = pinnings.ask(self.pinning, self.cpus)
        self.env_vars = {'OMP_NUM_THREADS': len(self.cpus), **env}
        self.prerun_cmds += [pinnings.unset_others(env), NOTE_ENVIRONMENT]
        self.executable, *options = [*command, self.binary.path]
        self.executable_opts = [*options, *self.program_options('record.json')]

    @run_before('sanity')
    def read_record(self):
        if self.is_dry_run():
            return
        self.found = next(iter(self.read_records(['record.json'])), None)
        if self.found:
            self.note_provenance(self.found)
            self.record = self.keep('record.json', self.pinning)

    @sanity_function
    def is_valid(self):
        """Validated, undisturbed, the threads really where they were asked, below the peak."""
        if not self.found:
            self.not_measured()
        for text in stream_table.contradictions(self.output(), self.found):
            raise SanityError(f'table and record differ: {text}')
        reasons = invalid_reasons(self.found)
        if 'Solution Validates' not in self.output():
            reasons.append("not-validated (no 'Solution Validates' in the output)")
        where = pinnings.problems(self.pinning, self.found['threads_on'], self.cpus)
        reasons += [f'cpu-not-where-asked ({text})' for text in where]
        return self.conclude(reasons)

    def has_reference(self):
        """ReFrame itself passes a run without one, and says nothing."""
        try:
            return bool(self.reference.index and self.reference[self])
        except (AttributeError, KeyError):
            return False

    @run_before('performance')
    def say_no_reference(self):
        if not self.has_reference() and not self.is_dry_run():
            self.say('no reference: recorded only')

    @run_before('performance')
    def warn_of_old_reference(self):
        """A calibrated reference has a last day; held to it all the same."""
        path = self.current_partition.extras.get('references')
        key = self.current_partition.fullname, self.current_environ.name, self.pinning
        day = None if self.is_dry_run() or not path else reference_age.expired(path, key)
        if day:
            self.reference_expired = day
            system = self.current_system.name
            getlogger().warning(
                f'{self.display_name} @{"+".join(key[:2])}: the reference expired on {day}: '
                f'membw calibrate --system {system}'
            )

    def best(self, kernel):
        return round(self.found['kernels'][kernel]['best_mbs'] / 1000, 3)

    @performance_function('GB/s')
    def copy(self):
        return self.best('copy')

    @performance_function('GB/s')
    def scale(self):
        return self.best('scale')

    @performance_function('GB/s')
    def add(self):
        return self.best('add')

    @performance_function('GB/s')
    def triad(self):
        return self.best('triad')
