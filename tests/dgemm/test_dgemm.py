"""dgemm: figures, denominators, validation, who worked, whose library it was, bad input."""

import os
import re
import subprocess

import blas_here
import pytest
import silent_kernel
from one_cpu import one_cpu
from places import ROOT

CPUS = len(os.sched_getaffinity(0))
ONE_CPU = ('taskset', '-c', str(min(os.sched_getaffinity(0))))
# what a multiplication of a millisecond cannot be
TINY = 'wrong-pinning,too-short,threads-idle,too-good,oversubscribed,forced-kernels'
# too short for any figure; long enough for the ticks of the kernel to tell who worked
ONCE = ('--shape', 'square', '-t', '1')
FEW = (*ONCE, '-n', '50')
SHORT = ('--shape', 'square', '-n', '1600', '-t', '1')


@pytest.fixture(scope='session')
def linked(build_program):
    """linked('openblas-openmp'): dgemm with that library."""

    def link(variant, changes=()):
        return build_program('dgemm', '-O0', *blas_here.words(variant), changes=changes)

    return link


@pytest.fixture(scope='session')
def plain(build_program):
    """plain('-D...'): dgemm with a multiplication of the tests' own in it."""
    return lambda *flags, changes=(): build_program(
        'dgemm', '-O0', *flags, ROOT / 'tests/data/plain_dgemm.c', changes=changes
    )


@pytest.fixture
def run(run_program):
    """run(program, options, variant='openblas-serial', OMP_NUM_THREADS=1): (status, output,
    record); `variant` is the library that the loader takes."""

    def start(program, *options, variant=None, **variables):
        library = {'LD_LIBRARY_PATH': blas_here.folder(variant)} if variant else {}
        return run_program(program, *options, **{'OMP_NUM_THREADS': None} | library | variables)

    return start


def reasons(record):
    return {finding['reason'] for finding in record['reasons'] if not finding['allowed']}


def detail(record, reason):
    return next(f['detail'] for f in record['reasons'] if f['reason'] == reason)


# --- figures ---------------------------------------------------------------------------------


@pytest.mark.alone
def test_both_shapes_have_a_figure_and_a_share_of_what_was_attainable(linked, run):
    status, said, record = run(
        linked('openblas-openmp'), '-n', '700', '-t', '2', '--stated', '1e4', '--allow', TINY
    )
    assert status == 0, said
    units = {name: m['unit'] for name, m in record['metrics'].items()}
    assert units == {
        **dict.fromkeys(('square', 'k192', 'attainable'), 'GFlop/s'), 'clock': 'GHz',
        **dict.fromkeys(('square_share', 'k192_share', 'attainable_share', 'slowest_core'), '%'),
        'worked': 'threads',
    }  # fmt: skip
    assert {m['better'] for m in record['metrics'].values()} == {'higher'}
    figures = {name: m['value'] for name, m in record['metrics'].items()}
    square, k192 = record['shapes']['square'], record['shapes']['k192']
    assert (square['m'], square['n'], square['k']) == (700, 700, 700)
    assert (k192['m'], k192['n'], k192['k']) == (700, 700, 192)
    assert square['flops'] == 2 * 700**3 and k192['flops'] == 2 * 700 * 700 * 192 * k192['calls']
    for shape in (square, k192):
        for r in shape['repetitions']:
            assert r['gflops'] == pytest.approx(shape['flops'] / r['seconds'] / 1e9)
    assert figures['attainable_share'] == pytest.approx(figures['attainable'] / 100)
    assert all(record['denominators'][d]['source'] for d in ('stated', 'attainable', 'clock'))


def test_the_ceiling_of_arm_runs_its_own_loop(build_program, run, need):
    """By an emulator: that it runs, not how fast."""
    need('aarch64-linux-gnu-gcc')
    emulator = need('qemu-aarch64')
    line = ('-O0', '-static', str(ROOT / 'tests/data/plain_dgemm.c'))
    program = build_program('dgemm', *line, cc='aarch64-linux-gnu-gcc')
    options = (*ONCE, '-n', '24', '--threads', '1', '--allow', f'{TINY},translated')
    status, said, record = run(program, *options, before=(emulator,), OMP_NUM_THREADS=1)
    assert status == 0, said
    loop = record['denominators']['attainable']
    assert loop['source'] in ('sve', 'neon', 'portable') and loop['gflops'] > 0


# --- is the product right? -------------------------------------------------------------------


def test_every_flipped_bit_of_a_product_is_found_and_its_element_named(build_program):
    """15808 of 15808, and 234 of 234 pairs of errors that cancel in the sum of their column."""
    program = build_program('tests/probes/dgemm_flips.c', '-O1')
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    flips, pairs = 19 * 13 * 64, 18 * 13
    assert done.stdout == f'found {flips} of {flips}, pairs {pairs} of {pairs}\n'


def test_a_flip_in_a_run_is_named_with_row_column_and_bits(plain, run):
    column, row = 5, 3
    before = 'memset(wrong, 0, sizeof(*wrong));'
    flip = f'{before}\n\t*(unsigned char *)&x->of[2][{column} * 24 + {row}] ^= 1;'
    program = plain(changes=[('dgemm/validate.c', before, flip)])
    status, said, record = run(program, *ONCE, '-n', '24', '--allow', TINY)
    assert status == 1 and reasons(record) >= {'not-validated'}
    text = detail(record, 'not-validated')
    assert f'1 of 24 columns of C are wrong, the first in row {row} of column {column}' in text
    actual, expected = (int(bits, 16) for bits in re.findall(r'\((0x[0-9a-f]{16})\)', text))
    assert actual ^ expected == 1


@pytest.mark.alone
def test_a_library_that_does_nothing_is_too_good_and_not_validated(plain, run):
    status, said, record = run(plain('-DLAZY'), *ONCE, '-n', '500')
    assert status == 1 and reasons(record) >= {'too-good', 'not-validated', 'too-short'}


def test_a_disturbed_multiplication_shows_a_lower_bound(plain, run):
    swaps = silent_kernel.preloaded('swaps')
    options = ('--shape', 'square', '-n', '200', '--max-seconds', '0.4', '--allow', TINY)
    status, said, record = run(plain(), *options, **swaps)
    assert status == 0 and 'disturbed' in {w['reason'] for w in record['warnings']}, said
    square = record['metrics']['square']
    assert square['bound'] == 'lower' and 'low' not in square
    assert f'square: ≥ {square["value"]:.6g} GFlop/s' in said


# --- who worked? -----------------------------------------------------------------------------

ACCIDENTS = {
    'a library without threads': ('openblas-serial', {}),
    'OPENBLAS_NUM_THREADS=1': ('openblas-pthread', {'OPENBLAS_NUM_THREADS': 1}),
    'OMP_NUM_THREADS=1': ('openblas-openmp', {'OMP_NUM_THREADS': 1}),
    'an affinity of one CPU': ('openblas-openmp', {'before': ONE_CPU}),
    'a thread bound before the library counts CPUs':
        ('openblas-pthread', {'OMP_PROC_BIND': 'close', 'OMP_PLACES': 'cores'}),
}  # fmt: skip
many = pytest.mark.skipif(CPUS < 2, reason='one CPU: one thread is all of them')


@pytest.mark.alone
@many
@pytest.mark.parametrize('variant, accident', ACCIDENTS.values(), ids=ACCIDENTS)
def test_one_thread_in_place_of_all_is_invalid(linked, run, variant, accident):
    status, said, record = run(linked('openblas-openmp'), *SHORT, variant=variant, **accident)
    assert status == 1 and 'threads-idle' in reasons(record), said
    assert f'square: 1 of {record["threads_requested"]} threads worked' in said


@pytest.mark.alone
@many
def test_a_cgroup_of_one_cpu_gives_one_thread_and_two_are_a_lower_bound(linked, run):
    """A quota is noise: all threads work, each for a share of the time."""
    program, two = linked('openblas-openmp'), ['--threads', '2', *SHORT]
    with one_cpu() as enter:
        options = {'variant': 'openblas-openmp', 'before': enter}
        status, said, record = run(program, *SHORT, OMP_NUM_THREADS=1, **options)
        assert status == 0 and record['threads'] == 1, said
        status, said, record = run(program, *two, OMP_NUM_THREADS=2, **options)
        assert status == 0 and record['metrics']['square']['bound'] == 'lower', said
        busy = record['busy']  # of a busy node others took what the quota would have
        throttled = busy.get('throttled_s', 0) > max(0.1, 0.05 * busy['wall_s'])
        assert ('by the CPU quota of the cgroup' in said) == throttled, said
        assert throttled or 'other processes used' in said


@pytest.mark.alone
@many
def test_all_threads_at_work_are_counted_and_no_reason(linked, run):
    """The same line as the accidents', without one."""
    for variant in ('openblas-openmp', 'openblas-pthread'):
        line = '--shape square -n 2000 -t 3'.split()
        record = run(linked('openblas-openmp'), *line, variant=variant)[2]
        counts = [r['threads_worked'] for r in record['shapes']['square']['repetitions']]
        assert sorted(counts)[1] == record['threads_requested'], record['shapes']
        assert 'threads-idle' not in reasons(record)


@pytest.mark.alone
def test_as_many_threads_as_requested_are_enough(linked, run):
    record = run(linked('openblas-openmp'), *SHORT, '--threads', '1', OMP_NUM_THREADS=1)[2]
    assert record['threads_requested'] == 1 and 'threads-idle' not in reasons(record)


# --- whose library was it? -------------------------------------------------------------------


def test_the_record_says_which_library_was_called(linked, run):
    blas = run(linked('openblas-openmp'), *FEW, variant='openblas-serial')[2]['blas']
    assert blas['library'].startswith(blas_here.folder('openblas-serial'))
    assert (blas['family'], blas['threading']) == ('openblas', 'none')
    assert blas['says'].startswith('OpenBLAS')


def test_another_library_than_the_rows_is_wrong(linked, run):
    program = linked('openblas-openmp')
    record = run(program, *FEW, '--library', 'libmkl_sequential', '--allow', TINY)[2]
    assert reasons(record) == {'wrong-library'}
    assert 'libmkl_sequential is not loaded' in detail(record, 'wrong-library')
    expected = '--library libopenblas --threading openmp'.split()
    serial = run(program, *FEW, *expected, variant='openblas-serial')[2]
    assert "uses 'none' threads, not 'openmp'" in detail(serial, 'wrong-library')


def test_kernels_that_the_environment_chose_are_not_the_nodes(linked, run):
    """OPENBLAS_CORETYPE halved a share unnoticed."""
    status, said, record = run(linked('openblas-openmp'), *FEW, OPENBLAS_CORETYPE='Prescott')
    assert status == 1 and 'forced-kernels' in reasons(record)
    assert 'invalid: forced-kernels: OPENBLAS_CORETYPE=Prescott in the environment chose' in said
    assert record['blas']['environment']['OPENBLAS_CORETYPE'] == 'Prescott'


def test_two_libraries_at_once_are_wrong(linked, run):
    other = f'{blas_here.folder("blis-openmp")}/libblis.so.4'
    record = run(linked('openblas-openmp'), *FEW, LD_PRELOAD=other, OPENBLAS_CORETYPE='Nehalem')[2]
    assert 'two loaded libraries' in detail(record, 'wrong-library')
    # a variable of the one that is not called chooses nothing
    assert record['blas']['family'] == 'blis' and 'forced-kernels' not in reasons(record)
