"""Pinning by Intel's own OpenMP runtime (PyPI's intel-openmp) under clang, or by clang's libomp,
which is the same."""

import os
import subprocess

import pytest
from clang_here import CLANG, skip_without
from lib import pinnings
from places import ROOT

RUNTIME = ROOT / '.venv/.setup/intel-openmp/lib'  # ci/test.sh


@pytest.fixture
def program(build_program):
    skip_without(CLANG)
    line, runtime = ['-fopenmp=libomp'], 'libomp'
    if (RUNTIME / 'libiomp5.so').exists():
        line, runtime = ['-fopenmp=libiomp5', f'-L{RUNTIME}', f'-Wl,-rpath,{RUNTIME}'], RUNTIME
    path = build_program('stream', *line, cc=CLANG, usual=('-O1',))
    needed = subprocess.run(['ldd', path], capture_output=True, text=True).stdout
    assert str(runtime) in needed
    return path


@pytest.fixture
def places(program, run_program):
    """places(KMP_AFFINITY, cpus): threads_on of the record of a run on those CPUs."""

    def run(affinity, cpus):
        words = [program, '-n', '100003', '-t', '2']
        given = {'OMP_NUM_THREADS': len(cpus), 'KMP_AFFINITY': affinity}
        on = ('taskset', '-c', ','.join(map(str, cpus)))
        status, said, record = run_program(*words, before=on, **given)
        assert status == 1, said  # tiny arrays
        return record['threads_on']

    return run


def test_what_the_check_requests_puts_each_thread_on_a_core_of_its_own(places):
    cpus = sorted(os.sched_getaffinity(0))[:2]
    _, env = pinnings.request('kmp', cpus)
    assert not [*pinnings.problems('kmp', places(env['KMP_AFFINITY'], cpus), cpus)]


def test_the_record_says_where_intels_runtime_put_the_threads(places):
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip('one CPU: any order is the same')
    back = places(f'granularity=fine,proclist=[{cpus[1]},{cpus[0]}],explicit', cpus)
    assert [thread['affinity'] for thread in back] == [str(cpus[1]), str(cpus[0])]
    free = [*pinnings.problems('kmp', places('disabled', cpus), cpus)]
    assert 'both may run on cpu' in free[0]


@pytest.mark.parametrize('name', ['KMP_HW_SUBSET', 'KMP_DEVICE_THREAD_LIMIT', 'KMP_ALL_THREADS'])
def test_threads_that_the_runtime_takes_away_are_seen(program, run_program, name):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip('one CPU: there is nothing to take away')
    given = {name: '1c' if name == 'KMP_HW_SUBSET' else 1, 'OMP_NUM_THREADS': None}
    _, _, record = run_program(program, '-n', '100003', '-t', '2', **given)
    (warning,) = [w for w in record['warnings'] if 'though' in w['detail']]
    assert record['threads'] == 1 and warning['reason'] == 'wrong-pinning'


# of each the runtime takes another one in its place, with a warning
WRONG = [
    {'OMP_PLACES': 'nonsense'},
    {'OMP_PLACES': '{0:', 'OMP_PROC_BIND': 'close'},
    {'OMP_PLACES': 'cores(0)'},
    {'OMP_PLACES': '{7777}', 'OMP_PROC_BIND': 'close'},
    {'OMP_PLACES': 'cores', 'OMP_PROC_BIND': 'closest'},
    {'KMP_AFFINITY': 'nonsense'},
    {'KMP_AFFINITY': 'granularity=fin,compact'},
    {'OMP_PLACES': 'cores:1'},
]
RIGHT = [
    {'OMP_PLACES': 'l2_caches'},
    {'OMP_PLACES': ' { 0 } : 1 : -1', 'OMP_PROC_BIND': 'close, spread'},
    {'KMP_AFFINITY': 'norespect,gran=fine,proclist=[{0},0-0],explicit'},
    {'KMP_AFFINITY': 'noverbose,compact,1,0'},
]


@pytest.mark.parametrize('given', [*WRONG, *RIGHT], ids=str)
def test_a_value_that_the_runtime_refuses_is_named_as_others_are(program, run_program, given):
    words = '-n', '100003', '-t', '2'
    _, _, record = run_program(program, *words, OMP_NUM_THREADS=1, **given)
    said = [r['detail'] for r in record['reasons'] if r['reason'] == 'wrong-pinning']
    named = [text for text in said if any(f"{name}='{given[name]}'" in text for name in given)]
    assert bool(named) == (given in WRONG), record['reasons']


@pytest.mark.parametrize('value', ['', '0', '+2', '2x', '2 3', '2,', '2,x', '2.0'])
def test_a_number_of_threads_that_libomp_cannot_read_ends_the_program(program, run_program, value):
    """libomp 19 took any number in its place: an assertion, no memory, or threads without end."""
    status, said, _ = run_program(program, '-n', '1e5', '-t', '2', OMP_NUM_THREADS=value)
    assert status == 2 and f"membw: OMP_NUM_THREADS='{value}' is no number of threads" in said
