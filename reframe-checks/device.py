"""The memory of each card (GPU) of one node, and the way to it and back."""

import reframe as rfm
import reframe.core.runtime as runtime
from lib.binaries import built
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter, run_after, run_before, variable
from reframe.core.systems import SystemPartition

PARTITIONS = runtime.runtime().system.partitions


def cards(partition: SystemPartition) -> int:
    """As the system file says in `devices`: a card that is gone is MISSING."""
    return sum(d.num_devices for d in partition.devices if d.device_type == 'gpu')


@rfm.simple_test
class device(pinned_run):
    """Copy, Scale, Add, Triad, read and write of a card's memory; host to card and back, pinned
    and pageable, from each NUMA domain; card to card."""

    descr = 'memory bandwidth of each card of one node'
    binary = built('device')
    # one environment: the driver compiles the kernels
    valid_prog_environs = ['+scan']
    pinning = 'none'
    card = parameter(range(max([1, *map(cards, PARTITIONS)])), loggable=True)
    # by -S: a CPU as OpenCL's device in place of a card (tests)
    cpu = variable(bool, value=False, loggable=True)
    array_size = variable(int, value=0, loggable=True)
    rounds = variable(int, value=0, loggable=True)
    options = {'-d': 'card', '--cpu': 'cpu', '-n': 'array_size', '--rounds': 'rounds'}

    @run_after('init')
    def choose_partitions(self) -> None:
        """Those that have this card."""
        self.valid_systems = [p.fullname for p in PARTITIONS if self.card < cards(p)]

    @run_before('run')
    def request_cards(self) -> None:
        """All of the node, where the partition's `resources` say how."""
        if '_rfm_gpu' in self.current_partition.resources:
            self.num_gpus_per_node = cards(self.current_partition)

    def where(self) -> list[str]:
        """The program moves its thread from domain to domain, and judges the pages."""
        return []
