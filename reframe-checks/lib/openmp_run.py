"""A run whose threads only the OpenMP runtime pins."""

from reframe.core.builtins import parameter, run_after

from lib import pinnings
from lib.pinned_run import pinned_run


class openmp_run(pinned_run):
    """One thread per core by OMP_PLACES; on a card, by KMP_AFFINITY, hardware threads too."""

    pinning = parameter(['omp', 'kmp'], loggable=True)

    @run_after('init')
    def choose_partitions(self) -> None:
        self.valid_systems = ['+mic'] if self.pinning == 'kmp' else ['-mic']

    def threads_of_card(self) -> int:
        return self.current_partition.processor.num_cpus

    def cpus_to_use(self) -> list[int]:
        if 'mic' in self.current_partition.features:
            return list(range(self.threads_of_card()))
        return super().cpus_to_use()

    def where(self) -> list[str]:
        """On a card several threads per core are allowed."""
        alone = self.pinning != 'kmp'
        return pinnings.problems(self.pinning, self.measured['threads_on'], self.cpus, alone)
