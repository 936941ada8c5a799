"""All pairs of bodies: how it scales with the threads of one node; the same on a device."""

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_number, logged_text
from lib.pinned_run import openmp_run, pinned_run
from reframe.core.builtins import parameter, run_after, run_before, variable

# of Intel's runtime alone; balanced (all cores, neighbours in number on one) is its card's
INTELS = ('compact', 'scatter', 'balanced')


class nbody_options(rfm.RegressionTestPlugin):
    # by -S: 'float'; bodies and rounds, 0 leaves them to the program; '1,20'
    precision = logged_text(value='double')
    bodies = logged_number()
    rounds = variable(int, value=0)
    threads_requested = logged_text()
    options = {
        '--precision': 'precision', '--bodies': 'bodies', '--rounds': 'rounds',
        '--threads': 'threads_requested',
    }  # fmt: skip


@rfm.simple_test
class nbody(nbody_options, openmp_run):
    """Speed-up of 2, 4, ... threads up to all cores over one of the same run; native on a card,
    where 59 cores have 236 threads, as in the sources."""

    descr = 'scaling of all pairs of bodies on one node'
    binary = built('nbody')
    # one environment of each compiler, with the registers that this CPU has
    valid_prog_environs = ['+compute']
    affinity = parameter(['close', 'spread', *INTELS], loggable=True)

    @run_after('init')
    def choose_affinity(self) -> None:
        if (self.affinity in INTELS) != (self.pinning == 'kmp'):
            self.valid_systems = []

    def threads_of_card(self) -> int:
        partition = self.current_partition
        cores = partition.extras.get('threads') or partition.processor.num_cores
        return cores * (partition.processor.num_cpus_per_core or 1)

    @run_before('run')
    def set_affinity(self) -> None:
        name = 'KMP_AFFINITY' if self.pinning == 'kmp' else 'OMP_PROC_BIND'
        self.env_vars[name] = self.affinity


@rfm.simple_test
class nbody_offload(nbody_options, pinned_run):
    """GFlop/s of a device, what an offload of nothing takes, and that it was done there at all."""

    descr = 'all pairs of bodies on a device'
    binary = built('nbody')
    # partitions say in their `features` that their nodes have a device
    valid_systems = ['+offload']
    valid_prog_environs = ['+offload']
    pinning = 'omp'

    def program_options(self, record: str) -> list[str]:
        return ['--offload', *super().program_options(record)]
