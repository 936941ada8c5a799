"""Messages of MPI between all idle nodes, every pair of them: which node, which link is slow."""

import ranking
import reframe as rfm
from lib.binaries import built
from lib.option_words import option_words
from reframe.core.builtins import performance_function, run_after, run_before, variable
from whole_cluster import RECORDS, whole_cluster

from membw.printable import at_most

# one line per link that is not PASS, so many in the log
LOGGED = 64


@rfm.simple_test
class cluster_pairs(whole_cluster):
    """Time of no byte and of 4 MiB between the nodes, in rounds of disjoint pairs: one job, one
    rank per node."""

    descr = 'messages of MPI between every pair of idle nodes'
    tags = {'production', 'maintenance', 'acceptance', 'flexible'}
    binary = built('pingpong', mpi=True)
    valid_prog_environs = ['+scan +mpi']
    least_nodes = 2

    # asked by -S: seconds for a size of a link; bytes, as '0,4194304'
    seconds = variable(float, value=0.0)
    sizes = variable(str, value='', loggable=True)

    # what was found, for log and database
    links = variable(str, value='', loggable=True)

    @run_after('setup')
    def hold_links_to_none_slow(self):
        if '*' in self.reference:
            self.reference['*']['slow_links'] = (0, None, 0, 'links')

    @run_before('run')
    def ask(self):
        self.num_tasks_per_node = 1
        self.num_cpus_per_task = self.current_partition.processor.num_cores
        if self.is_dry_run():
            self.num_tasks = 2  # there may be no scheduler to ask
        self.survive_a_node(with_mpi=True)
        self.look_around()
        self.env_vars = {'OMP_NUM_THREADS': 1}
        options = ['--nodes', *self.program_options(RECORDS)]
        options += ['--seconds', f'{self.seconds:g}'] if self.seconds else []
        options += option_words({'--sizes': self.sizes})
        self.executable, self.executable_opts = self.binary.path, options

    def judge(self):
        super().judge()
        self.links = self.judged.links.counts()
        self.say(self.links)
        for line in at_most(self.of_links('FAIL', 'INVALID'), LOGGED):
            self.warn(line)

    def of_links(self, *words):
        """'n1 - n4 FAIL 0 B take ...' of links with one of these verdicts, the surest first."""
        links = sorted(self.judged.links.links, key=lambda link: link.q)
        return ranking.of_verdict(links, *words)

    def lost(self):
        """A message that did not arrive as it was sent discredits the network, not its time."""
        wrong = (line for line in self.of_links('INVALID') if 'not-validated' in line)
        return [*super().lost(), *wrong]

    @performance_function('links')
    def slow_links(self):
        """Held to 0, as slow nodes are."""
        return len(self.of_links('FAIL'))
