"""Reader of systems/*.yaml: every file, every problem at once, one clear line each."""

import contextlib
import math
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from membw import presets, schema
from membw.checkout import root
from membw.presets.table import Facts, Table
from membw.site import backends, peak, references
from membw.site.references import Problem
from membw.site.slurm import SCHEDULERS


def problems_of(path: Path, data: Facts, table: Table) -> Iterator[Problem]:
    """What a schema of one file cannot see: its name, its neighbours, the presets, sums."""
    if data['name'] != path.stem:
        hint = f'name: {path.stem}, or rename the file'
        yield 'name', f"is '{data['name']}', but the file is '{path.name}'", hint
    if 'references' in data and not (path.parent / data['references']).is_file():
        hint = "restore it from git, or drop 'references' if no figure was published"
        yield 'references', f"no file '{data['references']}'", hint
    names = [partition['name'] for partition in data['partitions']]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield 'partitions', f"two partitions are named '{name}'", 'rename one'
    for pattern in data['hostnames']:
        try:
            re.compile(pattern)
        except re.error as err:
            yield 'hostnames', f"'{pattern}' is no regular expression: {err}", 'fix it'
    for i, partition in enumerate(data['partitions']):
        for where, fact, hint in of_partition(partition, table):
            yield f'partitions[{i}].{where}', fact, hint


def of_partition(partition: Facts, table: Table) -> Iterator[Problem]:
    chains = partition['toolchains']
    for name, chain in chains.items() if isinstance(chains, dict) else ():
        where, family = f'toolchains.{name}', chain.get('family', name)
        if family not in table['families']:
            hint = f"add 'family:', one of {' '.join(table['families'])}"
            yield where, f"unknown compiler family '{family}'", hint
        for preset in chain.get('presets', []):
            if table['presets'].get(preset, {}).get('family') != family:
                text = f"'{preset}' is no preset of family '{family}'"
                yield where, text, '`membw presets list` shows them'
    for key, fact, hint in peak.problems(partition.get('extras', {})):
        yield f'extras.{key}', fact, hint
    for j, option in enumerate(partition.get('access', [])):
        if partition['scheduler'] in SCHEDULERS and not option.startswith('-'):
            hint = f"an option with its value is one line of a job: '-p {option}'"
            yield f'access[{j}]', f"'{option}' cannot be used", hint
    processor = partition.get('processor', {})
    cpus, sockets = processor.get('num_cpus'), processor.get('num_sockets')
    each, threads = processor.get('num_cpus_per_socket'), processor.get('num_cpus_per_core')
    if cpus and sockets and each and cpus != sockets * each:
        fact = f'num_cpus is {cpus}, but {sockets} sockets of {each} CPUs are {sockets * each}'
        yield 'processor', fact, 'fix one of them'
    if cpus and threads and cpus % threads:
        fact = f'{cpus} CPUs are not whole cores of {threads}'
        yield 'processor', fact, "fix 'num_cpus_per_core'"


def no_numbers(data: Any, where: str = '') -> Iterator[Problem]:
    """Figures that are .nan or .inf: a schema takes them for numbers."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from no_numbers(value, f'{where}.{key}'.lstrip('.'))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from no_numbers(value, f'{where}[{i}]')
    elif isinstance(data, float) and not math.isfinite(data):
        yield where, f'is {data}', 'give a finite number, or leave the key out'


def load_file(path: Path, table: Table) -> tuple[Any, list[Problem]]:
    """(data, problems) of one file; problems are (place, fact, hint)."""
    file = path
    try:
        data, problems = references.parsed(path.read_bytes())
        data = peak.placed(data, f'systems/{path.name}')
        if not problems:
            elsewhere = 'configs/system.schema.json says what is allowed'
            example = 'systems/thin.yaml is an example'
            problems = schema.problems(backends.schema(), data, example, elsewhere)
            problems += no_numbers(data)
        problems = problems or [*problems_of(path, data, table)]
        if not problems and 'references' in data:
            file = path.parent / data['references']
            is_own = file.stem == data['name']
            found = references.problems_of(file.read_bytes(), is_own, data, table)
            where = data['references']
            problems = [(where, ': '.join(filter(None, text[:2])), text[2]) for text in found]
    except OSError as err:
        return None, [('', f"cannot read '{file}': {err.strerror}", 'fix that')]
    return data, problems


def fits_here(data: Any) -> bool:
    """Whether the `hostnames` of a wrong file, as far as they can be read, name this host."""
    names = data.get('hostnames') if isinstance(data, dict) else None
    with contextlib.suppress(re.error, TypeError):
        return any(re.match(pattern, socket.gethostname()) for pattern in names or [])
    return False


def name_here() -> str:
    """Of the first system whose file names this host, as ReFrame finds it."""
    every, _ = load(presets.load())
    return next((one['name'] for one in every if fits_here(one)), socket.gethostname())


def load(table: Table) -> tuple[list[Facts], dict[str, tuple[Any, list[str]]]]:
    """(systems, wrong): all that are right, the generic one last, and of each file that is wrong
    {name: (its data, what is wrong as text)}."""
    right, wrong = [], {}
    for path in sorted(Path(root(), 'systems').glob('*.yaml')):
        data, problems = load_file(path, table)
        lines = []
        for where, fact, hint in problems:
            where = f'{where}: ' if where else ''
            lines.append(f'membw: systems/{path.name}: {where}{fact}\nhint: {hint}')
        if lines:
            wrong[path.stem] = data, lines
        else:
            right.append(data)
    # ReFrame takes the first system whose hostname pattern fits
    return sorted(right, key=lambda s: '.*' in s['hostnames']), wrong
