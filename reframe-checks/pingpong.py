"""Messages of MPI between two cores of one node: one way, in us, of 0 B to 4 MiB."""

import os
import shutil

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_text
from lib.pinned_run import pinned_run
from lib.several_launches import several_launches
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_after, run_before

from membw.results.ledger import Missing
from membw.site.topology import is_local


def mpirun() -> str:
    """As this host has it; a node's may be another."""
    return shutil.which('mpirun') or 'mpirun'


@rfm.simple_test
class pingpong(several_launches, pinned_run):
    """Time of a message between the nearest and the farthest cores of each class, two ranks."""

    descr = 'messages of MPI from core to core of one node'
    binary = built('pingpong', mpi=True)
    valid_prog_environs = ['+scan +mpi']
    # the ranks pin themselves, to one pair after the other, and prove it
    pinning = 'none'
    threads_stay = False
    # each launch knows its own moment and memory alone (docs/evidence.md)
    launches = 6

    # by -S: '0-1,0-13'; the class that the pairs must be of; bytes, as '0,8,4194304'
    pairs = logged_text()
    pair_class = logged_text()
    sizes = logged_text()
    options = {'--pairs': 'pairs', '--class': 'pair_class', '--sizes': 'sizes'}

    @run_after('setup')
    def start_mpirun_ourselves(self) -> None:
        """Two ranks on this node, under whichever scheduler."""
        self.need_tool('mpirun')
        self.skip_if(
            not self.is_dry_run()
            and is_local(self.current_partition)
            and os.geteuid() == 0
            and not os.environ.get('OMPI_ALLOW_RUN_AS_ROOT'),
            'mpirun as root: Open MPI refuses without OMPI_ALLOW_RUN_AS_ROOT=1 and '
            'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1',
        )
        self.job.launcher = getlauncher('local')()

    @run_before('run')
    def two_ranks(self) -> None:
        self.env_vars['OMP_NUM_THREADS'] = 1
        self.executable_opts = ['-n', '2', self.executable, *self.executable_opts]
        self.executable = 'mpirun'
        self.expected = {'record.json': mpirun()}  # whose fault it mostly is
        self.launch_again()

    def read_measured(self) -> dict | None:
        """With another MPI's mpirun each program is a single process, and measures threads."""
        if all('messages' in record for record in self.arrived.values()):
            return super().read_measured()
        why = (
            f'no record of messages: {mpirun()} started two single programs: does it belong to '
            'another MPI than mpicc?'
        )
        self.missing = [Missing(why, False, node=self.node_of())]
        return None
