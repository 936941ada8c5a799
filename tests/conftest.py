"""What the tests share: where the checkout lies, the entry points, Spack, other tools."""

import contextlib
import fcntl
import functools
import os
import shutil
import socket
import subprocess
from functools import partial

import mpi_job
import program_build
import pytest
from checkout_copy import copy_checkout, variables
from places import ROOT

# the signs of figures are in UTF-8, and tables as wide as they are
os.environ['LC_ALL'] = 'C.UTF-8'
os.environ.pop('COLUMNS', None)
# a job of a test lasts seconds; ReFrame looks less and less often, at last each 10 s
os.environ['RFM_POLL_RATE_MIN'] = '4'
# folders whose tests compute only, but for those named below: they fill the cores while those of
# WAITING wait, and come last
COMPUTING = (
    'checks/test_case.py',
    'checks/test_references.py',
    'checks/test_several_launches.py',
    'harness',
    'membw',
    'pingpong/test_pairs.py',
    'stream/test_flip_arithmetic.py',
    'stream/test_interval_coverage.py',
    'test_layers.py',
    'test_planted.py',
)
# folders whose tests wait for ReFrame, Slurm, Spack, MPI or a compiler and judge no figure: they
# run several at a time, in this order; what takes longest first, so that no file is left over.
# What is in neither list measures or counts the time, and has the machine for itself. A test's
# own mark, shared or alone, goes before these lists.
WAITING = (
    'spack',
    'ci',
    'checks/test_reframe.py',
    'stream/test_mpi.py',
    'checks/test_cluster.py',
    'checks/test_cluster_node.py',
    'checks/test_cluster_pairs.py',
    'stream/test_stream_program.py',
    'checks/test_system_add.py',
    'stream/test_bit_flips.py',
    'checks/test_deaths.py',
    'checks/test_slurm.py',
    'checks/test_jobs.py',
    'checks/test_systems.py',
    'checks/test_card.py',
    'checks/test_workstations.py',
    'checks/test_second_program.py',
    'stream/test_mpi_broken.py',
    'membw/reproduce',
    'stream/test_stream_verdict.py',
    'stream/test_repeats.py',
    'checks/test_imb_pingpong.py',
    'membw/calibrate',
    'membw/nightly',
    'checks/test_site_configuration.py',
    'stream/test_fifth_kernel.py',
    'stream/test_fortran.py',
    'checks/test_modules.py',
    'stream/test_kmp_affinity.py',
    'stream/test_static_musl.py',
    'stream/test_health_check.py',
    'stream/test_step.py',
    'ladder/test_levels.py',
    'loaded',
    'tiers',
)
REST = len(WAITING)


def pytest_collection_modifyitems(items):
    gone = [place for place in (*COMPUTING, *WAITING) if not (ROOT / 'tests' / place).exists()]
    if gone:
        raise pytest.UsageError(f'tests/conftest.py names what is not there: {", ".join(gone)}')
    for item in items:
        if item.get_closest_marker('alone') or item.get_closest_marker('shared'):
            continue
        if turn(item.path) == REST:
            item.add_marker('alone')
    items.sort(key=lambda item: turn(item.path))


@functools.cache
def turn(path):
    """Number in WAITING, what is in no list, and COMPUTING."""
    place = path.relative_to(ROOT / 'tests').as_posix()
    if place.startswith(COMPUTING) and not place.startswith(WAITING):
        return REST + 1
    return next((i for i, start in enumerate(WAITING) if place.startswith(start)), REST)


@pytest.fixture(scope='session')
def root():
    return ROOT


@pytest.fixture(scope='session')
def environment():
    """The environment that setup-env.sh makes, whatever shell started pytest."""
    command = '. ./setup-env.sh && env -0'
    done = subprocess.run(['sh', '-c', command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pairs = (pair.split('=', 1) for pair in done.stdout.split('\0') if '=' in pair)
    return {name: value for name, value in pairs if name != 'COLUMNS'}


@pytest.fixture(scope='session')
def call(environment):
    """Run a command in the checkout as setup-env.sh has it; the limit is for one that hangs."""

    def run(*words, timeout=600, cwd=ROOT, **variables):
        return subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            env={**environment, **{k: str(v) for k, v in variables.items()}},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run


@pytest.fixture
def one_run():
    """For tests that take this checkout's results/run.lock: one at a time in all processes."""
    (ROOT / 'results').mkdir(exist_ok=True)
    with open(ROOT / 'results/tests.lock', 'w') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope='module')
def own_checkout(tmp_path_factory):
    """(a copy of this checkout, the variables of its commands). It has a results/run.lock of its
    own: a long run keeps no other test waiting."""
    folder = copy_checkout(tmp_path_factory.mktemp('own'))
    shutil.copy(ROOT / 'setup-env.sh', folder)
    (folder / '.venv').symlink_to(ROOT / '.venv')
    return folder, variables(folder)


@pytest.fixture(scope='session')
def free_ports():
    """free_ports(n): the first of n in a row, so that two checkouts test at the same time."""

    def find(count):
        # processes that were begun one after the other look 20 ports apart
        for first in range(20000 + os.getpid() * 20 % 10000, 32000, count):
            with contextlib.ExitStack() as stack:
                try:
                    for port in range(first, first + count):
                        stack.enter_context(socket.socket()).bind(('', port))
                except OSError:
                    continue
            return first
        raise AssertionError(f'no {count} free ports in a row below 32000')

    return find


@pytest.fixture(autouse=True)
def skip_without_spack(request):
    """Tests marked `spack` are skipped where there is none on the PATH and none in .spack."""
    if request.node.get_closest_marker('spack'):
        path = request.getfixturevalue('environment')['PATH']
        if not shutil.which('spack', path=path):
            pytest.skip("no 'spack' on the PATH and none in .spack (make setup)")


@pytest.fixture(scope='session')
def need():
    """need('gdb'): its path, or the test is skipped with the reason."""

    def find(*tools):
        folders = os.environ.get('PATH', '') + ':/usr/sbin:/sbin'
        for tool in tools:
            if not shutil.which(tool, path=folders):
                pytest.skip(f"'{tool}' is not on the PATH")
        return shutil.which(tools[0], path=folders)

    return find


@pytest.fixture(scope='session')
def build_program():
    """build_program('stream', '-D...'): that program of src, built once per line."""
    program_build.remove_old()
    return program_build.build


@pytest.fixture(scope='session')
def mpi_build(build_program):
    """mpi_build('-D...', changes=): the program with MPI."""
    return partial(build_program, 'stream', '-DMEMBW_MPI', '-Werror', cc='mpicc')


@pytest.fixture
def mpi_run(tmp_path, mpi_build):
    """mpi_run('-n', ...): an mpirun of it, one rank on each of the pretended nodes."""

    def start(*options, nodes=('n1', 'n2', 'n3', 'n4'), changes=(), **more):
        return mpi_job.Job(tmp_path, mpi_build(changes=changes), nodes, *options, **more)

    return start
