"""Reader of systems/*.yaml: every file, every problem at once, one clear line each.

A system file may say whatever ReFrame's own configuration may: the names and shapes of these keys
are read off the ReFrame that runs, so that a newer one knows its own.
"""

import contextlib
import functools
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reframe
import yaml
from reframe.core import backends

from membw import presets, schema
from membw.checkout import root
from membw.presets.table import Facts, Table
from membw.schema import Problem
from membw.site import peak, references
from membw.site.slurm import SCHEDULERS

# keys of a partition, and of a system, that go to ReFrame as they stand
PASSED_THROUGH = ('modules', 'env_vars', 'prepare_cmds', 'resources', 'sched_options', 'devices',
                  'container_platforms')  # fmt: skip
OF_SYSTEM = ('modules', 'env_vars')
Rows = dict[str, list[float | None]]  # by metric: value, and the fractions below and above


@functools.cache
def schema_of_file() -> dict[str, Any]:
    """Ours of a system file, configs/system.schema.json, with ReFrame's part of it."""
    ours = json.loads(Path(root(), 'configs', 'system.schema.json').read_text())
    text = Path(reframe.__file__).with_name('schemas').joinpath('config.json').read_text()
    # draft 7 as draft 2020: there `items` was a list, too
    text = text.replace('"items": [', '"prefixItems": [').replace('"additionalItems"', '"items"')
    theirs = json.loads(text)
    of_system = theirs['properties']['systems']['items']['properties']
    of_partition = of_system['partitions']['items']['properties']
    partition = ours['$defs']['partition']['properties']
    backends.getscheduler('local'), backends.getlauncher('local')  # it loads them all
    for kind, known in (('scheduler', backends._schedulers), ('launcher', backends._launchers)):
        partition[kind] = {'enum': sorted(name for name, (_, error) in known.items() if not error)}
    partition |= {key: of_partition[key] for key in PASSED_THROUGH}
    for key in ('modules_system', *OF_SYSTEM):
        ours['properties'][key] = of_system[key]
    return {**ours, 'defs': theirs['defs']}  # where their references lead


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


def load_file(path: Path, table: Table) -> tuple[Any, list[Problem]]:
    """(data, problems) of one file; problems are (place, fact, hint)."""
    file = path
    try:
        data, problems = references.parsed(path.read_bytes())
        data = peak.placed(data, f'systems/{path.name}')
        if not problems:
            elsewhere = 'configs/system.schema.json says what is allowed'
            example = 'systems/thin.yaml is an example'
            problems = schema.problems(schema_of_file(), data, example, elsewhere)
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


def reference_of(system: str, test: str, preset: str, pinning: str) -> tuple[Rows, dict[str, str]]:
    """(rows, known issues) of a case on this node that no check ran, as ReFrame would find them.
    `system`: SYSTEM[:PARTITION], else the one whose `hostnames` name this host; ({}, {}): none, or
    several partitions have one."""
    name, _, partition = system.partition(':')
    name = name or name_here()
    data = next((one for one in load(presets.load())[0] if one['name'] == name), {})
    if 'references' not in data or '.*' in data['hostnames'] and not system:
        return {}, {}
    text = Path(root(), 'systems', data['references']).read_text()
    entries = presets.read_yaml(yaml, text).get(test)
    names = [p['name'] for p in data['partitions'] if partition in ('', p['name'])]
    keys = ((f'{name}:{one}', preset, pinning) for one in names)
    found = [rows for key in keys if (rows := references.figures_of(entries, key))]
    if len(found) != 1:
        return {}, {}
    known = {n: row[1] for n, row in found[0].items() if row[0] == references.EXPECTED}
    rows = {n: (row[2] if n in known else row)[:3] for n, row in found[0].items()}
    return rows, known


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
