"""STREAM on every idle node at once: one job, one record per process, one verdict per node.

Nodes share no memory: srun starts a process on each, and a node that dies costs its own figure
only. With MPI (`-S use_mpi=1`, `-S starter=mpirun`, `-S per=domain`) they measure together.
"""

import shlex
from typing import Any

import reframe as rfm
from lib import pinnings
from lib.batch_job import CAMPAIGN, option_words, refuse
from lib.binaries import program_binary, spack_rows_of
from lib.stream_options import stream_options
from lib.whole_cluster import RECORDS, WAIT_S, whole_cluster
from reframe.core.builtins import fixture, run_after, run_before, variable

from membw.site import topology

LOCAL_RANK = '${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-none}}'


def places_of_rank(shares: list[list[int]]) -> list[str]:
    """The words of a shell that pins a rank to its own share of a node, and becomes the program.

    For launchers that bind nothing, where OMP_PLACES=cores would be the same cores for each.
    """
    cases = ''.join(
        f'{rank}) OMP_PLACES="{",".join(f"{{{cpu}}}" for cpu in cpus)}";; '
        for rank, cpus in enumerate(shares)
    )
    unknown = '*) echo "membw: no rank of this node by this launcher" >&2; exit 2;; '
    return ['-c', f'case {LOCAL_RANK} in {cases}{unknown}esac; export OMP_PLACES; exec "$0" "$@"']


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

    # set by -S: MPI; one process per 'node' or (MPI) NUMA 'domain'; its threads, 0: one per
    # core; its KiB; seconds that processes are waited for
    use_mpi = variable(bool, value=False)
    per = variable(str, value='node')
    rank_threads = variable(int, value=0)
    memory_kib = variable(int, value=0)
    limit_s = variable(float, value=0.0)

    @run_after('init')
    def refuse_nonsense(self) -> None:
        if self.per not in ('node', 'domain'):
            refuse(self, f"per={self.per}: 'node' or 'domain'")
        if self.with_mpi():
            self.valid_prog_environs = [f'{self.valid_prog_environs[0]} +mpi']

    def with_mpi(self: Any) -> bool:
        """Processes of one node share its memory, so that domains have to agree."""
        return bool(self.use_mpi) or self.starter.startswith('mpi') or self.per == 'domain'

    @run_before('run')
    def set_command(self) -> None:
        part = self.current_partition
        shares = [*topology.domains(part).values()] if self.per == 'domain' else None
        self.take_nodes(shares, self.with_mpi(), self.limit_s or WAIT_S)
        threads = self.rank_threads or self.num_cpus_per_task
        self.env_vars = {'OMP_NUM_THREADS': threads, **pinnings.VARIABLES['omp']}
        given = {'-m': self.memory_kib, '--timeout': self.with_mpi() and self.limit_s}
        options = [*option_words(given), *self.program_options(RECORDS)]
        before = []
        if shares and len(shares) > 1 and not self.by_srun:
            before = ['sh', *map(shlex.quote, places_of_rank(shares))]
        program = self.binary.path
        if CAMPAIGN and 'native' in self.current_environ.features:  # each node's own code
            self.prerun_cmds += [f'{self.binary.make_command()} BUILD="$PWD" >&2 || exit 1']
            program = './stream'
        self.run_on_nodes(*before, program, *options)
