"""What OpenMP itself costs on one node, by runtime and by how its threads wait."""

import reframe as rfm
from lib import pinnings
from lib.binaries import built
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter, run_after, run_before, variable


@rfm.simple_test
class overheads(pinned_run):
    """Overhead of each construct, in us, with teams of 1, 2, 4, ... threads up to all cores."""

    descr = "overheads of OpenMP's constructs on one node"
    binary = built('overheads')
    # one environment of each compiler: its runtime matters, its flags do not
    valid_prog_environs = ['+runtime']
    pinning = parameter(['omp', 'kmp'], loggable=True)
    wait_policy = parameter(['default', 'active', 'passive'], loggable=True)

    # by -S: '1,20'; 'barrier,reduction'; pairs of construct and reference
    teams = variable(str, value='', loggable=True)
    constructs = variable(str, value='', loggable=True)
    pairs = variable(int, value=0, loggable=True)

    @run_after('init')
    def choose_partitions(self):
        self.valid_systems = ['+mic'] if self.pinning == 'kmp' else ['-mic']

    def cpus_to_use(self):
        """On a card its hardware threads, as the sources have it: 240 of Helios'."""
        if 'mic' in self.current_partition.features:
            return list(range(self.current_partition.processor.num_cpus))
        return super().cpus_to_use()

    @run_before('run')
    def choose_wait_policy(self):
        others = ['GOMP_SPINCOUNT', 'KMP_BLOCKTIME', 'KMP_LIBRARY']
        if self.wait_policy == 'default':
            others.append('OMP_WAIT_POLICY')
        else:
            self.env_vars['OMP_WAIT_POLICY'] = self.wait_policy
        self.prerun_cmds += [f'unset {" ".join(others)}']

    def where(self):
        """On a card the threads of one core are meant to be there."""
        if self.pinning != 'kmp':
            return super().where()
        return pinnings.problems('none', self.measured['threads_on'], self.cpus)

    def program_options(self, record):
        asked = {'--threads': self.teams, '--constructs': self.constructs}
        options = [word for name, value in asked.items() if value for word in (name, value)]
        options += ['--pairs', str(self.pairs)] if self.pairs else []
        return [*options, *super().program_options(record)]
