"""Is a node as fast as it should be, beyond its memory: DGEMM of each BLAS that it has."""

import reframe as rfm
from lib.blas_binary import of_a_blas
from lib.pinned_run import pinned_run
from reframe.core.builtins import run_before, variable


@rfm.simple_test
class dgemm(of_a_blas, pinned_run):
    """GFlop/s of a square multiplication and of nodeperf's, in percent of what the same threads
    can do at that moment; a run that one core of the node did alone is INVALID."""

    descr = 'DGEMM of one node, validated, beside its own ceiling'

    # by -S: m = n, 0: by time, caches and memory; repetitions of each shape, 0: 3 and 5
    size = variable(int, value=0, loggable=True)
    repetitions = variable(int, value=0, loggable=True)

    @run_before('run')
    def let_the_library_take_all(self):
        self.env_vars.update(self.blas_variables(len(self.cpus)))

    def program_options(self, record):
        options = self.blas_options(len(self.cpus))
        options += ['-n', str(self.size)] if self.size else []
        options += ['-t', str(self.repetitions)] if self.repetitions else []
        return [*options, *super().program_options(record)]
