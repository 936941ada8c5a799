"""One run of a program on a whole node, its threads pinned by a method, one record."""

from collections.abc import Iterator
from typing import Any

from reframe.core.builtins import parameter, run_after, run_before

from lib import pinnings
from lib.measurement import invalid_reasons, measurement
from membw.results.archive import NOTE_ENVIRONMENT
from membw.site import topology


class pinned_run(measurement):
    """What the record says is what ReFrame gets: verdict, metrics, references.

    A check adds `binary = built(...)` and `pinning = parameter([...])`, methods of lib.pinnings.
    """

    keep_files = ['record.json']
    # False: the program moves its threads itself, and judges where they ran
    threads_stay = True

    @run_after('init')
    def choose_partitions(self) -> None:
        """KMP_AFFINITY is what the cards were measured with; they have no other tool."""
        if self.pinning == 'kmp':
            self.valid_systems = ['+mic']

    @property
    def method(self) -> str:
        """How its threads are pinned: what `pinning` says, unless that tells cases apart by
        something else."""
        return self.pinning

    def cpus_to_use(self) -> list[int]:
        """One CPU per thread; all cores of the node."""
        return topology.cores(self.current_partition)

    @run_before('run')
    def pin(self) -> None:
        # in front of the program: launcher.options are dropped by the local launcher
        self.need_tool(pinnings.TOOLS.get(self.method))
        self.cpus = self.cpus_to_use()
        self.take_cores(self.cpus)
        command, env = pinnings.request(self.method, self.cpus)
        self.env_vars = {'OMP_NUM_THREADS': len(self.cpus), **env}
        self.prerun_cmds += [pinnings.unset_other_variables(env), NOTE_ENVIRONMENT]
        self.executable, *options = [*command, self.program_there()]
        self.executable_opts = [*options, *self.program_options('record.json')]

    def read_run(self) -> None:
        self.measured: Any = self.read_measured()
        self.keep(self.measured, self.pinning)

    def read_measured(self) -> dict | None:
        """The record of the run, None: it left none."""
        return self.arrived.get('record.json')

    def problems(self) -> Iterator[str]:
        """Not validated, disturbed, threads not on the requested CPUs, above the peak."""
        if self.measured:
            yield from invalid_reasons(self.measured)
        if self.measured and self.threads_stay:
            for text in pinnings.problems(self.method, self.measured['threads_on'], self.cpus):
                yield f'wrong-pinning ({text})'


class openmp_run(pinned_run):
    """One thread per core by OMP_PLACES; on a card, by KMP_AFFINITY, hardware threads too."""

    valid_systems = ['-mic']
    pinning = parameter(['omp', 'kmp'], loggable=True)

    def threads_of_card(self) -> int:
        return self.current_partition.processor.num_cpus

    def cpus_to_use(self) -> list[int]:
        if 'mic' in self.current_partition.features:
            return list(range(self.threads_of_card()))
        return super().cpus_to_use()
