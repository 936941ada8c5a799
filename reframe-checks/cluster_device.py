"""Each card (GPU) of every idle node: one job, one process per node, one record per card."""

import pathlib
import shlex

import reframe as rfm
from lib.binaries import built
from lib.cards import PARTITIONS, card_options, cards
from lib.whole_cluster import RECORDS, whole_cluster
from reframe.core.builtins import run_after, run_before

from membw.results import archive
from membw.results.ledger import Missing


@rfm.simple_test
class cluster_device(card_options, whole_cluster):
    """One card of a node after the other, so that none is in another's way; a card is compared
    with all of its kind. A card without a record makes its node MISSING."""

    descr = 'memory of every card of every idle node, in one job'
    tags = {'maintenance', 'acceptance', 'flexible'}
    valid_prog_environs = ['+scan']
    binary = built('device')
    slowest_of = 'triad'

    @run_after('init')
    def choose_partitions(self) -> None:
        """Those of several nodes with cards."""
        self.valid_systems = [
            p.fullname for p in PARTITIONS if cards(p) and 'flexible' in p.features
        ]

    @run_before('run')
    def spread(self) -> None:
        self.take_nodes()
        *options, _ = self.program_options(RECORDS)
        numbers = ' '.join(map(str, range(cards(self.current_partition))))
        # the worst exit status; of each process another file, whose name begins as each rank's
        loop = (
            f'worst=0; for card in {numbers}; do '
            f'{shlex.join([str(self.binary.path), *options])} {RECORDS}.rank-card$card -d $card; '
            'status=$?; [ $status -le $worst ] || worst=$status; done; exit $worst'
        )
        self.run_on_nodes('sh', '-c', shlex.quote(loop))

    def gathered(self, stage: pathlib.Path) -> list[dict]:
        """Of each node that left a record, one of each card."""
        records = super().gathered(stage)
        there = {(one['host'], one['device']['index']) for one in records}
        clusters = {one['host']: one.get('cluster') or '' for one in records}
        for host in clusters:
            for card in range(cards(self.current_partition)):
                if (host, card) not in there:
                    lost = Missing('no record', False, f'card {card}')
                    records.append(archive.empty_record('device', host, clusters[host], lost))
        return records
