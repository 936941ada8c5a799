"""What a party reads before it signs: the terms, what they ask for, and the risks."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from membw import presets
from membw.accept.protocol import Protocol
from membw.accept.risk import in_figures, sentences
from membw.accept.text import terms
from membw.checkout import root, systems
from membw.errors import MembwError, did_you_mean
from membw.possible.published import NOT_SAID
from membw.possible.sentence import asked
from membw.presets.table import Facts
from membw.results.table import HIGHER
from membw.site.peak import completed, placed
from membw.statistics.peers import LEAST_DEVIATION

PLAIN = ('gcc', 'clang')  # families that write with ordinary stores where nothing else is asked


def plan_lines(protocol: Protocol) -> Iterator[str]:
    content, peak = protocol.content, peak_of(protocol)
    contract = [line.text for line in protocol.contract.values()]
    yield f'protocol: {content["title"]}'
    for name, text in terms(content, contract, protocol.checksum, protocol.unsigned):
        yield f'  {name:10} {text}'
    yield from (f'  {"asks for":10} {line}' for line in _asks_for(protocol, peak))
    yield from (f'  {"risk":10} {line}' for line in sentences(protocol, nights=0))
    values = {name: of.value for name, of in protocol.contract.items() if of.value is not None}
    yield from (f'  {"risk":10} {x}' for x in in_figures(protocol, values, LEAST_DEVIATION))
    yield ''
    yield 'to sign, each party adds to signatures:'
    yield '  - {party: PARTY, name: NAME, date: DATE,'
    yield f'     protocol_sha256: {protocol.checksum}}}'


def is_possible(protocol: Protocol) -> bool:
    """Whether no line asks for more than the peak, as far as it is known."""
    peak = peak_of(protocol)
    return not peak or all(value <= peak for value in _rates(protocol).values())


def _rates(protocol: Protocol) -> dict[str, float]:
    """{kernel: GB/s} that the contract asks of the memory."""
    lines = protocol.contract.items() if 'stream' in protocol.runs['test'] else ()
    is_rate = ('GB/s', HIGHER)
    return {n: x.value for n, x in lines if x.value and (x.unit, x.better) == is_rate}


def _asks_for(protocol: Protocol, peak: float) -> Iterator[str]:
    system = protocol.runs['system']
    if system not in systems():
        yield f"no file of '{system}' in systems/ yet: the runs need one"
    if not peak:
        yield 'a share of the peak that is not known: nodes.peak_gbs, channels x MT/s x 8 B / 1000'
        return
    for name, gbs in _rates(protocol).items():
        share, published = asked(gbs, peak, _stores(protocol.runs['preset']))
        yield f'{name} {share}'
        if name == 'triad':
            yield published


def peak_of(protocol: Protocol) -> float:
    """GB/s of a node, as agreed, else as its system's file says; 0: not known. Raises MembwError
    for a preset that does not exist, or not there."""
    system, preset = protocol.runs['system'], protocol.runs['preset']
    table, peaks = presets.load(Path(root(), 'configs', 'presets.yaml')), [0.0]
    known, where = set(table['presets']), ''
    if system in systems():
        file = Path(root(), 'systems', f'{system}.yaml')
        parts = placed(yaml.safe_load(file.read_text()), file.name)['partitions']
        known, where = set(), f" on '{system}'"
        for part in parts:
            names = presets.environs_of(part, table)
            known |= names.keys()
            if preset in names:
                peaks.append(completed(part.get('extras') or {}).get('peak_gbs') or 0.0)
    if preset not in known:
        raise MembwError(f"no preset '{preset}'{where}", did_you_mean(preset, sorted(known)))
    return protocol.content['nodes'].get('peak_gbs') or max(peaks)


def _stores(preset: str) -> str:
    """What its rows ask the compiler for; others than PLAIN choose by themselves."""
    row: Facts = presets.load(Path(root(), 'configs', 'presets.yaml'))['presets'].get(preset) or {}
    if 'nontemporal' in row.get('features', ()):
        return 'non-temporal'
    return 'ordinary' if row.get('family') in PLAIN else NOT_SAID
