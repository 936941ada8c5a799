"""What this machine has: CPU features and working compilers, for partitions that say `auto`."""

import contextlib
import functools
import json
import os
import platform
import re
import shutil
import socket
import sys
from pathlib import Path

from membw import presets
from membw.presets.table import Facts, Table


def node_name() -> str:
    """As our programs have it (src/harness/job/ranks.c): Slurm's, a pod's node, or the host's."""
    pod = os.environ.get('NODE_NAME') if 'KUBERNETES_SERVICE_HOST' in os.environ else ''
    name = os.environ.get('SLURMD_NODENAME') or pod or socket.gethostname()
    return name if re.match('[A-Za-z0-9]', name) else 'localhost'


@functools.cache
def cpu_flags() -> frozenset[str]:
    """Every flag the kernel shows (x86: flags, Arm: Features, RISC-V: letters and extensions of
    isa); none where a container hides it."""
    try:
        text = Path('/proc/cpuinfo').read_text(encoding='utf-8', errors='replace')
    except OSError:
        text = ''
    flags = re.search(r'^(?:flags|Features)\s*:\s*(.*)$', text, re.M)
    isa = re.search(r'^isa\s*:\s*rv\d+([a-z]*)(\S*)', text, re.M)
    letters = [*isa[1], *isa[2].split('_')] if isa else []
    return frozenset([*(flags[1].split() if flags else ()), *filter(None, letters)])


def cpu_features() -> set[str]:
    return {platform.machine(), *cpu_flags()}


def features(table: Table) -> list[str]:
    """Of all that the CPU has, what a preset asks for, and its architecture."""
    needs = {need for row in table['presets'].values() for need in row['requires']}
    return sorted((needs | {platform.machine()}) & cpu_features())


def identity(cc: str) -> tuple[str, str, str]:
    """Path, size and time of what a compiler's name stands for now."""
    path = os.path.realpath(shutil.which(cc) or cc)
    facts = os.stat(path)
    return path, str(facts.st_size), str(facts.st_mtime_ns)


def toolchain(family: str, row: Facts) -> tuple[Facts | None, str]:
    """(toolchain, reason): the first compiler of this family that builds OpenMP."""
    reason = f"no '{row['cc']}' of this family on PATH"
    for cc, version, why in on_path().get(family, ()):
        if why:
            reason = f"'{cc}' does not build with {row['openmp']}: {why}"
            continue
        chain = {'family': family, 'cc': cc, 'version': version}
        starter = shutil.which('mpirun') or shutil.which('srun')  # of programs with MPI
        return chain | ({'mpicc': 'mpicc'} if shutil.which('mpicc') and starter else {}), ''
    return None, reason


COMPILERS = 'MEMBW_COMPILERS'  # what `membw run` found is not looked for by its ReFrame again


@functools.cache
def on_path() -> dict[str, list[list[str]]]:
    with contextlib.suppress(ValueError):  # it is not given, or no JSON
        path, known = json.loads(os.environ.get(COMPILERS, ''))
        if path == os.environ.get('PATH'):
            return known
    return presets.compilers()


def as_text() -> str:
    return json.dumps([os.environ.get('PATH'), on_path()])


def toolchains(table: Table) -> tuple[Facts, dict[str, str]]:
    """({family: toolchain}, {family: why there is none})."""
    found = {name: toolchain(name, row) for name, row in table['families'].items()}
    chains = {family: chain for family, (chain, _) in found.items() if chain}
    return chains, {family: why for family, (_, why) in found.items() if why}


NO_COMPILER = "install gcc, or libomp-dev for clang; 'make -C src/stream OPENMP=0' needs neither"


def why_nothing(table: Table) -> list[str]:
    """Of each compiler that is here, why it builds none of the programs; [] where one does."""
    chains, absent = toolchains(table)
    named = [text for text in absent.values() if text[0] == "'"]
    return [] if chains else named or ["no C compiler on the PATH builds OpenMP's programs"]


def buildable(table: Table) -> dict[str, str]:
    chains, _ = toolchains(table)
    return {
        name: chains[row['family']]['cc']
        for name, row in table['presets'].items()
        if row['family'] in chains and set(row['requires']) <= cpu_features()
    }


def to_build() -> int:
    """Prints what `make binaries` builds: PRESET CC, of stream, which has no code for a device."""
    table = presets.load()
    rows = {
        preset: cc
        for preset, cc in buildable(table).items()
        if 'offload' not in presets.row(preset, table)['features']
    }
    for preset, cc in rows.items():
        print(preset, cc)
    if not rows:
        print('\n'.join(f'membw: {text}' for text in why_nothing(table)), file=sys.stderr)
        print(f'hint: {NO_COMPILER}', file=sys.stderr)
    return 0 if rows else 2


if __name__ == '__main__':
    sys.exit(to_build())
