"""What OpenMP itself costs on one node, by runtime and by how its threads wait."""

import reframe as rfm
from lib.binaries import built
from lib.openmp_run import openmp_run
from lib.option_words import option_words
from reframe.core.builtins import parameter, run_before, variable


@rfm.simple_test
class overheads(openmp_run):
    """Overhead of each construct, in us, with teams of 1, 2, 4, ... threads up to all cores; on
    Helios' card to its 240 hardware threads, as in the sources."""

    descr = "overheads of OpenMP's constructs on one node"
    binary = built('overheads')
    # one environment of each compiler: its runtime matters, its flags do not
    valid_prog_environs = ['+runtime']
    wait_policy = parameter(['default', 'active', 'passive'], loggable=True)

    # by -S: '1,20'; 'barrier,reduction'; pairs of construct and reference
    teams = variable(str, value='', loggable=True)
    constructs = variable(str, value='', loggable=True)
    pairs = variable(int, value=0, loggable=True)

    @run_before('run')
    def choose_wait_policy(self):
        others = ['GOMP_SPINCOUNT', 'KMP_BLOCKTIME', 'KMP_LIBRARY']
        if self.wait_policy == 'default':
            others.append('OMP_WAIT_POLICY')
        else:
            self.env_vars['OMP_WAIT_POLICY'] = self.wait_policy
        self.prerun_cmds += [f'unset {" ".join(others)}']

    def program_options(self, record):
        asked = {
            '--threads': self.teams,
            '--constructs': self.constructs,
            '--pairs': self.pairs,
        }
        return [*option_words(asked), *super().program_options(record)]
