"""The reference of this node's system, for what no check ran: as ReFrame would find it."""

import pathlib

import yaml

from membw import presets
from membw.checkout import root
from membw.site.references import EXPECTED, figures_of
from membw.site.systems import fits_here

Rows = dict[str, list[float | None]]  # by metric: value, and the fractions below and above


def of_node(system: str, test: str, preset: str, pinning: str) -> tuple[Rows, dict[str, str]]:
    """(rows, known issues) of a case. `system`: SYSTEM[:PARTITION], else the one whose `hostnames`
    name this host; ({}, {}): none, or several partitions have one."""
    name, _, partition = system.partition(':')
    for path in sorted(pathlib.Path(root(), 'systems').glob('*.yaml')):
        data = presets.read_yaml(yaml, path.read_text())
        is_here = '.*' not in data['hostnames'] and fits_here(data)
        if 'references' in data and (path.stem == name or not name and is_here):
            text = (path.parent / data['references']).read_text()
            entries = (presets.read_yaml(yaml, text) or {}).get(test) or {}
            names = [p['name'] for p in data['partitions'] if partition in ('', p['name'])]
            keys = ((f'{path.stem}:{one}', preset, pinning) for one in names)
            found = [rows for key in keys if (rows := figures_of(entries, key))]
            if len(found) != 1:
                break
            known = {name: row[1] for name, row in found[0].items() if row[0] == EXPECTED}
            rows = {n: (row[2] if n in known else row)[:3] for n, row in found[0].items()}
            return rows, known
    return {}, {}
