"""STREAM on one node, with every compiler, preset and pinning method it has."""

import os
import time
from collections.abc import Iterator

import reframe as rfm
from lib import pinnings
from lib.binaries import built
from lib.pinned_run import pinned_run
from lib.stream_options import other_pages, stream_options
from reframe.core.builtins import parameter, run_after

ROUNDS = int(os.environ.get('MEMBW_ROUNDS', '0'))
UNTIL = float(os.environ.get('MEMBW_UNTIL', 'inf'))  # seconds since 1970


@rfm.simple_test
class stream(stream_options, pinned_run):
    """Best Copy, Scale, Add and Triad of a whole node, one thread per core."""

    descr = 'STREAM memory bandwidth of one node'
    tags = {'production', 'nightly', 'maintenance', 'acceptance', '1_node'}
    binary = built('stream')
    valid_systems = ['-mic']
    # `-S stream.threads=12`: on so many cores of the node, without a reference
    takes = ('threads',)
    # rounds in turn, by `membw run`: sorted by name, each is over before the next begins; a single
    # one has the name of the first, so that ReFrame compares it
    if ROUNDS:
        round = parameter(range(1, ROUNDS + 1), loggable=True)
    pinning = parameter(list(pinnings.VARIABLES), loggable=True)

    def cpus_to_use(self) -> list[int]:
        cores = super().cpus_to_use()
        too_many = f'threads={self.threads}: there are {len(cores)} cores'
        self.skip_if(self.threads > len(cores), too_many)
        return cores[: self.threads or None]

    @run_after('setup')
    def end_in_time(self) -> None:
        """The quick run makes as many rounds as fit its time, and at least one."""
        is_late = getattr(self, 'round', 1) > 1 and time.time() > UNTIL
        self.skip_if(is_late, 'the time of the quick run is over')

    def problems(self) -> Iterator[str]:
        """And pages that are not the preset's: they are what it is for."""
        yield from super().problems()
        if self.measured:
            yield from other_pages(self.pages_requested(), self.measured['pages'])
