"""What the tests share: where the checkout lies, the entry points, Spack, other tools."""

import contextlib
import fcntl
import hashlib
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
from functools import partial

import mpi_job
import program_build
import pytest
from checkout_copy import copy_checkout, variables
from places import ROOT
from record_schema import check

# the signs of figures are in UTF-8, and tables as wide as they are
os.environ['LC_ALL'] = 'C.UTF-8'
os.environ.pop('COLUMNS', None)
# a job of a test lasts seconds; ReFrame looks less and less often, at last each 10 s
os.environ['RFM_POLL_RATE_MIN'] = '4'
# a shell starts `make test &` deaf to both, and so would be what tests start
for number, usual in (signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, usual)
OF_A_SHELL = re.compile('OMP_|GOMP_|KMP_|BLIS_NUM|OPENBLAS_NUM|LD_')
DURATIONS = ROOT / 'tests/durations.json'  # written by ci/count.py --durations


def pytest_addoption(parser):
    parser.addoption('--turn', type=int, help='of each file of ci/turns.txt one test')


# for the night, of which each run of CI takes one: a machine, a userland, a site, a release
TURNS = (ROOT / 'ci/turns.txt').read_text().split()


def keep_turn(config, items, turn):
    groups = [
        [i for i in items if i.location[0] == file and i.get_closest_marker('night')]
        for file in TURNS
    ]
    kept = [group[turn % len(group)] for group in groups if group]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_collection_modifyitems(config, items):
    """The file that takes longest comes first, so that none is left over at the end; before all
    those of which it is not known. What is for the night runs only where it is asked for."""
    seconds = json.loads(DURATIONS.read_text())
    items.sort(key=lambda item: -seconds.get(item.location[0], math.inf))
    if (turn := config.getoption('--turn')) is not None:
        keep_turn(config, items, turn)
    elif 'night' not in config.getoption('-m'):
        for item in items:
            if item.get_closest_marker('night'):
                item.add_marker(pytest.mark.skip(reason='for the night: make machines'))


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


@pytest.fixture
def own_root(tmp_path, monkeypatch):
    """A checkout's root for what is called in this process: another test's run is not in it."""
    (tmp_path / 'reframe-checks').mkdir()
    (tmp_path / 'systems').mkdir()
    (tmp_path / 'results').mkdir()
    monkeypatch.setenv('MEMBW_ROOT', str(tmp_path))
    return tmp_path


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


@pytest.fixture
def run_program(tmp_path):
    """run_program(PROGRAM, OPTIONS, before=('taskset', ...), OMP_...=): (exit status, what it
    printed, its record or None), whatever the shell has set for OpenMP or a BLAS."""

    def run(program, *options, before=(), **variables):
        path = tmp_path / 'record.json'
        path.unlink(missing_ok=True)
        env = {k: v for k, v in os.environ.items() if not OF_A_SHELL.match(k)}
        given = {'OMP_NUM_THREADS': 2, 'OMP_WAIT_POLICY': 'passive', **variables}
        env |= {k: str(v) for k, v in given.items() if v is not None}
        words = [str(word) for word in (*before, program, '--json', path, *options)]
        done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=300)
        text = path.read_text() if path.exists() else ''
        record = json.loads(text) if text else None
        if record and record['metrics']:  # where nothing was measured nobody reads it
            check(record)
            before, _, end = text.rpartition(', "sha256": "')
            assert end == f'{hashlib.sha256(before.encode()).hexdigest()}"}}\n'
        return done.returncode, done.stdout + done.stderr, record

    return run


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
