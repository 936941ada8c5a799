"""The checks of one node, run here through ReFrame: each takes every figure of its program and
says what is wrong with the run."""

import os
import pathlib
import subprocess

import blas_here
import mpi_job
import msgspec
import pytest
import yaml
from places import ROOT

from membw.results.reframe import OwnCase, outcome

pytestmark = pytest.mark.alone
CPUS = sorted(os.sched_getaffinity(0))
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason='one CPU: no pair, no second thread')
with_mpi = pytest.mark.skipif(bool(mpi_job.lacking()), reason=f'no {mpi_job.lacking()}')
NOISE = 'disturbed,unstable'


def figures(case):
    return {name.rpartition(':')[2]: row for name, row in case['perfvalues'].items()}


def reference(system, test):
    return yaml.safe_load((ROOT / f'systems/references/{system}.yaml').read_text())[test]


# --- pairs ---------------------------------------------------------------------------------------


@two_cpus
@with_mpi
def test_pingpong_starts_two_ranks_and_takes_the_median_of_three_launches(reframe, quick_gcc):
    given = {'sizes': '0,64', 'allow': NOISE, 'launches': 3}
    done = reframe('pingpong.py', '-r', given=given, PATH=quick_gcc, **mpi_job.LAUNCHER)
    case, record = done.one('pingpong')
    assert done.code == 0 and case['verdict'] == 'VALID', done.text
    name, row = next(iter(record['metrics'].items()))
    values = sorted(launch['metrics'][name] for launch in record['launches'])
    if 'bound' in row:  # of a busy machine
        assert row['value'] == values[1] and row['bound'] == 'upper'
    else:
        assert row['low'] <= row['value'] <= row['high'] and row['value'] <= values[2]
    assert set(figures(case)) == set(record['metrics'])
    assert {row[4] for row in figures(case).values()} == {'us', 'GB/s'}


@pytest.mark.shared
@two_cpus
@with_mpi
@pytest.mark.parametrize(
    'does, why',
    [
        # of another MPI: each program is alone, and measured threads: VALID
        ('shift 2; "$@"', ' started two single programs'),
        ('exit 5', ': exit status 5'),
    ],
)
def test_an_mpirun_that_is_not_the_right_one_is_named(
    reframe, tool, tmp_path, quick_gcc, does, why
):
    tool('mpirun', does)
    given, path = {'allow': NOISE, 'launches': 1}, f'{tmp_path}:{quick_gcc}'
    done = reframe('pingpong.py', '-r', given=given, PATH=path, **mpi_job.LAUNCHER)
    case, _ = done.one('pingpong')
    assert done.code == 1 and f'{tmp_path}/mpirun{why}' in case['fail_reason'], done.text
    assert outcome(msgspec.convert(case, OwnCase), {})[0] == 'MISSING'


@two_cpus
def test_core_pairs_takes_every_figure_of_its_pair_and_refuses_another_class(reframe, quick_gcc):
    pair = {'pairs': f'{CPUS[0]}-{CPUS[1]}', 'allow': NOISE}
    done = reframe('core_pairs.py', '-r', given=pair, PATH=quick_gcc)
    case, record = done.one('core_pairs')
    assert done.code == 0 and case['verdict'] == 'VALID', done.text
    assert f'cas_{CPUS[0]}_{CPUS[1]}' in figures(case)
    assert set(figures(case)) == set(record['metrics'])
    given = {'pair_class': 'smt', 'allow': NOISE}
    done = reframe('core_pairs.py', '-r', given=given, PATH=quick_gcc)
    case, _ = done.one('core_pairs')
    assert done.code == 1 and case['verdict'] == 'INVALID', done.text
    assert 'wrong-pinning' in case['reasons'] and 'not smt' in case['reasons']


# --- OpenMP --------------------------------------------------------------------------------------


@pytest.mark.parametrize('policy', ['', 'passive'])
def test_overheads_has_the_wait_policy_and_launches_that_were_requested(
    reframe, quick_gcc, policy
):
    given = {'constructs': 'barrier', 'pairs_of_construct': 6, 'launches': 2, 'seconds_apart': 0,
             'allow': 'incomplete', **({'wait_policy': policy} if policy else {})}  # fmt: skip
    of_shell = {'OMP_WAIT_POLICY': 'active', 'PATH': quick_gcc}
    done = reframe('overheads.py', '-r', '-p', '^gcc-', given=given, **of_shell)
    case, record = done.one('overheads')
    assert done.code == 0 and case['verdict'] == 'VALID', done.text
    assert record['runtime']['wait_policy'] == (policy or None)
    assert ('OMP_WAIT_POLICY=passive' in case['run_environment'].split()) == bool(policy)
    assert 'OMP_WAIT_POLICY=active' not in case['run_environment'].split()
    assert [launch['verdict'] for launch in record['launches']] == ['VALID'] * 2
    assert set(figures(case)) == set(record['metrics'])


@pytest.mark.shared
def test_what_cannot_measure_is_launched_once_and_says_why(reframe, quick_gcc):
    """A usage error, a missing library: sixteen launches would all end alike."""
    given = {'constructs': 'nothing'}
    done = reframe('overheads.py', '-r', '-p', '^gcc-', given=given, PATH=quick_gcc)
    assert done.code == 1, done.text
    assert 'MISSING: launch 1 of 8: exit status 2: membw: ' in done.text
    (said,) = done.folder.glob('stage/*/*/*/overheads_*/rfm_job.err')
    assert said.read_text().count('membw: ') == 1


# [helios] "Simulation using MIC co-processor on Helios", 2016: execution times in s
TIMES = {
    'helios:sandy-bridge': {1: 55, 2: 28, 4: 14, 8: 7, 16: 3.5},
    'helios:mic': {1: 126.60, 2: 62.69, 4: 30.75, 8: 15.86, 16: 9.97, 32: 4.72, 64: 3.46,
                   128: 1.59, 236: 1.39},
}  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize('partition, times', TIMES.items())
def test_the_references_of_nbody_are_the_speed_ups_of_the_printed_times(partition, times):
    rows = reference('helios', 'nbody')[partition]
    assert {name: (row[0], row[3]) for name, row in rows.items()} == {
        f'speedup_{threads}': (pytest.approx(times[1] / s, abs=0.006), 'x')
        for threads, s in times.items()
        if threads > 1
    }


def test_nbody_measures_with_both_affinities_and_a_device_that_is_not_there_is_named(
    reframe, quick_gcc
):
    """Without the plug-in the build fails with the compiler's reason; with it the run says that it
    was done on the host."""
    given = {'bodies': 512, 'rounds': 6, 'allow': NOISE, 'nbody_offload.valid_systems': '*'}
    done = reframe('nbody.py', '-r', '-p', '^gcc-', given=given, PATH=quick_gcc)
    cases = [c for c in done.ran if c['name'].startswith('nbody ')]
    assert sorted(c['name'] for c in cases) == [
        'nbody %pinning=omp %affinity=close',
        'nbody %pinning=omp %affinity=spread',
    ]
    for case in cases:
        assert case['verdict'] == 'VALID' and 'speedup_2' in figures(case), done.text
    device = [c for c in done.ran if c['name'].startswith('nbody_offload')]
    assert [c for c in device if c['result'] == 'pass'] == []
    failed = [c for c in device if c['result'] == 'fail']
    assert all('offload-not-done' in c['reasons'] for c in failed)
    assert failed or 'nothing was built: ' in done.text, done.text


# --- DGEMM ---------------------------------------------------------------------------------------

OF_DGEMM = f'{NOISE},wrong-pinning,oversubscribed,too-short'


@pytest.mark.shared
def test_dgemm_takes_every_figure_and_names_the_library(reframe):
    blas_here.folder('openblas-openmp')
    given = {'libraries': 'openblas-openmp', 'size': 1200, 'repetitions': 1,
             'allow': f'{OF_DGEMM},threads-idle'}  # fmt: skip
    done = reframe('dgemm.py', '-r', given=given)
    case, record = done.one('dgemm')
    assert done.code == 0 and case['verdict'] == 'VALID', done.text
    assert set(figures(case)) == set(record['metrics']) >= {'k192', 'square_share'}
    assert (case['blas'], record['blas']['threading']) == ('openblas-openmp', 'openmp')
    assert record['blas']['environment']['OMP_WAIT_POLICY'] == 'PASSIVE'
    assert case['build']['compile_line'].endswith('-lopenblas')


@pytest.fixture
def mkl(tmp_path):
    """What finds MKL: Intel's own where MKLROOT says where it lies, else a TEST DOUBLE of its
    sequential layer, a dgemm of one thread under MKL's file names. It proves the founding line and
    what becomes of it, never a figure."""
    if os.environ.get('MKLROOT'):
        root = pathlib.Path(os.environ['MKLROOT'])
        return {'MKLROOT': root, 'LIBRARY_PATH': root / 'lib', 'LD_LIBRARY_PATH': root / 'lib'}
    folder = tmp_path / 'mkl'
    (folder / 'include').mkdir(parents=True)
    source = {'libmkl_intel_lp64': ROOT / 'tests/data/plain_dgemm.c'}
    for name in ('libmkl_intel_lp64', 'libmkl_sequential', 'libmkl_core'):
        (folder / 'empty.c').write_text(f'int {name}_is_here;')
        line = ['gcc', '-O2', '-shared', '-fPIC', '-Wl,-soname', f'-Wl,{name}.so',
                source.get(name, folder / 'empty.c'), '-o', folder / f'{name}.so']  # fmt: skip
        subprocess.run(line, check=True)
    return {'MKLROOT': folder, 'LIBRARY_PATH': folder, 'LD_LIBRARY_PATH': folder}


@two_cpus
def test_the_sources_line_of_27_gflops_ends_invalid_with_the_reason(reframe, mkl):
    given = {'libraries': 'mkl-sequential', 'size': 600, 'repetitions': 1, 'allow': OF_DGEMM}
    done = reframe('dgemm.py', '-r', given=given, **mkl)
    case, _ = done.one('dgemm')
    assert done.code == 1 and case['verdict'] == 'INVALID', done.text
    assert case['reasons'].startswith('threads-idle (square: 1 of ')
    words = case['build']['compile_line'].split()
    assert words[1:5] == ['-O3', '-fopenmp', '-m64', f'-I{mkl["MKLROOT"]}/include']
    line = '-lmkl_intel_lp64 -lmkl_sequential -lmkl_core -lpthread -lm -ldl'
    assert words[-6:] == line.split()


@pytest.mark.shared
def test_a_library_that_is_not_here_or_no_row_is_named(reframe):
    done = reframe('', '-r', '-n', 'dgemm%', given={'dgemm.libraries': 'nvpl'})
    assert "[BLAS nvpl: no library here that '-lnvpl_blas_lp64_gomp' links]" in done.text
    assert 'cluster_dgemm' not in done.text  # one machine is no cluster, and compares to nothing
    done = reframe('dgemm.py', '-l', given={'libraries': 'atlas'})
    assert done.code == 2 and "membw: unknown BLAS 'atlas'" in done.text


@pytest.mark.shared
def test_ulysses_runs_on_all_its_cores_with_its_peak(reframe):
    done = reframe('', '--dry-run', '--system=ulysses', '-n', '^dgemm')
    assert done.code == 0, done.text
    place = done.folder / 'stage/ulysses/regular/icc-o2'
    (script,) = place.glob('dgemm*/rfm_job.sh')
    text = script.read_text()
    for wanted in ('export OMP_NUM_THREADS=20', 'export MKL_NUM_THREADS=20', '--threads 20',
                   'export OMP_WAIT_POLICY=PASSIVE', '--stated 448', '--threading openmp',
                   '--library libmkl_intel_lp64,libmkl_intel_thread,libmkl_core'):  # fmt: skip
        assert wanted in text, text
    (build,) = place.glob('blas_binary*/rfm_build.sh')
    assert 'BLAS=mkl-intel' in build.read_text()
    of_icc = reference('ulysses', 'dgemm')['ulysses:regular']['icc-o2']
    assert of_icc == {'mkl-intel': {'k192': [442, -0.05, 0.02, 'GFlop/s']}}
    assert 442 * 1.02 > 448 > 442  # what is left to the peak, and 27 is below every tolerance


@pytest.mark.shared
@pytest.mark.slurm
@pytest.mark.slow
def test_a_job_of_the_whole_cluster_leaves_a_record_of_each_node(reframe, slurm_emu, tmp_path):
    """Of one virtual node; tests/checks/test_cluster.py has several, and a slow one. What was
    allowed is compared with nothing."""
    blas_here.folder('openblas-openmp')
    given = {'libraries': 'openblas-openmp', 'size': 100, 'repetitions': 1,
             'allow': f'{OF_DGEMM},threads-idle,too-good,forced-kernels'}  # fmt: skip
    with slurm_emu(tmp_path / 'emu', 1, 2, 10) as place:
        done = reframe('cluster_dgemm.py', '-r', '--system=ulysses', given=given,
                       MEMBW_SLURM_BACKEND='squeue', **place)  # fmt: skip
    case, record = done.one('cluster_dgemm')
    assert record['host'] == 'n1' and case['nodes'].startswith('1 node: '), done.text
    assert case['word'] == 'UNDECIDED' and 'n1 UNDECIDED allowed: ' in case['reasons']
    assert record['metrics']['k192']['value'] > 0


# --- all of them ---------------------------------------------------------------------------------


@pytest.mark.shared
def test_what_a_page_sets_is_of_one_type_in_all_checks_that_have_it(reframe):
    """ReFrame sets it in each of them: one that took a number would end the session."""
    given = {'pairs': 'all', 'sizes': '0,64', 'launches': 1, 'max_nodes': 32}
    done = reframe('', '-l', '-n', '^(core_pairs|pingpong|cluster_pairs)$', given=given)
    assert done.code == 0 and '- core_pairs' in done.text, done.text
