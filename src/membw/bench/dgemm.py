"""DGEMM beside its peers: hpcc's, and likwid-bench's peakflops beside our ceiling; and what each
says of a run that one core did alone."""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

from membw.bench.parse import needs
from membw.bench.programs import PINNED
from membw.bench.rounds import in_turn
from membw.checkout import root
from membw.errors import MembwError
from membw.presets import presets
from membw.site.machine import cpu_features
from membw.site.topology import cores_here
from membw.tables import Column, Table, shown

BLAS = 'openblas-openmp'
SIZE, HPCC_SIZE = 3000, 2000  # of ours; of hpcc's HPL, of which its DGEMM has 1 / sqrt(3)
LIMIT_S = 600
OURS, HPCC, PEAKFLOPS = 'membw dgemm', 'hpcc', 'likwid-bench'
ACCIDENT = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
ONE_CORE = ', one thread'
# hpcc's own example, one process: https://hpcchallenge.org/hpcc/faq
HPCC_INPUT = """HPLinpack benchmark input file
innovative computing laboratory
HPL.out output file name (if any)
8 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
{size} Ns
1 # of NBs
80 NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
1 Ps
1 Qs
16.0 threshold
1 # of panel fact
2 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
1 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
"""
COLUMNS = (
    Column('program', 'program'),
    Column('what', 'figure'),
    Column('least', 'least', right=True),
    Column('median', 'median', right=True),
    Column('most', 'most', right=True),
    Column('says', 'says'),
)


def compare(say, rounds):
    """{'rounds': [...], 'left_out': [...]}: every program once per round, in turn."""
    programs, left_out = collect()
    for reason in left_out:
        say(f'left out: {reason}')
    runs = in_turn('dgemm', programs, rounds, say)
    return {'size': SIZE, 'blas': BLAS, 'rounds': runs, 'left_out': left_out}


def collect():
    """({program: what starts it}, why others are not there)."""
    binary, left_out = build(), []
    programs = {OURS: lambda: ours(binary, {}), OURS + ONE_CORE: lambda: ours(binary, ACCIDENT)}
    if shutil.which('hpcc'):
        programs[HPCC] = lambda: hpcc({})
        programs[HPCC + ONE_CORE] = lambda: hpcc(ACCIDENT)
    else:
        left_out.append("hpcc: no 'hpcc' on PATH")
    test = peakflops_test()
    if test:
        programs[PEAKFLOPS] = lambda: peakflops(test)
    else:
        left_out.append("likwid-bench: no 'likwid-bench' on PATH")
    return programs, left_out


def build():
    folder = pathlib.Path(root(), 'build', 'bench', 'dgemm')
    words = ['make', '-C', os.path.join(root(), 'src'), 'PROGRAM=dgemm', 'PRESET=gcc-o3']
    done = subprocess.run([*words, f'BLAS={BLAS}', f'BUILD={folder}'],
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode:
        said = [ln for ln in done.stderr.splitlines() if ln.startswith('membw:') or 'ld:' in ln]
        why = (said or ['the compiler failed'])[0].removeprefix('membw: ')
        raise MembwError(f'dgemm is not built: {why}', f'the library of row {BLAS} of blas.yaml')
    return folder / 'dgemm'


def environment(more):
    return {**os.environ, **PINNED, 'OMP_NUM_THREADS': str(len(cores_here())),
            'OMP_WAIT_POLICY': 'PASSIVE', **more}  # fmt: skip


def ours(binary, more):
    """{figure: value} and what the program says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'record.json')
        words = [str(binary), '--shape', 'square', '-n', str(SIZE), '--json', str(path)]
        subprocess.run(words, env=environment(more), capture_output=True, timeout=LIMIT_S)
        record = json.loads(path.read_text())
    figures = {name: metric['value'] for name, metric in record['metrics'].items()}
    clock = record['denominators']['clock']
    ideal = record['threads_asked'] * clock['nearest_flops_per_cycle'] * clock['ghz']
    figures['ceiling'] = 100 * figures['attainable'] / ideal
    reasons = [r['reason'] for r in record['reasons']]
    return {'figures': figures, 'says': ', '.join([record['verdict'], *reasons])}


def hpcc(more):
    """Its two DGEMM figures, of the library that ours is linked with."""
    words = ['hpcc']
    if shutil.which('mpirun'):
        words = ['mpirun', '--bind-to', 'none', '-n', '1', 'hpcc']
    env = environment({'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'})
    folders = [w.removeprefix('-L') for w in presets.blas_words(BLAS)[1] if w.startswith('-L')]
    env['LD_LIBRARY_PATH'] = ':'.join([*folders, os.environ.get('LD_LIBRARY_PATH', '')])
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, 'hpccinf.txt').write_text(HPCC_INPUT.format(size=HPCC_SIZE))
        subprocess.run(words, cwd=folder, env={**env, **more}, capture_output=True,
                       timeout=LIMIT_S)  # fmt: skip
        out = pathlib.Path(folder, 'hpccoutf.txt')
        return of_hpcc(out.read_text() if out.exists() else '')


def of_hpcc(text):
    figures = dict(re.findall(r'^(StarDGEMM_Gflops|SingleDGEMM_Gflops)=([\d.]+)', text, re.M))
    if len(figures) < 2:
        raise MembwError('hpcc printed no figure of its DGEMM', 'run it by hand')
    return {
        'figures': {name.partition('_')[0]: float(v) for name, v in figures.items()},
        'says': '',
    }


def peakflops_test():
    """The widest that this CPU has; None without likwid-bench."""
    if not shutil.which('likwid-bench'):
        return None
    flags = cpu_features()
    tests = ('peakflops_avx512_fma', 'peakflops_avx_fma', 'peakflops_avx', 'peakflops_sse')
    return next((t for t in tests if all(f in flags for f in needs(t.split('_')))), 'peakflops')


def peakflops(test):
    threads = len(cores_here())
    words = ['likwid-bench', '-t', test, '-W', f'N:{64 * threads}kB:{threads}']
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S)
    return of_peakflops(done.stdout)


def of_peakflops(text):
    rate = re.search(r'^MFlops/s:\s+([\d.]+)', text, re.M)
    if not rate:
        raise MembwError('likwid-bench printed no rate of its peakflops', 'run it by hand')
    return {'figures': {'peakflops': float(rate[1]) / 1000}, 'says': ''}


# figure -> (what it is called, of which programs)
SHOWN = {
    'square': 'GFlop/s',
    'square_share': '% of attainable',
    'attainable': 'attainable, GFlop/s',
    'ceiling': '% of flop per cycle x GHz',
    'SingleDGEMM': 'SingleDGEMM, GFlop/s',
    'peakflops': 'peakflops, GFlop/s',
}


def blocks(comparison):
    """The table that is printed."""
    lines = []
    for program in comparison['rounds'][0]:
        runs = [results[program] for results in comparison['rounds']]
        says = ' | '.join(sorted({run['says'] for run in runs})) or 'nothing'
        for name, title in SHOWN.items():
            values = [run['figures'][name] for run in runs if name in run['figures']]
            if values:
                middle = statistics.median(values)
                cells = [shown(v, '.2f') for v in (min(values), middle, max(values))]
                lines.append([program, title, *cells, says])
    return [Table(f'DGEMM with {comparison["blas"]}, n = {comparison["size"]}', COLUMNS, lines)]
