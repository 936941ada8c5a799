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
        self.take_nodes()
        self.env_vars |= pinnings.VARIABLES[self.method]
        self.run_on_nodes(self.binary.path, *self.program_options(RECORDS))
