"""Which cores of a node are near each other: one-way time of a message, in ns."""

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_text
from lib.pinned_run import pinned_run
from reframe.core.builtins import run_before


@rfm.simple_test
class core_pairs(pinned_run):
    """Latency between the nearest and the farthest cores of each class (same cache, domain,
    socket, node), by compare-and-swap and by a line each way, the lines' home at either side."""

    descr = 'latency from core to core of one node, through memory'
    binary = built('pingpong')
    # one environment of the partition: the compiler has no part in it
    valid_prog_environs = ['+scan']
    # the program pins its two threads itself, to one pair after the other, and proves it
    pinning = 'none'
    threads_stay = False

    # by -S: '0-1,0-13' or 'all'; the class that the pairs must be of
    pairs = logged_text()
    pair_class = logged_text()
    options = {'--pairs': 'pairs', '--class': 'pair_class'}

    @run_before('run')
    def two_threads(self) -> None:
        self.env_vars['OMP_NUM_THREADS'] = 2
