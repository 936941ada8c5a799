"""Messages of MPI between all idle nodes, every pair of them: slow nodes, the slowest links."""

import json

import reframe as rfm
from lib.binaries import built
from lib.variables import option_words
from lib.whole_cluster import RECORDS, whole_cluster
from reframe.core.builtins import run_before, variable

from membw.rank.slowest_links import slowest_links


@rfm.simple_test
class cluster_pairs(whole_cluster):
    """Time of no byte and of 4 MiB between the nodes, in rounds of disjoint pairs: one job, one
    rank per node."""

    descr = 'messages of MPI between every pair of idle nodes'
    tags = {'production', 'maintenance', 'acceptance', 'flexible'}
    binary = built('pingpong', mpi=True)
    valid_prog_environs = ['+scan +mpi']
    least_nodes = 2

    # set by -S: seconds for a size of a link; bytes, as '0,4194304'
    seconds = variable(float, value=0.0)
    sizes = variable(str, value='', loggable=True)

    # what was found, for log and database
    links = variable(str, value='', loggable=True)

    @run_before('run')
    def set_command(self) -> None:
        self.num_tasks_per_node = 1
        self.num_cpus_per_task = self.current_partition.processor.num_cores
        if self.is_dry_run():
            self.num_tasks = 2  # there may be no scheduler
        self.survive_a_node(with_mpi=True)
        self.look_around()
        self.env_vars = {'OMP_NUM_THREADS': 1}
        options = ['--nodes', *self.program_options(RECORDS)]
        options += ['--seconds', f'{self.seconds:g}'] if self.seconds else []
        options += option_words({'--sizes': self.sizes})
        self.executable, self.executable_opts = self.binary.path, options

    def judge(self) -> None:
        super().judge()
        with open(self.record) as file:
            records = [json.loads(line) for line in file]
        lines = slowest_links(records)
        self.links = '; '.join(lines)
        for line in lines:
            self.say(line)
        # a message that did not arrive as it was sent discredits the network, not its time
        self.wrong = [
            f'{record["host"]} - {link["node"]} INVALID not-validated'
            for record in records
            for link in record.get('links', [])
            if link.get('reason') == 'not-validated'
        ]

    def lost(self) -> list[str]:
        return [*super().lost(), *self.wrong]
