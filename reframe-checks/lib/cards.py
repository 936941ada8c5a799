"""What the checks of cards (GPUs) share: how many a node has, and the options of src/device."""

import reframe as rfm
import reframe.core.runtime as runtime
from reframe.core.builtins import run_before, variable
from reframe.core.systems import SystemPartition

from lib.logged import logged_number

PARTITIONS = runtime.runtime().system.partitions


def cards(partition: SystemPartition) -> int:
    """As the system file says in `devices`: a card that is gone is MISSING."""
    return sum(d.num_devices for d in partition.devices if d.device_type == 'gpu')


class card_options(rfm.RegressionTestPlugin):
    # by -S: a CPU as OpenCL's device in place of a card (tests)
    cpu = variable(bool, value=False, loggable=True)
    array_size = logged_number()
    rounds = logged_number()
    options = {'--cpu': 'cpu', '-n': 'array_size', '--rounds': 'rounds'}

    @run_before('run')
    def request_cards(self) -> None:
        """All of the node, where the partition's `resources` say how."""
        if '_rfm_gpu' in self.current_partition.resources:
            self.num_gpus_per_node = cards(self.current_partition)
