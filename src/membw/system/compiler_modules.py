"""Compilers of this node, with the module that brings each: found by loading it and asking.

The name of a module says nothing certain of what is in it: each that may hold a compiler is
loaded, and the compilers that change by it are its own.
"""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from membw import presets
from membw.call import call
from membw.presets.table import Facts, Table
from membw.site import machine

MOST = 40  # modules that are tried: each takes a second
PROBES_S = 180  # of all compilers that a module brings


def loaded(modules: Sequence[str], words: Sequence[str]) -> list[str]:
    """A command line that runs `words` with these modules loaded."""
    load = [f'module load {shlex.quote(name)} >/dev/null 2>&1 &&' for name in modules]
    return ['bash', '-c', ' '.join([*load, 'exec', shlex.join(words)])]


def available() -> list[str]:
    """What `module -t avail` lists, on whichever stream; [] without a modules system."""
    done = call(['bash', '-c', 'module -t avail'])
    lines = [line.strip() for line in f'{done.stdout}\n{done.stderr}'.splitlines()]
    names = [re.sub(r'\(.*\)$', '', line) for line in lines]
    return [name for name in names if re.fullmatch(r'[\w.+-][\w.+/-]*[^/:]', name)]


def may_hold_compiler(names: Iterable[str], table: Table) -> list[str]:
    """Those with a name that a family of presets.yaml gives its modules, by version: 'gcc/9.1'
    before 'gcc/12.2'."""

    def by_version(name: str) -> list:
        return [int(part) if part.isdigit() else part for part in re.split(r'(\d+)', name)]

    patterns = [row['modules'] for row in table['families'].values() if 'modules' in row]
    pattern = re.compile('|'.join(patterns), re.I)
    return sorted(filter(pattern.search, names), key=by_version)


def newest(names: Iterable[str]) -> list[str]:
    """The last of each module."""
    return list({name.rpartition('/')[0] or name: name for name in names}.values())[:MOST]


def here(table: Table) -> Facts:
    """{family: {cc, version, path, mpicc}} of the compilers on the PATH that build OpenMP."""
    chains, _ = machine.toolchains(table)
    return {name: {**chain, 'path': shutil.which(chain['cc'])} for name, chain in chains.items()}


def within(module: str) -> Facts | None:
    """The same with a module loaded; None where it cannot be."""
    words = [sys.executable, '-m', 'membw.system.compiler_modules']
    done = call(loaded([module], words), PROBES_S)
    return facts_in(done.stdout) if done.returncode == 0 else None


def facts_in(printed: str, key: str = '') -> Facts | None:
    """Of the last line that has any, `key` among them: a module, a prolog may print, too."""
    for line in reversed(printed.splitlines()):
        with suppress(ValueError, RecursionError):
            facts = json.loads(line)
            if isinstance(facts, dict) and key in ('', *facts):
                return facts
    return None


def found(table: Table) -> Facts:
    """'toolchains': {name: {family, cc, modules, mpicc}}, as in a system file, those of no module
    first; 'left_out': modules that may hold a compiler and were not tried, or did not load."""
    plain, names = here(table), may_hold_compiler(available(), table)
    chains = {family: {**chain, 'modules': []} for family, chain in plain.items()}
    tried = {module: within(module) for module in newest(names)}
    for module, compilers in tried.items():
        for family, chain in (compilers or {}).items():
            if chain['path'] == plain.get(family, {}).get('path'):
                continue
            name = family
            if name in chains:
                name += chain['version'].partition('.')[0]
            chains.setdefault(name, {**chain, 'family': family, 'modules': [module]})
    return {'toolchains': chains, 'left_out': [n for n in names if tried.get(n) is None]}


if __name__ == '__main__':
    json.dump(here(presets.load()), sys.stdout)
