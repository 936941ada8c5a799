"""The check of DGEMM, run here through ReFrame, and what it would ask of Ulysses."""

import json
import os
import pathlib
import subprocess

import blas_here
import pytest
import yaml
from places import ROOT

pytestmark = pytest.mark.alone

NOISE = 'disturbed,unstable,wrong-pinning,oversubscribed'


@pytest.fixture
def run(call, tmp_path):
    """run(name=value, ...): (what reframe said, the case of dgemm)"""

    def session(*words, env=None, **variables):
        report = tmp_path / 'report.json'
        asked = [f'-Sdgemm.{name}={value}' for name, value in variables.items()]
        done = call('reframe', '--nocolor', '-c', ROOT / 'reframe-checks/dgemm.py', '-r',
                    *asked, *words, f'--prefix={tmp_path}', '--report-file', report,
                    MEMBW_BUILD='make', **(env or {}))  # fmt: skip
        assert report.is_file(), done.stdout + done.stderr
        (cases,) = [r['testcases'] for r in json.loads(report.read_text())['runs']]
        (case,) = [c for c in cases if c['name'].startswith('dgemm ')]
        return done, case

    return session


@pytest.mark.shared
def test_the_check_takes_every_figure_and_names_the_library(run):
    """And leaves out what a login shell says of the library's kernels."""
    blas_here.folder('openblas-openmp')
    done, case = run(libraries='openblas-openmp', size=1200, repetitions=1,
                     allow=f'{NOISE},too-short,threads-idle',
                     env={'OPENBLAS_CORETYPE': 'Prescott'})  # fmt: skip
    assert done.returncode == 0 and case['verdict'] == 'VALID', done.stdout
    record = json.loads(open(case['record']).read())
    names = {name.rpartition(':')[2] for name in case['perfvalues']}
    assert names == set(record['metrics']) >= {'k192', 'square_share'}
    assert (case['blas'], record['blas']['threading']) == ('openblas-openmp', 'openmp')
    assert record['blas']['environment']['OMP_WAIT_POLICY'] == 'PASSIVE'
    assert 'OPENBLAS_CORETYPE' not in record['blas']['environment']
    note = case['note']  # what else this shell says may stand there, too
    assert note.startswith('left out: ') and 'OPENBLAS_CORETYPE=Prescott' in note
    assert case['compile_line'].endswith('-lopenblas')


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


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='one CPU: one thread is all of them')
def test_the_sources_line_of_27_gflops_ends_invalid_with_the_reason(run, mkl):
    done, case = run(libraries='mkl-sequential', size=600, repetitions=1, env=mkl,
                     allow=f'{NOISE},too-short')  # fmt: skip
    assert done.returncode == 1 and case['verdict'] == 'INVALID', done.stdout
    assert case['reasons'].startswith('threads-idle (square: 1 of ')
    words = case['compile_line'].split()
    assert words[1:5] == ['-O3', '-fopenmp', '-m64', f'-I{mkl["MKLROOT"]}/include']
    assert words[-6:] == ('-lmkl_intel_lp64 -lmkl_sequential -lmkl_core -lpthread -lm '
                          '-ldl').split()  # fmt: skip


@pytest.mark.shared
def test_a_library_that_is_not_here_is_a_skip_that_says_so(call, tmp_path):
    done = call('reframe', '--nocolor', '-c', ROOT / 'reframe-checks', '-r', '-n', 'dgemm%',
                '-S', 'dgemm.libraries=nvpl', f'--prefix={tmp_path}')  # fmt: skip
    assert "[BLAS nvpl: no library here that '-lnvpl_blas_lp64_gomp' links]" in done.stdout
    assert 'cluster_dgemm' not in done.stdout  # one machine is no cluster, and compares to nothing


@pytest.mark.shared
def test_a_library_that_is_no_row_is_refused(call):
    done = call(
        'reframe', '-c', ROOT / 'reframe-checks/dgemm.py', '-l', '-S', 'dgemm.libraries=atlas'
    )
    assert done.returncode == 2 and "membw: unknown BLAS 'atlas'" in done.stderr


@pytest.mark.shared
def test_ulysses_runs_on_all_its_cores_with_its_peak(call, tmp_path):
    done = call('reframe', '--nocolor', '--system=ulysses', '-c', ROOT / 'reframe-checks',
                '--dry-run', '-n', '^(cluster_)?dgemm', f'--prefix={tmp_path}',
                '-S', 'cluster_dgemm.allow=forced-kernels')  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (script,) = tmp_path.glob('stage/ulysses/regular/icc-o2/dgemm*/rfm_job.sh')
    text = script.read_text()
    (of_all,) = tmp_path.glob('stage/ulysses/regular/icc-o2/cluster_dgemm*/rfm_job.sh')
    leaves_out = [p for p in (script, of_all) if '--kernel-variables' in p.read_text()]
    assert leaves_out == [script], 'the kernels that were allowed are kept'
    for wanted in ('export OMP_NUM_THREADS=20', 'export MKL_NUM_THREADS=20', '--threads 20',
                   'export OMP_WAIT_POLICY=PASSIVE', '--stated 448', '--threading openmp',
                   '--library libmkl_intel_lp64,libmkl_intel_thread,libmkl_core'):  # fmt: skip
        assert wanted in text, text
    (build,) = tmp_path.glob('stage/ulysses/regular/icc-o2/blas_binary*/rfm_build.sh')
    assert 'BLAS=mkl-intel' in build.read_text()


@pytest.mark.shared
def test_the_reference_of_ulysses_is_what_was_published():
    table = yaml.safe_load((ROOT / 'systems/references/ulysses.yaml').read_text())
    of_icc = table['dgemm']['ulysses:regular']['icc-o2']
    assert of_icc == {'mkl-intel': {'k192': [442, -0.05, 0.02, 'GFlop/s']}}
    assert 442 * 1.02 > 448 > 442  # what is left to the peak, and 27 is below every tolerance


@pytest.mark.shared
@pytest.mark.slurm
@pytest.mark.slow
def test_a_job_of_the_whole_cluster_takes_every_figure(call, slurm_emu, tmp_path, one_run):
    """Of one virtual node; tests/checks/test_cluster.py has several, and a slow one."""
    blas_here.folder('openblas-openmp')
    report = tmp_path / 'report.json'
    asked = {'libraries': 'openblas-openmp', 'size': 100, 'repetitions': 1,
             'allow': f'{NOISE},too-short,threads-idle,too-good,forced-kernels'}  # fmt: skip
    words = [f'-Scluster_dgemm.{name}={value}' for name, value in asked.items()]
    with slurm_emu(tmp_path / 'emu', 1, 2, 10) as place:
        done = call('reframe', '--nocolor', '--system=ulysses', '-c',
                    ROOT / 'reframe-checks/cluster_dgemm.py', '-r', *words,
                    f'--prefix={tmp_path}', '--report-file', report, MEMBW_BUILD='make',
                    MEMBW_SLURM_BACKEND='squeue', **place)  # fmt: skip
    (cases,) = [r['testcases'] for r in json.loads(report.read_text())['runs']]
    (case,) = [c for c in cases if c['name'].startswith('cluster_dgemm ')]
    (record,) = [json.loads(line) for line in open(case['record'])]
    assert record['host'] == 'n1' and case['nodes'].startswith('1 node: '), done.stdout
    values = {name: row['value'] for name, row in json.loads(case['metrics']).items()}
    assert values['k192_slowest'] == values['k192'] > 0 and values['attainable'] > 0
