"""The risks of both parties, exact from the protocol alone, for runs that are independent of each
other; tests/evidence/acceptance.csv has them where days have a memory.

A bad node is one that misses the contract in 9 of 10 runs, a good node one that reaches it in 9
of 10. A round is passed when enough of its runs reach the contract: a binomial probability. Of
a sample it is hypergeometric which nodes are in it.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from membw.accept.protocol import Protocol
from membw.accept.rule import place
from membw.printable import amount, plural
from membw.results.record import HIGHER
from membw.statistics.peers import LEAST_DEVIATION

SELDOM = 0.1
NINE_OF_TEN = 1.28  # standard deviations: the normal distribution has a tenth beyond


class Risk(NamedTuple):
    """Probabilities: at most, as runs of a node are taken to be independent."""

    accepted: float  # of a machine with one bad node more than allowed
    refused: float  # of a machine of good nodes


def assess(protocol: Protocol) -> Risk:
    """The risks of the buyer and of the vendor."""
    fails = {SELDOM: 1.0, 1 - SELDOM: 1.0}  # chance that one run reaches the contract: of a node
    for _, runs in protocol.rounds:
        at = place(protocol.runs['statistic'], runs)
        for reaches in fails:
            fails[reaches] *= at_most(at, runs, reaches)
    bad = protocol.allowed + 1
    machine = protocol.content['nodes'].get('of', protocol.count)
    count = protocol.count
    all_tested = math.comb(machine - bad, count - bad) / math.comb(machine, count)
    accepted = 1 - all_tested * fails[SELDOM] ** bad
    refused = 1 - at_most(protocol.allowed, protocol.count, fails[1 - SELDOM])
    return Risk(accepted, refused)


def at_most(most: int, of: int, chance: float) -> float:
    """The binomial probability of at most so many, by logarithms: of 1,000,000 nodes, too."""
    if chance in (0.0, 1.0):
        return float(chance == 0.0 or most >= of)
    log = math.lgamma
    return math.fsum(
        math.exp(
            log(of + 1) - log(k + 1) - log(of - k + 1)
            + k * math.log(chance) + (of - k) * math.log1p(-chance)
        )
        for k in range(most + 1)
    )  # fmt: skip


def sentences(protocol: Protocol, is_together: bool = False) -> list[str]:
    """The risks for people; `is_together`: a node's runs share a night."""
    risk, bad = assess(protocol), protocol.allowed + 1
    many = f'a machine with {plural(bad, "bad node")} is accepted'
    slips = 'one bad node slips through' if bad == 1 else many
    return [
        f'at most {percent(risk.accepted)} chance that {slips} '
        '(bad: 9 of 10 runs miss the contract)',
        f'at most {percent(risk.refused)} chance that a machine of good nodes is refused '
        '(good: 9 of 10 runs reach the contract)',
        'both are of independent runs, a day for each'
        + ': runs of one night are not, and the risks are larger' * is_together,
    ]


def in_figures(protocol: Protocol, deviation: float = LEAST_DEVIATION) -> Iterator[str]:
    """What is bad and good in the contract's units; `deviation`: of the runs of a node."""
    for name, line in protocol.contract.items():
        if line.value is not None:
            away = (1 if line.better == HIGHER else -1) * NINE_OF_TEN * deviation
            bad, good = (line.value * (1 + side * away) for side in (-1, 1))
            words = ('below', 'from') if line.better == HIGHER else ('above', 'up to')
            yield (
                f'bad: usual {name} {words[0]} {amount(bad)} {line.unit}, '
                f'good: {words[1]} {amount(good)} '
                f'(the limit -+ {NINE_OF_TEN} standard deviations of runs of {deviation:.2%})'
            )


def percent(share: float) -> str:
    """Rounded up: '3.6 %'; '0.01 %' for less."""
    return f'{max(share, 1e-4) * 100:.2g} %'
