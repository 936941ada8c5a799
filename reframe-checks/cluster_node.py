"""`membw node` on every idle node at once: one job, one battery and one word per node."""

import pathlib
import shlex
import sys

import reframe as rfm
from lib.batch_job import refuse
from lib.binaries import built
from lib.whole_cluster import whole_cluster
from reframe.core.builtins import run_after, run_before, variable

from membw.checkout import root
from membw.node import battery
from membw.results import ledger

NODES = 'nodes'  # a folder of records, one of each node
PROGRAMS = 'programs'


@rfm.simple_test
class cluster_node(whole_cluster):
    """Each node by its peers of the same minute; low ones three times more, with three healthy
    ones."""

    descr = 'the battery of membw node on every idle node, in one job'
    tags = {'maintenance', 'flexible'}
    valid_prog_environs = ['+scan']
    slowest_of = 'triad'
    binary = built('stream')
    ladder = built('ladder')
    loaded = built('loaded')
    tiers = built('tiers')
    device = built('device')

    # set by -S
    battery_seconds = variable(int, value=battery.USUAL_S)

    @run_after('init')
    def refuse_what_cannot_be(self) -> None:
        if not battery.LEAST_S <= self.battery_seconds <= battery.MOST_S:
            limits = f'{battery.LEAST_S} to {battery.MOST_S} s'
            refuse(self, f'battery_seconds={self.battery_seconds}: {limits}')

    @run_before('run')
    def set_command(self) -> None:
        """The Python of this checkout, which the nodes share, and the programs side by side."""
        self.take_nodes()
        every = self.binary, self.ladder, self.loaded, self.tiers, self.device
        paths = [one.path for one in every]
        self.prerun_cmds += [ledger.lacks(sys.executable), f'mkdir -p {PROGRAMS}']
        self.prerun_cmds += [f'ln -sf {shlex.join(map(str, paths))} {PROGRAMS}']
        self.env_vars = {'MEMBW_ROOT': root(), 'PYTHONPATH': f'{root()}/src'}
        words = f'-m membw node --unjudged --seconds {self.battery_seconds}'
        words += f' --programs {PROGRAMS} --records {NODES}'
        self.run_on_nodes(sys.executable, *words.split())

    def program_name(self) -> str:
        return 'node'

    def gathered(self, stage: pathlib.Path) -> list[dict]:
        return self.read_lines(sorted((stage / NODES).glob('*.json')))
