"""Programs that a session of ReFrame runs on virtual nodes, as this host sees them."""

import os
import pathlib
import time


def until_measuring(folder, nodes):
    """{node: process} of what a session in this folder runs, once each has used CPU time."""
    for _ in range(3000):
        found = {}
        for entry in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if not os.readlink(entry / 'exe').startswith(f'{folder}/stage'):
                    continue
                lines = (entry / 'environ').read_text().split('\0')
                variables = dict(line.split('=', 1) for line in lines if '=' in line)
                ticks = int((entry / 'stat').read_text().rpartition(')')[2].split()[11])
            except (OSError, ValueError):
                continue
            if ticks >= 20:
                found[variables['SLURMD_NODENAME']] = int(entry.name)
        if len(found) == nodes:
            return found
        time.sleep(0.1)
    raise AssertionError(f'only {sorted(found)} run')
