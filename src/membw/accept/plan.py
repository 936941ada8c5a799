"""What a party reads before it signs: the terms, what they ask for, and the risks.

The risks are exact from the protocol alone, for runs that are independent of each other;
tests/evidence/acceptance.csv has them where days have a memory. A bad node is one that misses the
contract in 9 of 10 runs, a good node one that reaches it in 9 of 10. A round is passed when enough
of its runs reach the contract: a binomial probability. Of a sample it is hypergeometric which
nodes are in it.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from membw import presets
from membw.accept.protocol import Protocol
from membw.accept.rule import place
from membw.checkout import root, systems
from membw.errors import MembwError, did_you_mean
from membw.expected.published import NOT_SAID
from membw.expected.sentence import asked
from membw.printable import plural
from membw.results.record import HIGHER
from membw.site.peak import completed, placed

ORDINARY = ('gcc', 'clang')  # families with ordinary stores where no others are asked for
SELDOM = 0.1


def plan_lines(protocol: Protocol) -> Iterator[str]:
    contract = [line.text for line in protocol.contract.values()]
    lines = [*terms(protocol.content, contract, protocol.checksum, protocol.unsigned)]
    lines += [('asks for', line) for line in _asks_for(protocol)]
    lines += [('risk', line) for line in sentences(protocol)]
    yield f'protocol: {protocol.content["title"]}'
    yield from (f'  {name:10} {text}' for name, text in lines)
    yield from ('', 'to sign, each party adds to signatures:')
    yield '  - {party: PARTY, name: NAME, date: DATE,'
    yield f'     protocol_sha256: {protocol.checksum}}}'


def terms(
    content: dict[str, Any], contract: list[str], checksum: str, unsigned: list[str]
) -> Iterator[tuple[str, str]]:
    """What the parties agreed."""
    runs, nodes, retest = content['runs'], content['nodes'], content['retest']['repetitions']
    yield 'protocol', f'sha256 {checksum}'
    for s in content['signatures']:
        yield 'signed', f'by {s["name"]} ({s["party"]}) on {s["date"]}'
    if unsigned:
        yield 'signed', f'NOT by {", ".join(unsigned)}'
    yield 'period', f'{content["period"]["from"]} to {content["period"]["to"]}'
    yield 'contract', f'{", ".join(contract)}, of each node'
    words = [runs['test'], runs['system'], runs['preset'], f'pinning {runs.get("pinning", "any")}']
    stated = [f'{key} {value}' for key, value in runs.get('record', {}).items()]
    yield 'runs', ', '.join([*words, *stated])
    of = f' of {nodes["of"]}' if 'of' in nodes else ''
    valid = plural(runs['repetitions'], 'valid run')
    may = f'{content["rule"]["allowed_failures"]} may fail'
    yield 'rule', f'{nodes["count"]}{of} nodes, the {runs["statistic"]} of {valid}; {may}'
    if 'lost' in runs:
        yield 'lost', f'at most {runs["lost"]} INVALID or disturbed runs of a node'
    yield 'died', f'at most {runs.get("deaths", 0)} launches of a node'
    for node, day in content.get('replaced', {}).items():
        yield 'replaced', f'{node} on {day}: runs before do not count'
    yield 'retest', f'{plural(retest, "run")} of a node that failed' if retest else 'none'


def is_possible(protocol: Protocol) -> bool:
    """Whether no line asks for more than the peak, as far as it is known."""
    peak, _ = _peak_and_stores(protocol)
    return not peak or all(gbs <= peak for gbs in _rates(protocol).values())


def _rates(protocol: Protocol) -> dict[str, float]:
    """{kernel: GB/s} that the contract asks of the memory."""
    lines = protocol.contract.items() if 'stream' in protocol.runs['test'] else ()
    return {n: x.value for n, x in lines if x.value and (x.unit, x.better) == ('GB/s', HIGHER)}


def _asks_for(protocol: Protocol) -> Iterator[str]:
    peak, stores = _peak_and_stores(protocol)
    if not Path(root(), 'reframe-checks', f'{protocol.runs["test"]}.py').is_file():
        yield f"'{protocol.runs['test']}', which is no test of membw: one of the site?"
    if protocol.runs['system'] not in systems():
        yield f"no file of '{protocol.runs['system']}' in systems/ yet: the runs need one"
    if not peak:
        yield 'a share of the peak that is not known: nodes.peak_gbs, channels x MT/s x 8 B / 1000'
    for name, gbs in _rates(protocol).items() if peak else ():
        share, published = asked(gbs, peak, stores)
        yield from (f'{name} {share}', published)[: 2 if name == 'triad' else 1]


def _peak_and_stores(protocol: Protocol) -> tuple[float, str]:
    """(GB/s of a node, as agreed, else as its system's file says, 0: not known; the kind of
    stores). Raises MembwError for a preset that does not exist, or not there."""
    system, environ = protocol.runs['system'], protocol.runs['preset']
    table, file = presets.load(), Path(root(), 'systems', f'{system}.yaml')
    known, where, peaks = {preset: preset for preset in table['presets']}, '', [0.0]
    if system in systems():
        known, where = {}, f" on '{system}'"
        for part in placed(yaml.safe_load(file.read_text()), file.name)['partitions']:
            own = presets.environs_of(part, table)
            known |= own
            peaks += [completed(part.get('extras') or {}).get('peak_gbs') or 0.0] * (
                environ in own
            )
    if environ not in known:
        raise MembwError(f"no preset '{environ}'{where}", did_you_mean(environ, sorted(known)))
    row = table['presets'][known[environ]]
    stores = 'ordinary' if row['family'] in ORDINARY else NOT_SAID  # others choose by themselves
    stores = 'non-temporal' if 'nontemporal' in row.get('features', ()) else stores
    return protocol.content['nodes'].get('peak_gbs') or max(peaks), stores


# --- the risks ----------------------------------------------------------------------------------


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


def percent(share: float) -> str:
    """Rounded up: '3.6 %'; '0.01 %' for less."""
    return f'{max(share, 1e-4) * 100:.2g} %'
