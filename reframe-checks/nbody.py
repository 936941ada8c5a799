"""How a computation of all pairs of bodies scales with the threads of one node."""

import reframe as rfm
from lib.binaries import built
from lib.nbody_options import nbody_options
from lib.openmp_run import openmp_run
from reframe.core.builtins import parameter, run_after, run_before

# of Intel's runtime alone; balanced (all cores, neighbours in number on one) is its card's
INTELS = ('compact', 'scatter', 'balanced')


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
