"""What a node says of itself, as JSON: `python -m membw.system.node`, run there by a job."""

import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from reframe.utility import cpuinfo

from membw.checkout import root
from membw.presets import presets
from membw.site import machine
from membw.site.peak_from_modules import CannotTell, memory_of_modules
from membw.system import compiler_modules

Facts = dict[str, Any]  # a mapping, as YAML has it
Table = dict[str, dict[str, Any]]  # families and presets, by their names


def model() -> str:
    """The name of the CPU as the kernel has it, or of its architecture."""
    text = pathlib.Path('/proc/cpuinfo').read_text()
    named = re.search(r'^model name\s*:\s*(.*)$', text, re.M)
    return ' '.join(named[1].split()) if named else machine.platform.machine()


def features(table: Table) -> list[str]:
    """Of all that the CPU has, what a preset asks for, and its architecture."""
    asked = {need for row in table['presets'].values() for need in row['requires']}
    return sorted((asked | {machine.platform.machine()}) & machine.cpu_features())


def record_facts(cc: str, modules: Sequence[str]) -> Facts:
    """`facts` of a record of this node: a moment's run of the program, built by that compiler."""
    source = pathlib.Path(root(), 'src', 'stream', 'stream.c')
    with tempfile.TemporaryDirectory() as folder:
        build = [cc, '-O1', '-fopenmp', str(source), '-o', f'{folder}/stream']
        run = [f'{folder}/stream', '-n', '1000', '-t', '2', '--json', f'{folder}/record.json']
        for words in (build, run):
            subprocess.run(compiler_modules.loaded(modules, words), capture_output=True)
        return json.loads(pathlib.Path(folder, 'record.json').read_text())['facts']


def memory(chains: Facts) -> Facts:
    """{'channels': 16, 'mts': 3200, 'how': ...}, or {'why': there is none}."""
    try:
        chain = next(iter(chains.values()))
        return memory_of_modules(record_facts(chain['cc'], chain.get('modules', [])))
    except StopIteration:
        return {'why': 'no compiler to build the program that asks the firmware'}
    except (CannotTell, OSError, ValueError) as err:
        return {'why': str(err)}


def facts() -> Facts:
    table = presets.load()
    chains = compiler_modules.toolchains(table)
    return {
        'host': socket.gethostname().split('.')[0],
        'model': model(),
        'features': features(table),
        'processor': cpuinfo.cpuinfo(),
        'toolchains': chains,
        'memory': memory(chains),
    }


if __name__ == '__main__':
    json.dump(facts(), sys.stdout)
