"""Messages of MPI between all idle nodes, every pair of them: slow nodes, the slowest links."""

import statistics
from collections import defaultdict
from collections.abc import Iterable

import reframe as rfm
from lib.binaries import built
from lib.logged import logged_text
from lib.whole_cluster import RECORDS, whole_cluster
from reframe.core.builtins import run_before, variable

from membw.printable import in_bytes


@rfm.simple_test
class cluster_pairs(whole_cluster):
    """Time of no byte and of 4 MiB between the nodes, in rounds of disjoint pairs: one job, one
    rank per node."""

    descr = 'messages of MPI between every pair of idle nodes'
    tags = {'production', 'maintenance', 'acceptance', 'flexible'}
    binary = built('pingpong', mpi=True)
    valid_prog_environs = ['+scan +mpi']
    least_nodes = 2

    # set by -S: seconds for a size of a link; bytes, as '0,4194304'
    seconds = variable(float, value=0.0)
    sizes = logged_text()
    options = {'--seconds': 'seconds', '--sizes': 'sizes'}

    # what was found, for log and database
    links = logged_text()

    @run_before('run')
    def set_command(self) -> None:
        self.take_nodes(with_mpi=True)
        self.env_vars = {'OMP_NUM_THREADS': 1}
        self.run_on_nodes(self.binary.path, '--nodes', *self.program_options(RECORDS))

    def rank(self) -> None:
        super().rank()
        lines = slowest_links(self.records)
        self.links = '; '.join(lines)
        for line in lines:
            self.say(line)
        # a message that did not arrive as it was sent discredits the network, not its time
        self.wrong = [
            f'{record["host"]} - {link["node"]} INVALID not-validated'
            for record in self.records
            for link in record.get('links', [])
            if link.get('reason') == 'not-validated'
        ]

    def lost(self) -> list[str]:
        return [*super().lost(), *self.wrong]


def slowest_links(records: Iterable[dict], most: int = 5) -> list[str]:
    """'n1 - n4: 4 MiB in 512 us, 1.4 times the median of 15 links' of each message size's
    slowest links; `records` are the JSON objects of one job."""
    times: dict[int, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for link in record.get('links') or ():
            if link.get('reason') is None:
                names = tuple(sorted((record['host'], link['node'])))
                for message in link['messages']:
                    times[message['bytes']][names].append(message['median_us'])
    lines = []
    for size, of_links in sorted(times.items()):
        every = {names: statistics.fmean(us) for names, us in of_links.items()}
        median = statistics.median(every.values())
        for one, other in sorted(every, key=every.__getitem__, reverse=True)[:most]:
            us = every[one, other]
            lines.append(
                f'{one} - {other}: {in_bytes(size)} in {us:.3g} us, {us / median:.2f} times the '
                f'median of {len(every)} links'
            )
    return lines
