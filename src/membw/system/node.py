"""What a node says of itself, as JSON: `python -m membw.system.node`, run there by a job."""

import json
import os
import re
import sys

from reframe.utility import cpuinfo

from membw import presets
from membw.call import call
from membw.presets.table import Facts
from membw.site import machine, topology
from membw.system import compiler_modules


def model() -> str:
    """The name of the CPU by lscpu, which knows Arm's numbers, too; else its architecture."""
    text = call(['lscpu'], env={**os.environ, 'LC_ALL': 'C'}).stdout
    named = re.search(r'^\s*Model name:\s*(\S.*)$', text, re.M)
    return ' '.join(named[1].split()) if named else machine.platform.machine()


def facts() -> Facts:
    table = presets.load()
    return {
        'host': machine.node_name().partition('.')[0],
        'model': model(),
        'features': machine.features(table),
        'processor': topology.online(cpuinfo.cpuinfo()),
        'numa': topology.numa(),
        **compiler_modules.found(table),
    }


if __name__ == '__main__':
    json.dump(facts(), sys.stdout)
