"""The schedulers, launchers, modules systems and partition keys of the installed ReFrame.

A system file may say whatever ReFrame's own configuration may: the shapes of these keys are read
off the ReFrame that runs, so that a newer one knows its own.
"""

import contextlib
import functools
import json
import pathlib
from typing import Any

import reframe
from reframe.core import backends
from reframe.core.exceptions import ReframeError

from membw.presets.table import Facts

# keys of a partition, and of a system, that go to ReFrame as they stand
PASSED_THROUGH = ('modules', 'env_vars', 'prepare_cmds', 'resources', 'sched_options', 'devices',
                  'container_platforms')  # fmt: skip
OF_SYSTEM = ('modules', 'env_vars')


# as ReFrame documents them; one that its release lacks is left out
KNOWN = {
    'scheduler': (
        'flux', 'local', 'lsf', 'oar', 'pbs', 'pbspro', 'sge', 'slurm', 'squeue', 'ssh', 'torque',
    ),
    'launcher': (
        'alps', 'clush', 'ibrun', 'local', 'lrun', 'lrun-gpu', 'mpiexec', 'mpirun',
        'mpirun-intelmpi', 'mpirun-openmpi', 'pdsh', 'srun', 'srunalloc', 'ssh', 'upcrun',
        'upcxx-run',
    ),
}  # fmt: skip


@functools.cache
def registered(kind: str) -> list[str]:
    """Names of ReFrame's backends, kind 'scheduler' or 'launcher'."""
    find = backends.getscheduler if kind == 'scheduler' else backends.getlauncher
    found = []
    for name in KNOWN[kind]:
        with contextlib.suppress(ReframeError):
            find(name)
            found.append(name)
    return found


@functools.cache
def configuration_schema() -> Any:
    path = pathlib.Path(reframe.__file__).parent / 'schemas' / 'config.json'
    return in_2020(json.loads(path.read_text()))


def in_2020(schema: Any) -> Any:
    """ReFrame's is of draft 7: there `items` may be the list that is now `prefixItems`."""
    if isinstance(schema, list):
        return [in_2020(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    named = {'items': 'prefixItems', 'additionalItems': 'items'}
    pairs = isinstance(schema.get('items'), list)
    return {named.get(k, k) if pairs else k: in_2020(v) for k, v in schema.items()}


def completed(schema: Any) -> Facts:
    """Our schema of a system file, with ReFrame's part of it."""
    theirs = configuration_schema()
    of_system = theirs['properties']['systems']['items']['properties']
    of_partition = of_system['partitions']['items']['properties']
    partition = schema['$defs']['partition']['properties']
    for kind in ('scheduler', 'launcher'):
        partition[kind] = {'enum': registered(kind)}
    schema['properties']['modules_system'] = of_system['modules_system']
    schema['properties'] |= {key: of_system[key] for key in OF_SYSTEM}
    partition |= {key: of_partition[key] for key in PASSED_THROUGH}
    return {**schema, 'defs': theirs['defs']}  # where their references lead
