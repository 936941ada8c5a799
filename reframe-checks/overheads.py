"""What OpenMP itself costs on one node, by runtime and by how its threads wait."""

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_number, logged_text
from lib.pinned_run import openmp_run
from lib.several_launches import several_launches
from reframe.core.builtins import run_before


@rfm.simple_test
class overheads(several_launches, openmp_run):
    """Overhead of each construct, in us, with teams of 1, 2, 4, ... threads up to all cores; on
    Helios' card to its 240 hardware threads, as in the sources."""

    descr = "overheads of OpenMP's constructs on one node"
    binary = built('overheads')
    # one environment of each compiler: its runtime matters, its flags do not
    valid_prog_environs = ['+runtime']

    # by -S: OMP_WAIT_POLICY, 'active' or 'passive'; '': as the runtime has it
    wait_policy = logged_text()
    # their least and largest hold the median of all in 99 %; docs/evidence.md has both figures
    launches = 8
    seconds_apart = 1.0
    # by -S: '1,20'; 'barrier,reduction'; pairs of construct and reference in a launch
    teams = logged_text()
    constructs = logged_text()
    pairs_of_construct = logged_number(value=15)
    options = {'--threads': 'teams', '--constructs': 'constructs', '--pairs': 'pairs_of_construct'}

    @run_before('run')
    def choose_wait_policy(self) -> None:
        lines = ['unset OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME KMP_LIBRARY']
        if self.wait_policy:
            lines.append(f'export OMP_WAIT_POLICY={self.wait_policy}')
        self.prerun_cmds = [*lines, *self.prerun_cmds]  # before the environment is noted
        self.launch_again()
