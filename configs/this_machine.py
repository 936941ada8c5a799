"""What this machine has: CPU features and working compilers, for partitions that say `auto`."""

import functools
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

import presets

PROGRAM = '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n'


@functools.cache
def cpu_features():
    """The architecture and every flag the kernel shows (x86: flags, Arm: Features)."""
    try:
        text = pathlib.Path('/proc/cpuinfo').read_text()
    except OSError:
        text = ''
    found = re.search(r'^(?:flags|Features)\s*:\s*(.*)$', text, re.M)
    return {platform.machine(), *(found.group(1).split() if found else [])}


def candidates(cc):
    """cc itself and cc-<version> on PATH, newest first."""
    versions = set()
    for folder in os.environ.get('PATH', '').split(os.pathsep):
        for path in pathlib.Path(folder or '.').glob(f'{cc}-[0-9]*'):
            if re.fullmatch(re.escape(cc) + r'-[\d.]+', path.name):
                versions.add(path.name)
    newest = sorted(versions, key=lambda n: [int(x) for x in re.findall(r'\d+', n)], reverse=True)
    return [c for c in [cc, *newest] if shutil.which(c)]


def builds_openmp(cc, openmp):
    """Debian's clang without libomp-dev compiles, and fails to find omp.h or to link."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'probe.c'
        source.write_text(PROGRAM)
        line = [cc, openmp, str(source), '-o', f'{folder}/probe']
        return subprocess.run(line, capture_output=True).returncode == 0


def toolchain(family, table):
    """(toolchain, reason): the first compiler of this family that builds OpenMP."""
    row = table['families'][family]
    reason = f"no '{row['cc']}' of this family on PATH"
    for cc in candidates(row['cc']):
        version = presets.compiler_version(family, cc, table)
        if not version:
            continue
        if not builds_openmp(cc, row['openmp']):
            reason = f"'{cc}' does not build with {row['openmp']}"
            continue
        spack = row['spack'] if '@' in row['spack'] else f'{row["spack"]}@{version}'
        return {'family': family, 'cc': cc, 'spack': spack, **mpi()}, ''
    return None, reason


@functools.cache
def mpi():
    """{'mpicc': ...} where this machine has an MPI compiler and what starts its programs."""
    found = shutil.which('mpicc') and (shutil.which('mpirun') or shutil.which('srun'))
    return {'mpicc': 'mpicc'} if found else {}


@functools.cache
def _toolchains():
    table = presets.load()
    return {family: toolchain(family, table) for family in table['families']}


def toolchains():
    """({family: toolchain}, {family: why there is none})."""
    found = _toolchains()
    return (
        {f: chain for f, (chain, _) in found.items() if chain},
        {f: reason for f, (chain, reason) in found.items() if not chain},
    )
