"""What the tests share: where the checkout lies, the entry points, Spack, other tools."""

import contextlib
import os
import shutil
import socket
import subprocess
from functools import partial

import mpi_job
import program_build
import pytest
from places import ROOT

# rooms whose tests compute only: they run beside each other on all cores, the others one by one
TOGETHER = (
    'harness',
    'membw/accept',
    'membw/build',
    'membw/codegen',
    'membw/diff',
    'membw/export',
    'membw/history',
    'membw/rank',
    'membw/report',
    'membw/results',
    'membw/site',
    'membw/statistics',
    'membw/test_unpack.py',
    'membw/system',
    'test_layers.py',
)


def pytest_collection_modifyitems(items):
    for item in items:
        place = item.path.relative_to(ROOT / 'tests').as_posix()
        if not place.startswith(TOGETHER):
            item.add_marker('alone')


@pytest.fixture(scope='session')
def root():
    return ROOT


@pytest.fixture(scope='session')
def environment():
    """The environment that setup-env.sh makes, whatever shell started pytest."""
    command = '. ./setup-env.sh && env -0'
    done = subprocess.run(['sh', '-c', command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(pair.split('=', 1) for pair in done.stdout.split('\0') if '=' in pair)


@pytest.fixture(scope='session')
def call(environment):
    """Run a command in the checkout as setup-env.sh has it; never raises, never waits long."""

    def run(*words, timeout=300, cwd=ROOT, **variables):
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


@pytest.fixture(scope='session')
def free_ports():
    """free_ports(n): the first of n in a row, so that two checkouts test at the same time."""

    def find(count):
        for first in range(20000 + os.getpid() % 5000, 32000, count):
            with contextlib.ExitStack() as stack:
                try:
                    for port in range(first, first + count):
                        stack.enter_context(socket.socket()).bind(('', port))
                except OSError:
                    continue
            return first
        raise AssertionError(f'no {count} free ports in a row below 32000')

    return find


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
def build_program(tmp_path_factory):
    """build_program('stream', '-D...'): that program of src, built once per line."""
    return program_build.Builds(tmp_path_factory.mktemp)


@pytest.fixture(scope='session')
def mpi_build(build_program):
    """mpi_build('-D...'): the program with MPI and these faults."""
    return partial(build_program, 'stream', '-DMEMBW_MPI', '-Werror', cc='mpicc')


@pytest.fixture
def mpi_run(tmp_path, mpi_build):
    """mpi_run('-n', ...): an mpirun of it, one rank on each of the pretended nodes."""

    def start(*options, nodes=('n1', 'n2', 'n3', 'n4'), flags=(), **more):
        return mpi_job.Job(tmp_path, mpi_build(*flags), nodes, *options, **more)

    return start
