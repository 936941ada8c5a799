"""What OpenMP itself costs on one node, by runtime and by how its threads wait."""

import reframe as rfm
from lib.batch_job import refuse
from lib.binaries import built
from lib.pinned_run import openmp_run
from lib.several_launches import several_launches
from reframe.core.builtins import parameter, run_after, run_before, variable

POLICIES = ('default', 'active', 'passive')


@rfm.simple_test
class overheads(several_launches, openmp_run):
    """Overhead of each construct, in us, with teams of 1, 2, 4, ... threads up to all cores; on
    Helios' card to its 240 hardware threads, as in the sources."""

    descr = "overheads of OpenMP's constructs on one node"
    binary = built('overheads')
    # one environment of each compiler: its runtime matters, its flags do not
    valid_prog_environs = ['+runtime']
    wait_policy = parameter(list(POLICIES), loggable=True)

    # by -S: 'default,active,passive'
    wait_policies = variable(str, value='default')
    # their least and largest hold the median of all in 99 %; docs/evidence.md has both figures
    launches = 8
    seconds_apart = 1.0
    # by -S: '1,20'; 'barrier,reduction'; pairs of construct and reference in a launch
    teams = variable(str, value='', loggable=True)
    constructs = variable(str, value='', loggable=True)
    pairs_of_construct = variable(int, value=15, loggable=True)
    options = {'--threads': 'teams', '--constructs': 'constructs', '--pairs': 'pairs_of_construct'}

    @run_after('init')
    def take_requested_policies(self) -> None:
        given = self.wait_policies.split(',')
        unknown = ', '.join(sorted({*given} - {*POLICIES}))
        if unknown:
            refuse(self, f"wait_policies: no '{unknown}', there are {', '.join(POLICIES)}")
        if self.wait_policy not in given:
            self.valid_systems = []

    @run_before('run')
    def choose_wait_policy(self) -> None:
        variables = ['GOMP_SPINCOUNT', 'KMP_BLOCKTIME', 'KMP_LIBRARY']
        if self.wait_policy == 'default':
            variables.append('OMP_WAIT_POLICY')
        else:
            self.env_vars['OMP_WAIT_POLICY'] = self.wait_policy
        self.prerun_cmds += [f'unset {" ".join(variables)}']
        self.launch_again()
