"""Is a node as fast as it should be, beyond its memory: DGEMM of each BLAS that it has."""

import reframe as rfm
from lib.blas_binary import of_a_blas
from lib.pinned_run import pinned_run


@rfm.simple_test
class dgemm(of_a_blas, pinned_run):
    """GFlop/s of a square multiplication and of nodeperf's, in percent of what the same threads
    can do at that moment; a run that one core of the node did alone is INVALID."""

    descr = 'DGEMM of one node, validated, compared with its own ceiling'
