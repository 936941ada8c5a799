"""The levels of one node's memory: size, latency and bandwidth of each, found by measuring."""

import reframe as rfm
from lib.binaries import built
from lib.pinned_run import pinned_run
from reframe.core.builtins import variable


@rfm.simple_test
class ladder(pinned_run):
    """Dependent loads, reads and Triad in working sets from 4 KiB to eight times the last-level
    cache, with one thread and with all: what each level is declared and measured to be."""

    descr = 'latency and bandwidth of each level of memory of one node'
    binary = built('ladder')
    # one environment: the loops are of vector types, the same by each compiler
    valid_prog_environs = ['+scan']
    pinning = 'omp'
    # by -S: 5 s in place of a minute, fewer sizes
    quick = variable(bool, value=False, loggable=True)
    options = {'--quick': 'quick'}
