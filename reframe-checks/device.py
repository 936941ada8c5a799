"""The memory of each card (GPU) of one node, and the way to it and back."""

import reframe as rfm
from lib.binaries import built
from lib.cards import PARTITIONS, card_options, cards
from lib.pinned_run import pinned_run
from reframe.core.builtins import parameter, run_after


@rfm.simple_test
class device(card_options, pinned_run):
    """Copy, Scale, Add, Triad, read and write of a card's memory; host to card and back, pinned
    and pageable, from each NUMA domain; card to card."""

    descr = 'memory bandwidth of each card of one node'
    binary = built('device')
    # one environment: the driver compiles the kernels
    valid_prog_environs = ['+scan']
    pinning = 'none'
    threads_stay = False
    card = parameter(range(max([1, *map(cards, PARTITIONS)])), loggable=True)
    options = {'-d': 'card', **card_options.options}

    @run_after('init')
    def choose_partitions(self) -> None:
        """Those that have this card."""
        self.valid_systems = [p.fullname for p in PARTITIONS if self.card < cards(p)]
