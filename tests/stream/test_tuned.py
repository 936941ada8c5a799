"""Tuned kernels: every variant is right to the bit, names, files and the search hold."""

import functools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest
from places import ROOT
from program_build import harness
from record_schema import check

STREAM = ROOT / 'src' / 'stream'
WARNINGS = ['-Wall', '-Wextra', '-Werror']
CLANG = shutil.which('clang-19') or shutil.which('clang')
ARM = 'aarch64-linux-gnu-gcc'
# what the check of the variants alone needs of the sources
VARIANTS = [
    f'stream/tuned/{name}.c' for name in ('variants', 'variants_run', 'x86', 'neon', 'portable')
]
VARIANTS += ['stream/kernels/kernels.c', 'stream/kernels/expect.c']
VARIANTS += ['stream/kernels/arrays.c']
SMALL = ['-n', '20000', '-t', '3']
KERNELS = ('copy', 'scale', 'add', 'triad')
X86 = platform.machine() == 'x86_64'
# kernel, variant, the anchor that it is compared with, rounds, runs of all variants
WINNER = re.compile(
    r'^membw: tuned (\w+) in .*: (\S+), [\d.]+ x (\S+) in (\d+) rounds, (\d+) runs$', re.M
)


def run(*command, **variables):
    env = {**os.environ, 'OMP_WAIT_POLICY': 'passive', 'OMP_NUM_THREADS': '2', **variables}
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, env=env
    )


@pytest.fixture(scope='module')
def check_of(tmp_path_factory):
    """check_of(cc, element): the check of all variants, with OpenMP; built once."""

    @functools.cache
    def build(cc, element):
        output = tmp_path_factory.mktemp('variants') / 'check'
        return compiled(cc, output, '-fopenmp', f'-DSTREAM_TYPE={element}')

    return build


def compiled(cc, output, *flags):
    """The variants with the check of them, as one program."""
    sources = [ROOT / 'src' / name for name in VARIANTS]
    sources.append(harness(*(flag for flag in flags if flag == '-fopenmp'), cc=cc))
    check = ROOT / 'tests' / 'data' / 'variant_check.c'
    done = run(
        cc, '-O2', '-DLOCAL=', *WARNINGS, *flags, f'-I{STREAM}', check, *sources, '-o', output
    )
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope='session')
def stream(build_program):
    """stream('-D...'): the program, without a warning."""
    return functools.partial(build_program, 'stream', *WARNINGS)


def record_of(program, tmp_path, *options):
    path = tmp_path / 'record.json'
    done = run(program, *SMALL, '--json', path, *options)
    record = json.loads(path.read_text())
    check(record)
    assert record['validation']['ok'] is True, done.stdout
    return done, record


def listed(program):
    """Every name that --list-variants prints, and whether it runs here."""
    lines = run(program, '--list-variants').stdout.splitlines()
    rows = [line.partition(' ') for line in lines if not line.startswith('#')]
    return {name: not rest for name, _, rest in rows}


# --- every variant, every element --------------------------------------------------------------


@pytest.mark.parametrize('cc, element', [('gcc', 'double'), ('gcc', 'float'), (CLANG, 'double')])
def test_every_variant_is_right_at_awkward_sizes_and_addresses(cc, element, check_of):
    if not cc:
        pytest.skip("'clang' is not on the PATH")
    program = check_of(cc, element)
    for threads in ('1', '2'):
        done = run(program, OMP_NUM_THREADS=threads)
        assert done.returncode == 0, done.stdout
        members, checks = (int(done.stdout.split()[i]) for i in (0, 2))
        assert members >= (20 if X86 else 10) and checks > 300 * members


@pytest.mark.parametrize('element', ['double', 'float'])
def test_the_neon_variants_are_right_on_an_emulated_cpu(element, tmp_path, need):
    need(ARM, 'qemu-aarch64')
    program = compiled(ARM, tmp_path / 'check', '-static', '-Wno-unknown-pragmas',
                       f'-DSTREAM_TYPE={element}')  # fmt: skip
    done = run('qemu-aarch64', program)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[0]) > 10


@pytest.mark.parametrize('name', ['stream', 'pingpong', 'dgemm', 'nbody', 'overheads'])
def test_each_program_is_one_file_for_an_arm_compiler_too(name, need):
    """Names of one instruction set's file are visible to all that comes before and behind it."""
    need(ARM)
    line = [ARM, '-O0', '-fopenmp', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', f'{name}.c']
    done = subprocess.run(line, cwd=ROOT / 'src' / name, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


BROKEN = ['leaves-out-the-last', 'writes-one-too-many', 'reads-the-first-stream-twice',
          'forgets-the-factor', 'reads-x-for-y', 'reads-a-word-twice']  # fmt: skip


def test_a_broken_variant_is_caught(check_of):
    done = run(check_of('gcc', 'double'), 'broken', OMP_NUM_THREADS='1')
    caught = {way: int(count) for way, count in map(str.split, done.stdout.splitlines())}
    assert sorted(caught) == sorted(BROKEN) and min(caught.values()) > 0


def test_every_variant_that_runs_here_validates_in_the_program(stream):
    names = [name for name, here in listed(stream()).items() if here]
    assert len(names) > 4
    for number, name in enumerate(names):
        done = run(stream(), '-n', 999 + 2 * number, '-o', number, '-t', 2, '--kernels',
                   name.replace('x1024', 'x512'), OMP_NUM_THREADS='1')  # fmt: skip
        assert done.returncode == 1 and 'Solution Validates' in done.stdout, name


# --- names and files -----------------------------------------------------------------------------


def test_tuned_is_labelled_in_table_and_record(stream, tmp_path):
    name = 'ordinary-any-u8-t0x512-s1'
    done, record = record_of(stream(), tmp_path, '--kernels', name)
    assert 'a STREAM-compatible program; Tuned kernels' in done.stdout
    assert record['kernels_set'] == 'tuned' and record['kernels_from'] == 'name'
    for kernel in KERNELS:
        assert record['kernels'][kernel]['variant'] == name
        assert f'Tuned {kernel:5} = {name}\n' in done.stdout


def test_standard_stays_standard(stream, tmp_path):
    done, record = record_of(stream(), tmp_path, '--kernels', 'standard')
    assert 'Standard kernels' in done.stdout and 'Tuned' not in done.stdout
    assert record['kernels_set'] == 'standard' and record['kernels_from'] is None
    assert {k['variant'] for k in record['kernels'].values()} == {None}


@pytest.mark.parametrize(
    'name',
    ['best', 'nt', 'nt-256-u4-t0-s1', 'nt-256-u4-nonex64-s1', 'ordinary-any-u1-none-s1-b4096',
     'ordinary-any-u1-none-s1s1', 'ordinary-any-u3-none-s1', 'ordinary-any-u1-none-s1-',
     'ordinary-any-u1-none-s1 ', 'ordinary-any-u8-t0x0-s1', 'ordinary-any-u8-t0x99999999-s1', ''],
)  # fmt: skip
def test_a_bad_name_says_what_a_name_is(stream, name):
    done = run(stream(), *SMALL, '--kernels', name)
    assert done.returncode == 2 and done.stdout == ''
    assert done.stderr.startswith(f"membw: '--kernels {name}' is neither standard, tuned")
    assert 'hint: a variant is STORE-WIDTH-uUNROLL' in done.stderr


@pytest.mark.skipif(not X86, reason='compares with the flags that x86 kernels show')
def test_the_width_found_is_the_kernel_s_own_word(stream):
    text = pathlib.Path('/proc/cpuinfo').read_text()
    flags = set(next(line for line in text.splitlines() if line.startswith('flags')).split())
    names = listed(stream())
    assert names['nt-256-u4-none-s1'] == ('avx2' in flags)
    assert names['nt-512-u1-none-s1'] == ('avx512f' in flags)


def test_a_choice_saved_is_run_again_by_its_file(stream, tmp_path):
    file = tmp_path / 'kernels.json'
    done, record = record_of(stream(), tmp_path, '--tune=0.5', '--save-kernels', file)
    chosen = {k: v['variant'] for k, v in record['kernels'].items()}
    assert json.loads(file.read_text())['kernels'] == chosen
    done, again = record_of(stream(), tmp_path, '--kernels', file)
    assert done.stderr == '' and again['kernels_from'] == 'file'
    assert {k: v['variant'] for k, v in again['kernels'].items()} == chosen


def choice(**changes):
    kernels = dict.fromkeys(KERNELS, 'ordinary-any-u1-none-s1') | changes.pop('kernels', {})
    return {'schema': 'membw-kernels-1', 'cpu_model': 'a CPU of another centre',
            'kernels': {k: v for k, v in kernels.items() if v}} | changes  # fmt: skip


def test_a_file_of_another_cpu_warns_and_runs(stream, tmp_path):
    (tmp_path / 'other.json').write_text(json.dumps(choice(), indent=2))
    done, record = record_of(stream(), tmp_path, '--kernels', tmp_path / 'other.json')
    assert "was tuned on 'a CPU of another centre', this is" in done.stderr
    assert record['kernels_set'] == 'tuned'


@pytest.mark.parametrize(
    'text, fact',
    [
        ('', 'is no file of chosen kernels'),
        (json.dumps(choice(schema='membw-record-1')), 'is no file of chosen kernels'),
        (json.dumps(choice(kernels={'add': None})), "names no variant for 'add'"),
        (json.dumps(choice(kernels={'add': 'fast'})), "'fast' is no variant"),
    ],
)
def test_a_bad_file_is_refused(stream, tmp_path, text, fact):
    (tmp_path / 'bad.json').write_text(text)
    done = run(stream(), *SMALL, '--kernels', tmp_path / 'bad.json')
    assert done.returncode == 2 and fact in done.stderr and '\nhint: ' in done.stderr


@pytest.mark.parametrize(
    'options, fact',
    [
        (['--tune=soon'], "invalid value for '--tune': 'soon'"),
        (['--tune=-1'], "invalid value for '--tune': '-1'"),
        (['--tune', '--kernels', 'standard'], 'contradict each other'),
        (['--save-kernels', 'x.json'], 'has nothing to save'),
        (['--tune', '--save-kernels', '/no/such/folder/x.json'], 'cannot write'),
    ],
)
def test_what_makes_no_sense_together_is_refused(stream, options, fact):
    done = run(stream(), *SMALL, *options)
    assert done.returncode == 2 and fact in done.stderr


# --- the search ----------------------------------------------------------------------------------


@pytest.mark.alone
def test_the_search_says_what_won_by_how_much_and_takes_it(stream, tmp_path):
    done, record = record_of(stream(), tmp_path, '--kernels', 'tuned', '--tune=2')
    assert record['kernels_from'] == 'search' and '\r' not in done.stderr
    winners = WINNER.findall(done.stderr)
    assert [kernel for kernel, *_ in winners] == list(KERNELS)
    for kernel, name, anchor, rounds, runs in winners:
        assert name == record['kernels'][kernel]['variant']
        assert anchor.split('-')[0] == name.split('-')[0]  # the same kind of store
        assert 1 <= int(rounds) <= int(runs)


def test_a_kernel_of_a_file_may_stay_standard(stream, tmp_path):
    file = tmp_path / 'mixed.json'
    file.write_text(json.dumps(choice(kernels={'add': 'standard'})))
    done, record = record_of(stream(), tmp_path, '--kernels', file)
    assert record['kernels']['add']['variant'] is None
    assert record['kernels']['triad']['variant'] == 'ordinary-any-u1-none-s1'


# --- the limits ----------------------------------------------------------------------------------

LIMITS = {'read': (1, 1), 'fill': (1, 2), 'fill-nt': (1, 1), 'update': (2, 2)}


@pytest.mark.parametrize('element, size', [('double', 8), ('float', 4)])
def test_the_limits_are_measured_and_right(stream, tmp_path, element, size):
    program = stream(*([] if element == 'double' else ['-DSTREAM_TYPE=float']))
    name = 'ordinary-any-u1-none-s1'
    done, record = record_of(program, tmp_path, '-n', '1000003', '--limits', '--kernels', name)
    limits = record['limits']
    assert limits['ok'] and 'not-validated' not in done.stdout
    for limit, (counted, moved) in LIMITS.items():
        if limit == 'fill-nt' and limits[limit]['width'] is None:
            continue
        assert limits[limit]['bytes_per_element'] == counted * size
        assert limits[limit]['moved_bytes_per_element'] == moved * size
        best = min(limits[limit]['times_s'][1:])
        rate = 1e-6 * counted * size * 1000003 / best
        assert limits[limit]['best_mbs'] == pytest.approx(rate)
    triad = limits['of_limits']['triad']
    moved = record['kernels']['triad']['best_mbs'] / 3 * 4 / 1000
    assert triad['moved_gbs'] == pytest.approx(moved)
    read = limits['read']['best_mbs'] / 1000
    assert triad['share_of_read'] == pytest.approx(moved / read)
    assert f'Tuned triad moves {moved:.1f} GB/s' in done.stdout
