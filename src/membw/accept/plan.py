"""What a party reads before it signs: the terms, what they ask for, and the risks."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from membw import presets
from membw.accept.protocol import Protocol
from membw.accept.report import terms
from membw.accept.risk import in_figures, sentences
from membw.checkout import root, systems
from membw.errors import MembwError, did_you_mean
from membw.possible.contributed import NOT_SAID
from membw.possible.sentence import asked
from membw.results.record import HIGHER
from membw.site.peak import completed, placed

ORDINARY = ('gcc', 'clang')  # families with ordinary stores where no others are asked for


def plan_lines(protocol: Protocol) -> Iterator[str]:
    contract = [line.text for line in protocol.contract.values()]
    lines = [*terms(protocol.content, contract, protocol.checksum, protocol.unsigned)]
    lines += [('asks for', line) for line in _asks_for(protocol)]
    lines += [('risk', line) for line in [*sentences(protocol), *in_figures(protocol)]]
    yield f'protocol: {protocol.content["title"]}'
    yield from (f'  {name:10} {text}' for name, text in lines)
    yield from ('', 'to sign, each party adds to signatures:')
    yield '  - {party: PARTY, name: NAME, date: DATE,'
    yield f'     protocol_sha256: {protocol.checksum}}}'


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
