"""STREAM on every idle node at once: one job, one record per process, one verdict per node.

Nodes share no memory: srun starts a process on each, and a node that dies costs its own figure
only. With MPI (`-S use_mpi=1`, `-S starter=mpirun`) they measure together.
"""

from typing import Any

import reframe as rfm
from lib import pinnings
from lib.batch_job import CAMPAIGN, option_words
from lib.binaries import program_binary, spack_rows_of
from lib.stream_options import stream_options
from lib.whole_cluster import RECORDS, WAIT_S, whole_cluster
from reframe.core.builtins import fixture, run_after, run_before, variable


class cluster_binary(program_binary):
    """With MPI where requested."""

    program = 'stream'
    rows = fixture(spack_rows_of('stream'), scope='session')

    @run_after('init')
    def follow_the_check(self) -> None:
        self.mpi = cluster_stream.with_mpi(cluster_stream)
        self.choose_host()


@rfm.simple_test
class cluster_stream(stream_options, whole_cluster):
    """Copy, Scale, Add and Triad of the median node, the slowest node, and who is slow."""

    descr = 'STREAM memory bandwidth of every idle node, in one job'
    tags = {'production', 'maintenance', 'acceptance', 'flexible'}
    slowest_of = 'triad'
    binary = fixture(cluster_binary, scope='environment')
    valid_prog_environs = ['+preset -offload']

    # set by -S: MPI; threads of a process, 0: one per core; its KiB; seconds that processes are
    # waited for
    use_mpi = variable(bool, value=False)
    rank_threads = variable(int, value=0)
    memory_kib = variable(int, value=0)
    limit_s = variable(float, value=0.0)

    @run_after('init')
    def choose_environments(self) -> None:
        if self.with_mpi():
            self.valid_prog_environs = [f'{self.valid_prog_environs[0]} +mpi']

    def with_mpi(self: Any) -> bool:
        return bool(self.use_mpi) or self.starter.startswith('mpi')

    @run_before('run')
    def set_command(self) -> None:
        self.take_nodes(self.with_mpi(), self.limit_s or WAIT_S)
        threads = self.rank_threads or self.num_cpus_per_task
        self.env_vars = {'OMP_NUM_THREADS': threads, **pinnings.VARIABLES['omp']}
        given = {'-m': self.memory_kib, '--timeout': self.with_mpi() and self.limit_s}
        options = [*option_words(given), *self.program_options(RECORDS)]
        program = self.binary.path
        if CAMPAIGN and 'native' in self.current_environ.features:  # each node's own code
            self.prerun_cmds += [f'{self.binary.make_command()} BUILD="$PWD" >&2 || exit 1']
            program = './stream'
        self.run_on_nodes(program, *options)
