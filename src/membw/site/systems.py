"""Reader of systems/*.yaml: every file, every problem at once, one clear line each."""

import contextlib
import json
import math
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from membw import presets, schema
from membw.checkout import root
from membw.presets.table import Facts, Table
from membw.site import backends, peak, references
from membw.site.slurm import SCHEDULERS

Problem = tuple[str, str, str]  # place, fact, hint


def schema_problems(data: Any) -> list[Problem]:
    path = Path(root(), 'configs', 'system.schema.json')
    complete = backends.completed(json.loads(path.read_text()))
    elsewhere = 'configs/system.schema.json says what is allowed'
    return schema.problems(complete, data, 'systems/thin.yaml is an example', elsewhere)


def toolchains(partition: Facts) -> Facts:
    chains = partition['toolchains']
    return {} if isinstance(chains, str) else chains


def table_problems(data: Facts, table: Table) -> Iterator[Problem]:
    """What a schema of one file cannot see: the table of presets."""
    for i, partition in enumerate(data['partitions']):
        for name, chain in toolchains(partition).items():
            where = f'partitions[{i}].toolchains.{name}'
            family = chain.get('family', name)
            if family not in table['families']:
                hint = f"add 'family:', one of {' '.join(table['families'])}"
                yield where, f"unknown compiler family '{family}'", hint
            for preset in chain.get('presets', []):
                if table['presets'].get(preset, {}).get('family') != family:
                    text = f"'{preset}' is no preset of family '{family}'"
                    yield where, text, '`membw presets list` shows them'


def file_problems(path: Path, data: Facts) -> Iterator[Problem]:
    """What a schema of one file cannot see: the file's name and its neighbours."""
    if data['name'] != path.stem:
        hint = f'name: {path.stem}, or rename the file'
        yield 'name', f"is '{data['name']}', but the file is '{path.name}'", hint
    if 'references' in data and not (path.parent / data['references']).is_file():
        hint = "restore it from git, or drop 'references' if no figure was published"
        yield 'references', f"no file '{data['references']}'", hint
    for i, partition in enumerate(data['partitions']):
        for key, fact, hint in peak.problems(partition.get('extras', {})):
            yield f'partitions[{i}].extras.{key}', fact, hint
    for i, partition in enumerate(data['partitions']):
        for fact, hint in processor_problems(partition.get('processor', {})):
            yield f'partitions[{i}].processor', fact, hint
        for j, option in enumerate(partition.get('access', [])):
            if partition['scheduler'] in SCHEDULERS and not option.startswith('-'):
                hint = f"an option with its value is one line of a job: '-p {option}'"
                yield f'partitions[{i}].access[{j}]', f"'{option}' cannot be used", hint
    names = [p['name'] for p in data['partitions']]
    for name in sorted({n for n in names if names.count(n) > 1}):
        yield 'partitions', f"two partitions are named '{name}'", 'rename one'
    for pattern in data['hostnames']:
        try:
            re.compile(pattern)
        except re.error as err:
            yield 'hostnames', f"'{pattern}' is no regular expression: {err}", 'fix it'


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


def processor_problems(processor: Facts) -> Iterator[tuple[str, str]]:
    """(fact, hint) where the counts of CPUs contradict each other."""
    cpus, sockets = processor.get('num_cpus'), processor.get('num_sockets')
    each, threads = processor.get('num_cpus_per_socket'), processor.get('num_cpus_per_core')
    if cpus and sockets and each and cpus != sockets * each:
        fact = f'num_cpus is {cpus}, but {sockets} sockets of {each} CPUs are {sockets * each}'
        yield fact, 'fix one of them'
    if cpus and threads and cpus % threads:
        yield f'{cpus} CPUs are not whole cores of {threads}', "fix 'num_cpus_per_core'"


def load_file(path: Path, table: Table) -> tuple[Any, list[Problem]]:
    """(data, problems) of one file; problems are (place, fact, hint)."""
    try:
        text = path.read_text()
        data, twice = presets.read_yaml(yaml, text), list(presets.given_twice(text))
    except (OSError, UnicodeError, yaml.YAMLError) as err:
        return None, [('', ' '.join(str(err).split()), 'fix that line')]
    problems = [
        (f'line {line}', f"'{place}' is given twice", 'keep one of them') for line, place in twice
    ]
    data = peak.placed(data, f'systems/{path.name}')
    problems = problems or [*schema_problems(data), *no_numbers(data)]
    if not problems:
        problems = [*file_problems(path, data), *table_problems(data, table)]
    if not problems and 'references' in data:
        file = data['references']
        for where, fact, hint in references.problems(path.parent / file, data, table):
            problems.append((file, f'{where}: {fact}' if where else fact, hint))
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
