"""Records of nodes: those of `membw node`, and records of single programs, as if of a battery."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from membw.checkout import root
from membw.errors import MembwError
from membw.files import naming, write_whole
from membw.node.figures import METRICS, Record, of_node, stream_of
from membw.results.ledger import Missing
from membw.results.table import HIGHER, LOWER, SCHEMA

PROGRAM = 'node'


def folder() -> Path:
    return Path(root(), 'results', 'nodes')


def assembled(own: Record, parts: list[Record]) -> Record:
    """The record of a battery, which is one of a program, too: its metrics are the quantities that
    are compared, its facts and its build those of stream; what its parts lack is missing."""
    node = own | {'parts': parts}
    stream, quantities = stream_of(node), of_node(node)
    metrics = {metric_of(name): row(quantities[name]) for name in METRICS if name in quantities}
    lacks = [(part['name'], part['why'], part['died']) for part in parts if part['why']]
    if not metrics and not lacks:
        lacks = [('stream', 'INVALID', False)]
    return node | {
        'schema': SCHEMA,
        'program': PROGRAM,
        'verdict': 'VALID' if metrics else 'INVALID',
        'reasons': [],
        'headline': metric_of('rate'),
        'metrics': metrics,
        'threads': stream.get('threads', 0),
        'facts': (stream.get('facts') or {}) | own.get('facts', {}),
        'build': stream.get('build') or {},
        'missing': [Missing(*one, own['host'])._asdict() for one in lacks],
    }


def metric_of(quantity: str) -> str:
    own = {'one': 'triad_one_thread', 'arithmetic': 'dgemm'}
    return own.get(quantity, METRICS[quantity][2])


def row(quantity: Any) -> dict[str, Any]:
    is_more, value, half = quantity.better > 0, quantity.value, quantity.half
    made = {'value': value, 'unit': quantity.unit, 'better': HIGHER if is_more else LOWER}
    if quantity.is_bound:
        made['bound'] = 'lower' if is_more else 'upper'
    elif half:
        made |= {'low': value * (1 - half), 'high': value * (1 + half)}
    return made


def write(node: Record, into: Path) -> Path:
    """One line, in a file of its own."""
    into.mkdir(parents=True, exist_ok=True)
    path = into / f'{node["host"]}-{node["time"].replace(":", "")}.json'
    write_whole(path, json.dumps(node) + '\n')
    return path


def read(paths: Iterable[str | Path]) -> list[Record]:
    """Of files and folders, in order of time. MembwError: one cannot be read."""
    nodes = [node for path in paths for file in _files(Path(path)) for node in _of_file(file)]
    return sorted(nodes, key=lambda node: node['time'])


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise MembwError(f"no file '{path}'", 'give record files, or folders of them')
    return sorted(f for f in path.rglob('[!.]*.json*') if f.is_file()) if path.is_dir() else [path]


def _of_file(path: Path) -> Iterator[Record]:
    with naming(path), open(path, encoding='utf-8', errors='replace') as stream:
        for number, line in enumerate(stream, 1):
            if node := _of_line(line):
                yield node
            elif 'membw-' in line:
                print(f'membw: {path}:{number}: no record of a node', file=sys.stderr)


def _of_line(line: str) -> Record | None:
    try:
        data = json.loads(line)
        if data['schema'] == SCHEMA and isinstance(data.get('parts'), list):
            return data
        if data['schema'] == SCHEMA and data.get('ranks', 1) == 1 and data['metrics']:
            name = data['program']
            name = 'one' if name == 'stream' and data.get('threads') == 1 else name
            part = {'name': name, 'record': data, 'why': '', 'died': False}
            return {'host': data['host'], 'time': data['time'], 'parts': [part]}
    except (ValueError, KeyError, TypeError):
        pass
    return None


def newest(nodes: Iterable[Record]) -> dict[str, Record]:
    """{host: its newest record}; of records of single programs the newest of each, together."""
    latest: dict[str, Record] = {}
    for node in nodes:
        earlier = latest.get(node['host'])
        if earlier and 'schema' not in node and 'schema' not in earlier:
            parts = {part['name']: part for part in (*earlier['parts'], *node['parts'])}
            node = {**node, 'parts': list(parts.values())}
        latest[node['host']] = node
    return latest
