"""What this machine has: CPU features and working compilers, for partitions that say `auto`."""

import contextlib
import functools
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from membw import presets
from membw.checkout import root
from membw.presets.table import Facts, Table

PROGRAM = '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n'


def probed() -> Path:
    """Compilers that were seen to build OpenMP: a probe takes a tenth of a second, each start."""
    return Path(root(), 'build', 'openmp-compilers')


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


def why_no_openmp(cc: str, openmp: str) -> str:
    """'' where it builds with it, else what the compiler says.

    Debian's clang without libomp-dev compiles, and fails to find omp.h or to link. Only a success
    is remembered: what is missing may be installed at any time.
    """
    try:
        line = ' '.join([openmp, platform.node(), *identity(cc)])  # a checkout is of many nodes
        if probed().is_file() and line in probed().read_text().splitlines():
            return ''
        why = tried(cc, openmp)
    except OSError as err:
        return f'{err.strerror}'
    if not why:
        with contextlib.suppress(OSError):  # a read-only checkout probes each time
            probed().parent.mkdir(exist_ok=True)
            with open(probed(), 'a') as file:
                file.write(line + '\n')
    return why


def tried(cc: str, openmp: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / 'probe.c'
        source.write_text(PROGRAM)
        line = [cc, openmp, str(source), '-o', f'{folder}/probe']
        done = subprocess.run(line, capture_output=True, text=True, errors='replace')
    if done.returncode == 0:
        return ''
    said = done.stderr.strip().splitlines() or [f'exit status {done.returncode}']
    return next((text for text in said if 'error' in text), said[0]).replace(
        str(source), 'probe.c'
    )


def toolchain(family: str, row: Facts) -> tuple[Facts | None, str]:
    """(toolchain, reason): the first compiler of this family that builds OpenMP."""
    reason = f"no '{row['cc']}' of this family on PATH"
    for cc, version in on_path().get(family, ()):
        why = why_no_openmp(cc, row['openmp'])
        if why:
            reason = f"'{cc}' does not build with {row['openmp']}: {why}"
            continue
        chain = {'family': family, 'cc': cc, 'version': version}
        starter = shutil.which('mpirun') or shutil.which('srun')  # of programs with MPI
        return chain | ({'mpicc': 'mpicc'} if shutil.which('mpicc') and starter else {}), ''
    return None, reason


COMPILERS = 'MEMBW_COMPILERS'  # what `membw run` found is not looked for by its ReFrame again


@functools.cache
def on_path() -> dict[str, list[tuple[str, str]]]:
    path, known = json.loads(os.environ.get(COMPILERS) or '[null, null]')
    return known if path == os.environ.get('PATH') else presets.compilers()


def as_text() -> str:
    return json.dumps([os.environ.get('PATH'), on_path()])


CHAINS: dict[str, tuple[Facts | None, str]] = {}  # the compilers are tried once


def toolchains(table: Table) -> tuple[Facts, dict[str, str]]:
    """({family: toolchain}, {family: why there is none})."""
    if not CHAINS:
        CHAINS.update({name: toolchain(name, row) for name, row in table['families'].items()})
    return (
        {family: chain for family, (chain, _) in CHAINS.items() if chain},
        {family: reason for family, (chain, reason) in CHAINS.items() if not chain},
    )


def buildable(table: Table) -> dict[str, str]:
    chains, _ = toolchains(table)
    return {
        name: chains[row['family']]['cc']
        for name, row in table['presets'].items()
        if row['family'] in chains and set(row['requires']) <= cpu_features()
    }


if __name__ == '__main__':
    # what `make binaries` builds: of stream, which has no code for a device
    known = presets.load()
    for preset, cc in buildable(known).items():
        if 'offload' in presets.row(preset, known)['features']:
            print(f'membw: not built: {preset}, for src/nbody alone', file=sys.stderr)
        else:
            print(preset, cc)
