"""Each memory of one node from each of its domains with CPUs."""

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_number
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter


@rfm.simple_test
class tiers(pinned_run):
    """Latency, read and Triad bandwidth of each pair of domains; HBM and CXL without CPUs too.
    The program pins its threads and binds its memory itself."""

    descr = "each NUMA domain's memory from each domain with CPUs"
    binary = built('tiers')
    valid_prog_environs = ['+scan']
    pinning = parameter(['omp'], loggable=True)
    peak_key = 'peak_gbs'
    rounds = logged_number()
    options = {'--rounds': 'rounds'}
    valid_systems = ['-mic']
    threads_stay = False
