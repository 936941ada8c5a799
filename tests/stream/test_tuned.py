"""Tuned kernels: every variant is right to the bit; names, files and --tune."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
from functools import partial

import pytest
from changed_source import narrow_registers
from places import ROOT
from program_build import harness
from record_schema import check

STREAM = ROOT / 'src/stream'
WARNINGS = ['-Wall', '-Wextra', '-Werror']
CLANG = shutil.which('clang-19') or shutil.which('clang')
ARM = 'aarch64-linux-gnu-gcc'
# what the check of the variants alone needs of the sources
VARIANTS = [
    f'tuned/{name}.c' for name in ('variants', 'variants_run', 'x86', 'sve', 'neon', 'portable')
]
VARIANTS += ['kernels/kernels.c', 'kernels/expect.c', 'kernels/arrays.c']
SMALL = ['-n', '20000', '-t', '3']
KERNELS = ('copy', 'scale', 'add', 'triad')
X86 = platform.machine() == 'x86_64'
PLAIN = 'ordinary-any-u1-none-s1'


def run(*command, **variables):
    env = {**os.environ, 'OMP_WAIT_POLICY': 'passive', 'OMP_NUM_THREADS': '2', **variables}
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, env=env
    )


def compiled(cc, output, *flags):
    """The variants with the check of them, as one program."""
    sources = [STREAM / name for name in VARIANTS]
    sources.append(harness(*(flag for flag in flags if flag == '-fopenmp'), cc=cc))
    line = [cc, '-O2', '-DLOCAL=', *WARNINGS, *flags, f'-I{STREAM}']
    done = run(*line, ROOT / 'tests/data/variant_check.c', *sources, '-o', output)
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope='session')
def stream(build_program):
    """stream(): the program, without a warning."""
    return partial(build_program, 'stream', *WARNINGS)


def record_of(program, tmp_path, *options):
    path = tmp_path / 'record.json'
    done = run(program, *SMALL, '--json', path, *options)
    record = check(json.loads(path.read_text()))
    assert record['validation']['ok'] is True, done.stdout
    return done, record


def listed(program):
    """{name: whether it runs here} of --list-variants."""
    lines = run(program, '--list-variants').stdout.splitlines()
    rows = [line.partition(' ') for line in lines if not line.startswith('#')]
    return {name: not rest for name, _, rest in rows}


@pytest.mark.parametrize('cc, element', [('gcc', 'float'), (CLANG, 'double')])
def test_every_variant_is_right_at_awkward_sizes_and_addresses(cc, element, tmp_path):
    if not cc:
        pytest.skip("'clang' is not on the PATH")
    program = compiled(cc, tmp_path / 'check', '-fopenmp', f'-DSTREAM_TYPE={element}')
    for threads in ('1', '2'):
        done = run(program, OMP_NUM_THREADS=threads)
        assert done.returncode == 0, done.stdout
        members, checks = (int(done.stdout.split()[i]) for i in (0, 2))
        assert members >= (20 if X86 else 10) and checks > 300 * members


@pytest.fixture(scope='module', params=['gcc-double', 'clang-float'])
def on_arm(request, tmp_path_factory, need):
    """The check of the variants, for any CPU of Arm."""
    compiler, _, element = request.param.partition('-')
    cc = need(ARM)
    flags = ['-static', '-Wno-unknown-pragmas', f'-DSTREAM_TYPE={element}']
    if compiler == 'clang':
        cc = tmp_path_factory.mktemp('cc') / 'clang'
        cc.write_text(f'#!/bin/sh\nexec {need(CLANG)} --target=aarch64-linux-gnu "$@"\n')
        cc.chmod(0o755)
    return compiled(str(cc), tmp_path_factory.mktemp('arm') / 'check', *flags)


ON_ARM = [('gcc-double', size) for size in (16, 32, 64)]
ON_ARM += [('clang-float', size) for size in (0, 64)]


@pytest.mark.parametrize('on_arm, sve_bytes', ON_ARM, indirect=['on_arm'])
def test_arms_variants_are_right_on_an_emulated_cpu(on_arm, sve_bytes, need):
    cpu = f'max,sve-default-vector-length={sve_bytes}' if sve_bytes else 'max,sve=off'
    done = run(need('qemu-aarch64'), '-cpu', cpu, on_arm)
    assert done.returncode == 0, done.stdout
    neon, sve = 30, 8
    assert int(done.stdout.split()[0]) == 4 + neon + sve * (sve_bytes > 0)


def test_the_variants_of_sve_are_what_their_names_say(on_arm, need):
    words = [need('aarch64-linux-gnu-objdump'), '-d', '--no-show-raw-insn', on_arm]
    text = run(*words).stdout
    for store, move in (('nt', 'stnt1'), ('ordinary', 'st1')):
        loop = text.split(f'<tuned_triad_{store}_sve_u4_t0_s1>:')[1].split('\tret')[0]
        assert re.findall(r'\t(\w+)[dw]\t{z', loop) == 4 * ['ld1', 'ld1', move]
        assert len(re.findall(r'\tprfd\tpldl1keep', loop)) == 2 * 4


def test_a_named_variant_is_labelled_in_table_and_record(stream, tmp_path):
    name = 'ordinary-any-u8-t0x512-s1'
    done, record = record_of(stream(), tmp_path, '--kernels', name)
    assert 'a STREAM-compatible program; Tuned kernels' in done.stdout
    assert (record['kernels_set'], record['kernels_from']) == ('tuned', 'name')
    for kernel in KERNELS:
        assert record['kernels'][kernel]['variant'] == name
        assert f'Tuned {kernel:5} = {name}\n' in done.stdout


@pytest.mark.parametrize('name', ['best', 'nt', 'ordinary-any-u3-none-s1', f'{PLAIN}-', ''])
def test_a_bad_name_is_refused_with_the_grammar(stream, name):
    done = run(stream(), *SMALL, '--kernels', name)
    assert done.returncode == 2 and done.stdout == ''
    assert done.stderr.startswith(f"membw: '--kernels {name}' is neither standard, tuned")
    assert 'hint: a variant is STORE-WIDTH-uUNROLL' in done.stderr


@pytest.mark.skipif(not X86, reason='registers of x86-64')
def test_a_variant_wider_than_the_registers_is_refused_and_never_chosen(stream, tmp_path):
    program = stream(changes=narrow_registers(128))
    names = listed(program)
    assert names['nt-128-u4-none-s1'] and not names['nt-256-u4-none-s1']
    done = run(program, *SMALL, '--kernels', 'nt-256-u4-none-s1')
    said = "variant 'nt-256-u4-none-s1' is not supported on this CPU"
    assert done.returncode == 2 and said in done.stderr
    done, record = record_of(program, tmp_path, '--tune=0.4')
    chosen = [kernel['variant'] for kernel in record['kernels'].values()]
    assert not [name for name in chosen if '-256-' in name or '-512-' in name]


@pytest.mark.skipif(not X86, reason='compares with the flags that x86 kernels show')
def test_the_width_of_the_registers_is_that_of_proc_cpuinfo(stream):
    text = pathlib.Path('/proc/cpuinfo').read_text()
    flags = set(next(line for line in text.splitlines() if line.startswith('flags')).split())
    names = listed(stream())
    assert names['nt-256-u4-none-s1'] == ('avx2' in flags)
    assert names['nt-512-u1-none-s1'] == ('avx512f' in flags)


def test_tune_keeps_one_variant_of_each_kernel_and_a_file_repeats_it(stream, tmp_path):
    file = tmp_path / 'kernels.json'
    done, record = record_of(stream(), tmp_path, '--tune=0.5', '--save-kernels', file)
    chosen = {k: v['variant'] for k, v in record['kernels'].items()}
    said = re.findall(r'^membw: tuned (\w+): (\S+), the best of \d+ ', done.stderr, re.M)
    assert dict(said) == chosen == json.loads(file.read_text())['kernels']
    assert record['kernels_from'] == 'search'
    done, again = record_of(stream(), tmp_path, '--kernels', file)
    assert done.stderr == '' and again['kernels_from'] == 'file'
    assert {k: v['variant'] for k, v in again['kernels'].items()} == chosen


def test_tune_finds_a_variant_that_is_really_faster(stream, tmp_path):
    timed = 'return clock_now() - start;'
    late = 'while (variant->compiled->unroll != 4 && clock_now() < start + 0.002) continue;'
    program = stream(changes=[('stream/search/tune.c', timed, f'{late}\n{timed}')])
    done, record = record_of(program, tmp_path, '--tune=2')
    assert {v['variant'].split('-')[2] for v in record['kernels'].values()} == {'u4'}


def choice(**changes):
    kernels = dict.fromkeys(KERNELS, PLAIN) | changes.pop('kernels', {})
    named = {k: v for k, v in kernels.items() if v}
    return json.dumps({'schema': 'membw-kernels-1', 'kernels': named} | changes)


@pytest.mark.parametrize(
    'text, fact',
    [
        ('', 'is not a file of --save-kernels'),
        (choice(schema='membw-record-1'), 'is not a file of --save-kernels'),
        (choice(kernels={'add': None}), "has no variant for 'add'"),
        (choice(kernels={'add': 'fast'}), "'fast' is no variant"),
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
        (['--tune', '--kernels', 'standard'], 'contradict each other'),
        (['--save-kernels', 'x.json'], 'has nothing to save'),
        (['--tune', '--save-kernels', '/no/such/folder/x.json'], 'cannot write'),
    ],
)
def test_options_that_contradict_each_other_are_refused(stream, options, fact):
    done = run(stream(), *SMALL, *options)
    assert done.returncode == 2 and fact in done.stderr
