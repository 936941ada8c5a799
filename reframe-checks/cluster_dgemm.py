"""DGEMM on every idle node at once: one job, one process and one record per node."""

import reframe as rfm
from lib import pinnings
from lib.blas_binary import of_a_blas
from lib.whole_cluster import RECORDS, whole_cluster
from reframe.core.builtins import run_before


@rfm.simple_test
class cluster_dgemm(of_a_blas, whole_cluster):
    """Each figure of the median node, the slowest node, and who is slow: by its library, its
    clock, or one core."""

    descr = 'DGEMM of every idle node, in one job'
    tags = {'production', 'nightly', 'maintenance', 'acceptance', 'flexible'}
    slowest_of = '.*'

    @run_before('run')
    def spread(self) -> None:
        self.num_tasks_per_node = 1
        if self.is_dry_run():
            self.num_tasks = 1  # there may be no scheduler
        self.num_cpus_per_task = len(self.cores())
        if (self.current_partition.processor.num_cpus_per_core or 1) > 1:
            self.use_multithreading = False
        pinned = pinnings.request(self.method, self.cores())[1]
        self.env_vars = {**pinned, **self.blas_variables()}
        self.survive_a_node(with_mpi=False)
        self.let_the_library_choose_its_kernels()
        self.look_around()
        self.executable = self.binary.path
        self.executable_opts = self.program_options(RECORDS)
        self.note_ends()
