"""Each memory of one node from each of its domains with CPUs."""

import reframe as rfm
from lib.binaries import built
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter, variable


@rfm.simple_test
class tiers(pinned_run):
    """Latency, read and Triad bandwidth of each pair of domains; HBM and CXL without CPUs too.
    The program pins its threads and binds its memory itself."""

    descr = "each NUMA domain's memory from each domain with CPUs"
    binary = built('tiers')
    valid_prog_environs = ['+scan']
    pinning = parameter(['omp'], loggable=True)
    peak_key = 'peak_gbs'
    rounds = variable(int, value=0, loggable=True)
    options = {'--rounds': 'rounds'}
    valid_systems = ['-mic']

    def where(self) -> list[str]:
        """The pages and CPUs are judged by the program, pair by pair."""
        return []
