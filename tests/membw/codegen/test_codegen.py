"""What the compiler made of a kernel is read off the program, whoever compiled it and how."""

import json
import subprocess

import arithmetic_flips
import pytest

from membw.codegen import elf, facts, stored
from membw.codegen.read_program import read
from membw.errors import MembwError

KERNELS = 'src/stream/kernels/kernels.c'
STORES = 'tests/data/stores.c'
ARM_STORES = 'tests/data/stores_aarch64.c'


@pytest.fixture(scope='module')
def built(root, need, tmp_path_factory):
    """built('gcc', '-O2'): kernels.c, or another source, as a shared object."""
    folder = tmp_path_factory.mktemp('codegen')

    def build(compiler, *flags, source=KERNELS):
        out = folder / f'{abs(hash((compiler, flags, source)))}.so'
        if not out.exists():
            line = [need(compiler), *flags, '-shared', '-fPIC', root / source, '-o', out]
            subprocess.run(line, check=True, timeout=300)
        return out

    return build


@pytest.fixture(scope='module')
def clang(need):
    """clang, under whatever name it is here."""
    import shutil

    return 'clang' if shutil.which('clang') else need('clang-19') and 'clang-19'


def brief(found):
    return found['stores'], found['width_bits'], found['unroll']


WIDE = ('-O3', '-march=skylake-avx512', '-mprefer-vector-width=512')
# compiler, flags: (kind, bits, stores an iteration) of scale, fma in triad
OF_FLAGS = [
    ('gcc', ('-O0',), ('ordinary', 64, 1), False),
    ('gcc', ('-O2',), ('ordinary', 64, 1), False),
    ('gcc', ('-O3',), ('ordinary', 128, 1), False),
    ('gcc', ('-O3', '-march=haswell'), ('ordinary', 256, 1), True),
    ('gcc', WIDE, ('ordinary', 512, 1), True),
    ('gcc', ('-O2', '-funroll-loops'), ('ordinary', 64, 8), False),
    ('gcc-11', ('-O3', '-march=haswell'), ('ordinary', 256, 1), True),
    ('clang', ('-O2',), ('ordinary', 128, 2), False),
    ('clang', ('-O3', '-march=haswell', '-ffp-contract=off'), ('ordinary', 256, 4), False),
    ('clang', ('-O3', '-march=haswell'), ('ordinary', 256, 4), True),
    ('clang', WIDE, ('ordinary', 512, 4), True),
]


@pytest.mark.parametrize('openmp', ['-fopenmp', '-fno-openmp'])
@pytest.mark.parametrize('compiler, flags, shape, fma', OF_FLAGS)
def test_width_and_unrolling_are_what_the_flags_ask_for(
    built, clang, compiler, flags, shape, fma, openmp
):
    compiler = clang if compiler == 'clang' else compiler
    kernels = read(built(compiler, *flags, openmp))['kernels']
    assert list(kernels) == ['copy', 'scale', 'add', 'triad']
    for name in ('scale', 'add', 'triad'):
        assert brief(kernels[name]) == shape, (name, kernels[name]['loop'])
        assert not kernels[name]['note']
    assert [kernels[name]['fma'] for name in ('scale', 'add', 'triad')] == [False, False, fma]


@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_copy_is_memcpy_unless_the_program_is_freestanding(built, clang, compiler):
    compiler = clang if compiler == 'clang' else compiler
    for optimised in ('-O2', '-O3'):
        copy = read(built(compiler, optimised, '-fopenmp'))['kernels']['copy']
        assert copy['stores'] == 'libc' and copy['calls'][0] in ('memcpy', 'memmove')
        assert copy['counted_bytes'] == 16
        assert copy['moved_bytes'] is copy['write_allocate_factor'] is copy['width_bits'] is None
    copy = read(built(compiler, '-O2', '-fopenmp', '-ffreestanding'))['kernels']['copy']
    assert copy['stores'] == 'ordinary' and copy['calls'] == []
    assert copy['moved_bytes'] == 24


@pytest.mark.parametrize('how', ['-static', '-no-pie', '-fno-plt', '-fcf-protection', '-flto'])
def test_memcpy_is_found_however_the_program_is_linked(build_program, tmp_path, how):
    """The kernels with a main of the tests'; optimized at link time, which renames them, all of
    the program."""
    if how == '-flto':
        program = build_program('stream', '-O2', how)
    else:
        program = arithmetic_flips.built('gcc', ['-O2', how], 'double', tmp_path)
    kernels = read(program)['kernels']
    assert kernels['copy']['calls'][0] in ('memcpy', 'memmove')
    assert brief(kernels['triad']) == ('ordinary', 64, 1)


def test_write_allocate_makes_24_of_16_and_32_of_24(built):
    kernels = read(built('gcc', '-O2', '-fopenmp', '-ffreestanding'))['kernels']
    found = {
        name: (k['counted_bytes'], k['moved_bytes'], k['write_allocate_factor'])
        for name, k in kernels.items()
    }
    two, three = (16, 24, 1.5), (24, 32, 1.333)
    assert found == {'copy': two, 'scale': two, 'add': three, 'triad': three}


# function: (kind, bits, stores an iteration), factor
KINDS = {
    'stream_128': (('nontemporal', 128, 2), 1),
    'stream_256': (('nontemporal', 256, 1), 1),
    'stream_512': (('nontemporal', 512, 1), 1),
    'integers': (('nontemporal', 64, 1), 1),
    'both': (('mixed', 128, 2), None),
    'string': (('string', None, None), None),
    'update': (('ordinary', 64, 1), 1),
    'only_read': (('none', 64, 1), 1),
    'fill': (('ordinary', 64, 1), 2),
    'rbp_is_no_frame': (('nontemporal', 128, 1), 1),
    'line_up_then_stream': (('nontemporal', 128, 2), 1),
}


@pytest.mark.parametrize('function', KINDS)
def test_each_kind_of_store_is_told_from_the_others(built, function):
    shape, factor = KINDS[function]
    found = read(built('gcc', '-O2', source=STORES), [function])['kernels'][function]
    assert brief(found) == shape, found['loop']
    assert found['write_allocate_factor'] == factor


def test_clang_says_the_same_of_intrinsics(built, clang):
    found = read(built(clang, '-O1', source=STORES), ['stream_256', 'both'])['kernels']
    assert [k['stores'] for k in found.values()] == ['nontemporal', 'mixed']


def test_a_prefetch_is_told_with_its_distance(built):
    kernels = read(built('gcc', '-O2', source=STORES), ['stream_128', 'stream_256'])['kernels']
    assert kernels['stream_128']['prefetches'] == [{'kind': 'prefetcht0', 'bytes_ahead': 1024}]
    assert kernels['stream_256']['prefetches'] == []


ARM = 'aarch64-linux-gnu-gcc'


@pytest.mark.parametrize(
    'flags, bits, scalable',
    [(('-O2',), 64, False), (('-O3',), 128, False), (('-O3', '-march=armv8-a+sve'), 128, True)],
)
def test_aarch64_is_read_as_well(built, flags, bits, scalable):
    found = read(built(ARM, *flags, '-fopenmp'))
    assert found['machine'] == 'aarch64'
    assert found['kernels']['copy']['calls'] == ['memmove']
    triad = found['kernels']['triad']
    assert (triad['stores'], triad['width_bits'], triad['scalable']) == (
        'ordinary',
        bits,
        scalable,
    )
    assert triad['fma'] and triad['write_allocate_factor'] == 1.333


def test_aarch64_has_non_temporal_pairs(built):
    found = read(built(ARM, '-O2', source=ARM_STORES), ['pairs'])['kernels']['pairs']
    assert brief(found) == ('nontemporal', 128, 2)
    assert found['prefetches'] == [{'kind': 'prfm pldl1strm', 'bytes_ahead': 512}]


def kernel(stores='ordinary', bits=64, calls=()):
    return {'stores': stores, 'width_bits': bits, 'calls': list(calls)}


BRIEF = [
    ([kernel('libc', None, ['memcpy'])] + [kernel()] * 3, 'memcpy/64'),
    ([kernel(bits=512)] * 4, '512'),
    ([kernel('nontemporal', 256)] * 4, '256nt'),
    ([kernel(), kernel(), kernel(), kernel('mixed')], '64/64/64/mixed'),
    ([kernel('string', None)] + [kernel(bits=128)] * 3, 'string/128'),
]


@pytest.mark.parametrize('kernels, text', BRIEF)
def test_a_row_of_the_table_says_it_in_a_word(kernels, text):
    assert stored.brief(dict(enumerate(kernels))) == text


def test_a_build_that_cannot_be_read_says_why(tmp_path):
    (tmp_path / 'stream').write_text('#!/bin/sh\n')
    kernels, why = stored.read(tmp_path / 'stream', tmp_path)
    assert kernels == {} and 'is not an ELF program' in why


def refusal(path, names=None):
    with pytest.raises(MembwError) as caught:
        read(path, names)
    return f'{caught.value}\n{caught.value.hint}'


def test_what_cannot_be_read_is_refused_with_the_reason(built, tmp_path, need):
    script = tmp_path / 'script'
    script.write_text('#!/bin/sh\n')
    assert 'is not an ELF program' in refusal(script)
    assert 'No such file' in refusal(tmp_path / 'nothing')
    assert 'Is a directory' in refusal(tmp_path)
    program = built('gcc', '-O2', '-fopenmp')
    bare = tmp_path / 'bare'
    subprocess.run([need('strip'), '-o', bare, program], check=True)
    assert 'is stripped' in refusal(bare)
    cut = tmp_path / 'cut'
    cut.write_bytes(program.read_bytes()[:3000])
    assert 'is damaged' in refusal(cut)
    other = built('gcc', '-O2', source=STORES)
    assert 'no function of any kernel' in refusal(other) and '--kernel' in refusal(other)
    assert "no function of 'quad'" in refusal(program, ['quad'])
    whole = tmp_path / 'object.o'
    subprocess.run([need('gcc'), '-c', '-x', 'c', '-', '-o', whole], input=b'int x;', check=True)
    assert 'is an object file' in refusal(whole)


def test_the_command_prints_a_table_and_json(call, built):
    program = built('gcc', '-O3', '-march=haswell', '-fopenmp')
    done = call('membw', 'codegen', program, '--listing')
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ['triad', 'ordinary', '256', '1', 'yes', '-', '24', '32', '1.333'] in rows
    assert 'vmovupd ymmword ptr' in done.stdout
    done = call('membw', 'codegen', program, '--json', '--kernel', 'triad')
    found = json.loads(done.stdout)
    assert list(found['kernels']) == ['triad'] and found['schema'] == 'membw-codegen-1'
    done = call('membw', 'codegen', '/dev/null')
    assert done.returncode == 2 and done.stderr.startswith('membw: ') and 'hint: ' in done.stderr


# --- Intel's runtime -----------------------------------------------------------------------------

# function: kind of store, its width, factor, what it calls
INTEL = {
    'fast': ('intel', None, None, '_intel_fast_memcpy'),
    'avx_rep': ('intel', None, None, '__intel_avx_rep_memcpy'),
    'streamed': ('nontemporal', None, 1, '__libirc_nontemporal_store'),
    'streamed_256': ('nontemporal', 256, 1, '__libirc_nontemporal_store_256'),
    'chosen': ('intel', None, None, '__libirc_nontemporal_store_dynamic_512'),
    'with_a_rest': ('mixed', 256, None, '__libirc_nontemporal_store_256'),
}


@pytest.fixture(scope='module', params=['shared', 'static'])
def of_intel(request, root, need, tmp_path_factory):
    """A program of kernels that call a stand-in of Intel's runtime, by its real names."""
    folder = tmp_path_factory.mktemp('intel')
    source, out = root / 'tests/data/intel_runtime.c', folder / 'kernels.so'
    line = [need('gcc'), '-O2', '-fPIC', '-fno-builtin', source]
    if request.param == 'shared':
        subprocess.run([*line, '-shared', '-DLIBRARY', '-o', folder / 'libirc.so'], check=True)
        rest = ['-shared', '-L', folder, '-lirc']
    else:
        subprocess.run([*line, '-c', '-DLIBRARY', '-o', folder / 'irc.o'], check=True)
        rest = ['-shared', folder / 'irc.o', '-Wl,-Bsymbolic']
    subprocess.run([*line, *rest, '-o', out], check=True)
    program = elf.Program(out)
    return {name: facts.read_kernel(program, name, 'copy') for name in INTEL}


@pytest.mark.parametrize('function', INTEL)
def test_the_runtime_of_intel_is_known_by_its_names(of_intel, function):
    kind, bits, factor, called = INTEL[function]
    found = of_intel[function]
    assert (found['stores'], found['width_bits'], found['calls']) == (kind, bits, [called])
    assert found['write_allocate_factor'] == factor
    assert called in found['note'] or kind == 'mixed'
    assert ('libc' in found['note']) is False
    assert ("Intel's runtime chooses" in found['note']) == (kind == 'intel')


def test_a_row_says_intels_memcpy_by_its_name():
    rows = {'copy': kernel('intel', None, ['_intel_fast_memcpy']), 'triad': kernel('nontemporal')}
    assert stored.brief(rows) == '_intel_fast_memcpy/64nt'
