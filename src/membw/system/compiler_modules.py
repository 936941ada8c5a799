"""Compilers of this node, with the module that brings each: found by loading it and asking.

The name of a module says nothing certain of what is in it: each that may hold a compiler is
loaded, and the compilers that change by it are its own.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence

from membw import presets
from membw.presets.table import Facts, Table
from membw.site import machine

MAY_HOLD_COMPILER = re.compile(r'gcc|gnu|llvm|clang|intel|oneapi|icc|icx|aocc|compiler', re.I)
MOST = 20  # modules that are tried: each takes a second


def loaded(modules: Sequence[str], words: Sequence[str]) -> list[str]:
    """A command line that runs `words` with these modules loaded."""
    load = [f'module load {shlex.quote(name)} >/dev/null 2>&1 &&' for name in modules]
    return ['bash', '-c', ' '.join([*load, 'exec', shlex.join(words)])]


def available() -> list[str]:
    """What `module -t avail` lists, on whichever stream; [] without a modules system."""
    done = subprocess.run(['bash', '-c', 'module -t avail'], capture_output=True, text=True)
    lines = [line.strip() for line in f'{done.stdout}\n{done.stderr}'.splitlines()]
    names = [re.sub(r'\(.*\)$', '', line) for line in lines]
    return [name for name in names if re.fullmatch(r'[\w.+-][\w.+/-]*[^/:]', name)]


def by_version(name: str) -> list:
    """'gcc/9.1' before 'gcc/12.2'."""
    return [int(part) if part.isdigit() else part for part in re.split(r'(\d+)', name)]


def candidates(names: Iterable[str]) -> list[str]:
    """The newest of each module that may hold a compiler."""
    newest = {}
    for name in sorted(filter(MAY_HOLD_COMPILER.search, names), key=by_version):
        newest[name.rpartition('/')[0] or name] = name
    return list(newest.values())[:MOST]


def here(table: Table) -> Facts:
    """{family: {cc, version, path, mpicc}} of the compilers on the PATH that build OpenMP."""
    chains, _ = machine.toolchains(table)
    return {
        family: {
            'cc': chain['cc'],
            'version': presets.compiler_version(family, chain['cc'], table),
            'path': shutil.which(chain['cc']),
            **({'mpicc': chain['mpicc']} if chain.get('mpicc') else {}),
        }
        for family, chain in chains.items()
    }


def within(module: str) -> Facts:
    """The same with a module loaded; {} where it cannot be."""
    words = [sys.executable, '-m', 'membw.system.compiler_modules']
    done = subprocess.run(loaded([module], words), capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def found(table: Table) -> Facts:
    """'toolchains': {name: {family, cc, modules, mpicc}}, as in a system file, those of no module
    first; 'left_out': modules that may hold a compiler and were not tried."""
    plain, names = here(table), available()
    chains = {family: {**chain, 'modules': []} for family, chain in plain.items()}
    tried = candidates(names)
    rest = sorted({*filter(MAY_HOLD_COMPILER.search, names)} - {*tried}, key=by_version)
    for module in tried:
        for family, chain in within(module).items():
            if chain['path'] == plain.get(family, {}).get('path'):
                continue
            name = family
            if name in chains:
                name += chain['version'].partition('.')[0]
            chains.setdefault(name, {**chain, 'family': family, 'modules': [module]})
    for chain in chains.values():
        del chain['path']
    return {'toolchains': chains, 'left_out': rest}


if __name__ == '__main__':
    json.dump(here(presets.load()), sys.stdout)
