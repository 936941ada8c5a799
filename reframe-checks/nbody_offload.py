"""The same forces on a device, by `omp target`, compared with one thread of the host."""

import reframe as rfm
from lib.binaries import built
from lib.nbody_options import nbody_options
from lib.pinned_run import pinned_run


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
