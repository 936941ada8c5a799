"""Records of nodes: those of `membw node`, and records of single programs, as if of a battery."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from membw.checkout import root
from membw.errors import MembwError
from membw.files import naming, write_whole
from membw.node.figures import Record
from membw.results.table import SCHEMA as OF_PROGRAM

SCHEMA = 'membw-node-1'


def folder() -> Path:
    return Path(root(), 'results', 'nodes')


def write(node: Record) -> Path:
    """One line, in a file of its own."""
    folder().mkdir(parents=True, exist_ok=True)
    path = folder() / f'{node["host"]}-{node["time"].replace(":", "")}.json'
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
        if data['schema'] == SCHEMA and isinstance(data['parts'], list):
            return data
        if data['schema'] == OF_PROGRAM and data.get('ranks', 1) == 1 and data['metrics']:
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
