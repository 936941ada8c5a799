"""Latency of memory: one thread follows a chain of loads."""

import reframe as rfm
from lib.binaries import built
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter


@rfm.simple_test
class chase(pinned_run):
    """Time of a load that must wait for the one before it, through 16 MiB."""

    descr = 'latency of memory'
    binary = built('chase')
    pinning = parameter(['none', 'omp'], loggable=True)

    def cpus_to_use(self):
        return super().cpus_to_use()[:1]

    def program_options(self, record):
        return ['-m', '16', *super().program_options(record)]
