"""What the installed ReFrame knows of schedulers, launchers, modules systems and partitions.

A system file may say whatever ReFrame's own configuration may: the names and shapes of these keys
are read off the ReFrame that runs, so that a newer one knows its own.
"""

import functools
import json
import pathlib
from typing import Any

import reframe
from reframe.core import backends

from membw.checkout import root

# keys of a partition, and of a system, that go to ReFrame as they stand
PASSED_THROUGH = ('modules', 'env_vars', 'prepare_cmds', 'resources', 'sched_options', 'devices',
                  'container_platforms')  # fmt: skip
OF_SYSTEM = ('modules', 'env_vars')


@functools.cache
def schema() -> dict[str, Any]:
    """Ours of a system file, configs/system.schema.json, with ReFrame's part of it."""
    ours = json.loads(pathlib.Path(root(), 'configs', 'system.schema.json').read_text())
    text = pathlib.Path(reframe.__file__).with_name('schemas').joinpath('config.json').read_text()
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
