"""What a party reads before it signs: the terms, whether a memory can meet them, and the risks.

The risks are exact from the protocol alone, for runs that are independent of each other;
tests/evidence/acceptance.csv has them where days have a memory. A bad node is one that misses the
contract in 9 of 10 runs, a good node one that reaches it in 9 of 10. A round is passed when enough
of its runs reach the contract: a binomial probability. Of a sample it is hypergeometric which
nodes are in it.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from membw import presets
from membw.accept import terms
from membw.accept.protocol import Protocol
from membw.accept.rule import place
from membw.accept.signatures import command
from membw.checkout import root, systems
from membw.errors import MembwError, did_you_mean
from membw.expected.proof import ARRAYS, ceiling
from membw.expected.published import NOT_SAID
from membw.expected.sentence import asked
from membw.printable import plural
from membw.results.record import HIGHER
from membw.tables import Command

ORDINARY = ('gcc', 'clang')  # families with ordinary stores where no others are asked for
SELDOM = 0.1


def plan(protocol: Protocol, path: str) -> tuple[list[str], bool]:
    """(lines, whether a memory can meet the contract, as far as it is known)."""
    stores, peak, impossible = _stores(protocol), protocol.peak_gbs, False
    asks = list(_unknown(protocol))
    for name, gbs in _rates(protocol).items() if peak else ():
        most = peak * ceiling(name, stores)
        asks += _asks_for(protocol, name, gbs, stores, most)
        impossible |= gbs > most
    never = ['every machine is refused: no node can meet the contract']
    parts = {
        'checksum': [f'sha256 {protocol.checksum}'],
        'contract': [f'{line.text}, of each node' for line in protocol.contract.values()],
        'rule': terms.sentences(protocol),
        'asks for': asks,
        'risk': never if impossible else sentences(protocol),
        'signed': signed(protocol),
    }
    lines = [f'protocol: {protocol.content["title"]}']
    lines += [f'  {name:10} {line}' for name, part in parts.items() for line in part]
    if protocol.unsigned:
        lines += ['', 'to sign it, each with its own key:']
        lines += [Command(f'  {command(path, party)}') for party in protocol.unsigned]
    return lines, not impossible


def signed(protocol: Protocol) -> Iterator[str]:
    for party, about in protocol.content['parties'].items():
        why = protocol.unsigned.get(party)
        yield f'NOT by {party}: {why}' if why else f'by {party}, {about["name"]}'


def _rates(protocol: Protocol) -> dict[str, float]:
    """{kernel: GB/s} that the contract asks of the memory."""
    lines = protocol.contract.items() if 'stream' in protocol.runs['test'] else ()
    return {n: x.value for n, x in lines if x.value and (x.unit, x.better) == ('GB/s', HIGHER)}


def _unknown(protocol: Protocol) -> Iterator[str]:
    if not Path(root(), 'reframe-checks', f'{protocol.runs["test"]}.py').is_file():
        yield f"'{protocol.runs['test']}', which is no test of membw: one of the site?"
    if protocol.runs['system'] not in systems():
        yield f"no file of '{protocol.runs['system']}' in systems/ yet: the runs need one"
    for name in (name for name in _rates(protocol) if name not in ARRAYS):
        yield f"'{name}', which is no kernel of STREAM: {did_you_mean(name, ARRAYS)}"
    if not protocol.peak_gbs:
        yield "a share of the peak that is not known: set nodes.cpu, as 'EPYC 9354', and sockets"


def _asks_for(
    protocol: Protocol, name: str, gbs: float, stores: str, most: float
) -> Iterator[str]:
    """`most`: GB/s that the memory gives this kernel with such stores."""
    share, *published = asked(gbs, protocol.peak_gbs, stores, name)
    yield f'{name} {share}'
    if gbs > most:
        why = ''
        if most < protocol.peak_gbs:
            counted, written = ARRAYS[name]
            words = 8 * (counted + written), 8 * counted
            why = f': ordinary stores move {words[0]} bytes where {name} counts {words[1]}'
            why += '' if protocol.cpu else ', unless nodes.cpu is one that claims its lines'
        yield f'NOT POSSIBLE: {name} reaches {most:.4g} GB/s at most{why}'
    else:
        yield from published
    if gbs < most / 2:
        lost = f'{100 * (1 - gbs / most):.0f} %'
        yield f'LOW: {name} may be reached by a node that lost {lost} of its channels'


def _stores(protocol: Protocol) -> str:
    """Which kind the preset has. Raises MembwError for a preset that is not there."""
    system, environ = protocol.runs['system'], protocol.runs['preset']
    known: dict[str, str] = {}
    table, where = presets.load(), ''
    if system in systems():
        text, where = Path(root(), 'systems', f'{system}.yaml').read_text(), f" on '{system}'"
        for part in presets.read_yaml(yaml, text)['partitions']:
            known |= presets.environs_of(part, table)
    known = known or {preset: preset for preset in table['presets']}
    if environ not in known:
        raise MembwError(f"no preset '{environ}'{where}", did_you_mean(environ, sorted(known)))
    row, cpu = table['presets'][known[environ]], protocol.cpu
    if 'nontemporal' in row.get('features', ()):
        return 'non-temporal'
    if row['family'] not in ORDINARY:  # it chooses by itself
        return NOT_SAID
    if cpu and cpu.get('claims') is not False:
        return 'claimed' if cpu.get('claims') else NOT_SAID  # it claims all lines, or some
    return 'ordinary'


# --- the risks ----------------------------------------------------------------------------------


class Risk(NamedTuple):
    """Probabilities: at most, as runs of a node are taken to be independent."""

    accepted: float  # of a machine with one bad node more than allowed
    refused: float  # of a machine of good nodes


def assess(protocol: Protocol) -> Risk:
    """The risks of the buyer and of the vendor."""

    def fails(reaches: float) -> float:
        """The chance of a node of which so many runs reach the contract."""
        statistic = protocol.runs['statistic']
        return math.prod(at_most(place(statistic, n), n, reaches) for _, n in protocol.rounds)

    bad, count = protocol.allowed + 1, protocol.count
    machine = protocol.content['nodes'].get('of', count)
    all_tested = math.comb(machine - bad, count - bad) / math.comb(machine, count)
    accepted = 1 - all_tested * fails(SELDOM) ** bad
    return Risk(accepted, 1 - at_most(protocol.allowed, count, fails(1 - SELDOM)))


def at_most(most: int, of: int, chance: float) -> float:
    """The binomial probability of at most so many, by logarithms: of 1,000,000 nodes, too."""
    log, no, yes = math.lgamma, math.log1p(-chance), math.log(chance)
    ways = (log(of + 1) - log(k + 1) - log(of - k + 1) for k in range(most + 1))
    return math.fsum(math.exp(w + k * yes + (of - k) * no) for k, w in enumerate(ways))


def sentences(protocol: Protocol) -> list[str]:
    """The risks for people."""
    risk, bad = assess(protocol), protocol.allowed + 1
    many = f'a machine with {plural(bad, "bad node")} is accepted'
    slips = 'one bad node slips through' if bad == 1 else many
    return [
        f'at most {percent(risk.accepted)} chance that {slips} '
        '(bad: 9 of 10 runs miss the contract)',
        f'at most {percent(risk.refused)} chance that a machine of good nodes is refused '
        '(good: 9 of 10 runs reach the contract)',
        'both assume that such nodes exist, and that runs are independent, each of another day: '
        'of runs of one day the risks are larger',
    ]


def percent(share: float) -> str:
    """Rounded up: '3.6 %'; '0.01 %' for less."""
    return f'{max(share, 1e-4) * 100:.2g} %'
