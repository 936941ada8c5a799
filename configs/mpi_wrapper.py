"""What an MPI compiler wrapper (mpicc) adds to a compile line that is a preset's."""

import os
import re
import shlex
import shutil
import subprocess

DEFINE = '-DMEMBW_MPI'
# Open MPI, MPICH and its kin (Intel, MVAPICH2, Cray's own mpicc) know one of these
SHOW = ('-show', '--showme', '-compile-info')
LINKER = re.compile(r'-(l|L|Wl,|Xlinker|z$|rdynamic)|.*\.(a|so)(\.\d+)*$')


class WrapperError(Exception):
    """(fact, hint)"""


def show(mpicc):
    """The words that the wrapper would run, its compiler first."""
    if not shutil.which(mpicc):
        raise WrapperError(f"no '{mpicc}' on the PATH", 'load an MPI module, or MPICC=PATH')
    for option in SHOW:
        try:
            done = subprocess.run([mpicc, option], capture_output=True, text=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as err:
            raise WrapperError(f"'{mpicc}' does not run: {err}", 'MPICC=PATH') from err
        words = shlex.split(done.stdout)
        if done.returncode == 0 and len(words) > 1:
            return words
    raise WrapperError(
        f"'{mpicc} -show' does not say what it adds", 'MPICC=PATH names another MPI compiler'
    )


def added(mpicc):
    """(for the compiler, for the linker): what goes before the sources and what after them."""
    words = show(mpicc)[1:]
    before = [word for word in words if not LINKER.match(word)]
    return [DEFINE, *before], [word for word in words if LINKER.match(word)]


def library(mpicc):
    """('openmpi', '4.1.4') of the MPI that the wrapper belongs to, or None."""
    run = os.path.join(os.path.dirname(shutil.which(mpicc) or ''), 'mpirun')
    try:
        done = subprocess.run([run, '--version'], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = {
        'openmpi': r'\(Open MPI\) ([\d.]+)',
        'mpich': r'HYDRA build details:\s+Version:\s+([\d.]+)',
        'intel-oneapi-mpi': r'Intel\(R\) MPI Library .* Version ([\d.]+)',
    }
    for name, pattern in names.items():
        found = re.search(pattern, done.stdout)
        if found:
            return name, found.group(1)
    return None
