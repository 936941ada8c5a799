"""Reads an acceptance protocol: schema, sense, checksum, signatures; all problems at once."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from membw import schema
from membw.accept import signatures
from membw.accept.signatures import is_key
from membw.errors import MembwError
from membw.expected.expectation import facts_of
from membw.presets.table import Facts
from membw.printable import printable
from membw.results.hostlist import expected_nodes
from membw.results.record import HIGHER, inner
from membw.results.table import Table
from membw.site.cpu_peak import cpu_of, of_name, of_row
from membw.site.references import parsed

HINT = "'membw accept --template' prints a valid protocol, with comments"


class Line(NamedTuple):
    """One line of the contract: a value, or a distance to the fleet's median."""

    metric: str
    unit: str
    better: str  # higher or lower
    value: float | None  # in `unit`; at least, or at most
    within: float | None  # a fraction

    def reaches(self, figure: float, limit: float) -> bool:
        return self.worst((figure, limit)) == limit

    @property
    def worst(self) -> Callable:
        """min or max."""
        return min if self.better == HIGHER else max

    def limit(self, fleet: float | None) -> float | None:
        """The worst figure that passes; `fleet`: the nodes' median, None before any run."""
        if self.within is None or fleet is None:
            return self.value
        return fleet * (1 - self.within if self.better == HIGHER else 1 + self.within)

    @property
    def text(self) -> str:
        """'triad at least 300 GB/s', 'triad within 2.0% of the fleet'."""
        if self.within is not None:
            return f'{self.metric} within {self.within:.1%} of the fleet'
        bound = 'at least' if self.better == HIGHER else 'at most'
        return f'{self.metric} {bound} {self.value:.6g} {self.unit}'


@dataclass(frozen=True)
class Protocol:
    """A protocol that is right, with the signatures that it has."""

    content: dict[str, Any]
    checksum: str  # sha256 of the file, as `sha256sum` prints it
    contract: dict[str, Line]
    names: list[str]  # of the nodes; []: whichever report
    replaced: dict[str, str]  # node: the day from which its runs count
    unsigned: dict[str, str]  # party: why
    cpu: Facts  # its row of systems/facts/cpus.yaml; {}: any
    peak_gbs: float  # of a node, as agreed, or by its CPUs; 0: not known

    @property
    def runs(self) -> dict[str, Any]:
        return self.content['runs']

    @property
    def count(self) -> int:
        """Of nodes that are measured."""
        return self.content['nodes']['count']

    @property
    def allowed(self) -> int:
        """Nodes that may stay below the contract."""
        return self.content['rule']['allowed_failures']

    @property
    def until(self) -> str:
        return self.content['period']['to']

    @property
    def rounds(self) -> list[tuple[str, int]]:
        """(name, valid runs of each node) of the first round and of the retest."""
        retest = self.content['retest']['repetitions']
        return [('first', self.runs['repetitions'])] + [('retest', retest)] * (retest > 0)


def template() -> str:
    return _file('protocol_template.yaml')


def of_machine(table: Table) -> str:
    """The template, of the CPU that the first record names whose CPU is known."""
    for facts in (inner(table.evidence(one), 'facts') for one in table.figures):
        if row := cpu_of(facts):
            name = facts['cpu_model'] if of_name(facts['cpu_model']) == row else row['name']
            text = template().replace('  peak_gbs:', '# peak_gbs:')
            text = text.replace('# cpu: EPYC 9354', f'  cpu: {json.dumps(name)}')
            return text.replace('# sockets: 1', f'  sockets: {facts["sockets"]}')
    raise MembwError('no record with a CPU that is known here', 'give nodes.peak_gbs')


def _file(name: str) -> str:
    return resources.files('membw.accept').joinpath(name).read_text()


def load(path: str) -> Protocol:
    """The protocol of a file. Raises MembwError with all problems of the file, and for a signature
    of another text."""
    content, text = _read(path)
    problems = list(_of_schema(content)) or list(_of_sense(content))
    if problems:
        lines = dict.fromkeys(f'{path}: {problem}' for problem in problems)
        raise MembwError([*lines], HINT)
    nodes, days = content['nodes'], content.get('replaced', {}).items()
    cpu, most = _of_cpus(nodes)
    return Protocol(
        content,
        hashlib.sha256(text).hexdigest(),
        contract={name: _line(name, row) for name, row in content['contract'].items()},
        names=expected_nodes(nodes['names']) if 'names' in nodes else [],
        replaced={node: day for listed, day in days for node in expected_nodes(listed)},
        unsigned=signatures.missing(path, text, content['parties']),
        cpu=cpu,
        peak_gbs=nodes.get('peak_gbs') or most,
    )


def _of_cpus(nodes: dict[str, Any]) -> tuple[Facts, float]:
    """(the row of the CPU, GB/s that such CPUs carry at most); ({}, 0): any CPU."""
    if 'cpu' not in nodes:
        return {}, 0.0
    facts, row = facts_of(nodes['cpu'], nodes.get('sockets', 1), '')
    return row, of_row(row, facts).gbs


def _line(metric: str, row: Any) -> Line:
    """A number is GB/s, at least."""
    if not isinstance(row, dict):
        return Line(metric, 'GB/s', HIGHER, row, None)
    return Line(metric, row['unit'], row['better'], row.get('value'), row.get('within'))


def _read(path: str) -> tuple[Any, bytes]:
    try:
        text = Path(path).read_bytes()
        content, problems = parsed(text)
        if problems:
            raise MembwError(
                f"'{path}': {'; '.join(': '.join(filter(None, one)) for one in problems)}", HINT
            )
        # dates as text: YAML reads 2026-12-01 as a date, JSON knows none
        return json.loads(json.dumps(content, default=str)), text
    except OSError as err:
        raise MembwError(f"cannot read '{path}': {err.strerror}", HINT) from err
    except TypeError as err:
        raise MembwError(f"'{path}': a key is no text: {err}", HINT) from err


def _of_schema(content: Any) -> Iterator[str]:
    rules = json.loads(_file('protocol.schema.json'))
    for where, fact, hint in schema.problems(rules, content, '', ''):
        more = f'; {hint}' if hint.startswith('did you mean') else ''
        yield printable(f'{where or "the protocol"}: {fact}{more}')[:300]


def _of_sense(content: dict[str, Any]) -> Iterator[str]:
    """What a schema cannot say."""
    nodes, count = content['nodes'], content['nodes']['count']
    if nodes.get('of', count) < count:
        yield f'nodes.of: {nodes["of"]} nodes, but {count} of them are measured'
    if content['rule']['allowed_failures'] >= count:
        yield 'rule.allowed_failures: the number of all nodes: nothing could be refused'
    if content['period']['to'] < content['period']['from']:
        yield 'period: ends before it begins'
    keys = {party: about['key'] for party, about in content['parties'].items() if 'key' in about}
    if len({key.split()[1] for key in keys.values()}) < len(keys):
        yield 'parties: one key of two parties: each signs with its own'
    yield from (f'parties.{p}.key: no public key' for p, key in keys.items() if not is_key(key))
    try:
        most = _of_cpus(nodes)[1]
        if nodes.get('peak_gbs', 0) > 1.01 * most > 0:
            own = f'{nodes["peak_gbs"]:g}, but {nodes["cpu"]} carries {most:g} at most'
            yield f'nodes.peak_gbs: {own}'
    except MembwError as err:
        yield f'nodes.cpu: {err}: give nodes.peak_gbs'
    listed = {'nodes.names': nodes.get('names')}
    listed |= {f'replaced.{text}': text for text in content.get('replaced', {})}
    found = {}
    for place, text in listed.items():
        if text and os.path.exists(text):
            yield f'{place}: a file here, which no party signs: list the names'
        try:
            found[place] = expected_nodes(text) if text else []
        except MembwError as err:
            yield f'{place}: {err}'
    names = found.pop('nodes.names', [])
    if names and len(names) != count:
        yield f'nodes.names: {len(names)} names, count is {count}'
    for place, those in found.items():
        if names and not {*those} <= {*names}:
            yield f'{place}: not among nodes.names'
