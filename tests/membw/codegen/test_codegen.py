"""What the compiler made of a kernel is read off the program, whoever compiled it and how."""

import json
import subprocess

import arithmetic_flips
import pytest
from clang_here import CLANG, skip_without

from membw.codegen.kernels import STREAM, brief, read_kernels
from membw.errors import MembwError

KERNELS = 'src/stream/kernels/kernels.c'
ARM = 'aarch64-linux-gnu-gcc'


@pytest.fixture(scope='module')
def built(root, need, tmp_path_factory):
    """built('gcc', '-O2'): kernels.c, or another source, as a shared object."""
    folder = tmp_path_factory.mktemp('codegen')

    def build(compiler, *flags, source=KERNELS):
        out = folder / f'{abs(hash((compiler, flags, source)))}.so'
        skip_without(compiler, flags)
        if not out.exists():
            line = [need(compiler), *flags, '-shared', '-fPIC', root / source, '-o', out]
            subprocess.run(line, check=True, timeout=300)
        return str(out)

    return build


WIDE = ('-O3', '-march=skylake-avx512', '-mprefer-vector-width=512')


@pytest.mark.parametrize('compiler, flags, bits', [
    ('gcc', ('-O2',), 64), ('gcc', ('-O3',), 128), ('gcc', ('-O3', '-march=haswell'), 256),
    ('gcc', WIDE, 512), (CLANG, ('-O2',), 128), (CLANG, ('-O3', '-march=haswell'), 256),
    (CLANG, WIDE, 512), (ARM, ('-O2',), 64),
    (ARM, ('-O3', '-march=armv8-a+sve'), 0),  # as wide as the CPU's registers
])  # fmt: skip
def test_the_width_is_that_of_the_flags(built, compiler, flags, bits):
    kernels = read_kernels(built(compiler, *flags, '-fopenmp'))
    assert list(kernels) == ['copy', 'scale', 'add', 'triad']
    found = {name: (k['stores'], k['width_bits']) for name, k in kernels.items() if name != 'copy'}
    assert found == dict.fromkeys(('scale', 'add', 'triad'), ('ordinary', bits))


@pytest.mark.parametrize('compiler', ['gcc', CLANG, ARM])
@pytest.mark.parametrize('optimised', ['-O2', '-O3'])
def test_copy_is_memcpy_unless_the_program_is_freestanding(built, compiler, optimised):
    copy = read_kernels(built(compiler, optimised, '-fopenmp'))['copy']
    assert copy['stores'] == 'call' and copy['calls'][0] in ('memcpy', 'memmove')
    assert copy['width_bits'] is None
    copy = read_kernels(built(compiler, optimised, '-fopenmp', '-ffreestanding'))['copy']
    assert (copy['stores'], copy['calls']) == ('ordinary', [])


@pytest.mark.parametrize('how', ['-static', '-no-pie', '-fno-plt', '-fcf-protection', '-flto'])
def test_memcpy_is_found_however_the_program_is_linked(build_program, tmp_path, how):
    if how == '-flto':  # renames functions
        program = build_program('stream', '-O2', how)
    else:
        program = arithmetic_flips.built('gcc', ['-O2', how], 'double', tmp_path)
    kernels = read_kernels(str(program))
    assert kernels['copy']['calls'][0] in ('memcpy', 'memmove')
    assert (kernels['triad']['stores'], kernels['triad']['width_bits']) == ('ordinary', 64)


def test_the_place_of_a_loop_in_its_line_is_that_of_the_flags(built):
    """One that calls memcpy has none."""
    kernels = read_kernels(built('gcc', '-O2', '-fopenmp', '-falign-loops=64'))
    assert [kernels[name]['loop_offset'] for name in STREAM] == [None, 0, 0, 0]
    kernels = read_kernels(built('gcc', '-O2', '-fopenmp', '-fno-align-loops'))
    assert any(kernels[name]['loop_offset'] % 16 for name in STREAM[1:])


def test_a_loop_that_cannot_be_decoded_is_not_known(need, tmp_path):
    """As of a CPU that is newer than the disassembler: the rest is not the loop."""
    code, program = tmp_path / 'kernels.c', tmp_path / 'kernels.so'
    code.write_text(
        'void kernel_triad(double *a, long n) {\n'
        'for (long i = 0; i < n; i++) { a[i] = i; __asm__(".byte 0x0f, 0x04"); }\n}\n'
    )
    subprocess.run([need('gcc'), '-O2', '-shared', '-fPIC', code, '-o', program], check=True)
    assert read_kernels(str(program))['triad']['stores'] == 'not known'


# source and function below tests/data: compiler, kind, bits
KINDS = {
    'stores.c stream_128': ('gcc', 'nontemporal', 128),
    'stores.c stream_256': ('gcc', 'nontemporal', 256),
    'stores.c stream_512': ('gcc', 'nontemporal', 512),
    'stores.c integers': ('gcc', 'nontemporal', 64),
    'stores.c both': ('gcc', 'mixed', 128),
    'stores.c string': ('gcc', 'string', None),
    'stores.c update': ('gcc', 'ordinary', 64),
    'stores.c only_read': ('gcc', 'none', None),
    'stores.c fill': ('gcc', 'ordinary', 64),
    'stores.c line_up_then_stream': ('gcc', 'nontemporal', 128),
    'stores_aarch64.c pairs': (ARM, 'nontemporal', 128),
    # they are not read: fcc -Kzfill on A64FX, memset of libc
    'stores_zeroed.c zeroed': (ARM, 'zeroed', 64),
}


@pytest.mark.parametrize('where', KINDS)
def test_each_kind_of_store_is_recognised(built, where):
    compiler, stores, bits = KINDS[where]
    source, function = where.split()
    found = read_kernels(built(compiler, '-O2', source=f'tests/data/{source}'), [function])
    assert (found[function]['stores'], found[function]['width_bits']) == (stores, bits)


# function of tests/data/intel_runtime.c: kind of store, what it calls
INTEL = {
    'fast': ('call', '_intel_fast_memcpy'),
    'avx_rep': ('call', '__intel_avx_rep_memcpy'),
    'streamed_256': ('nontemporal', '__libirc_nontemporal_store_256'),
    'chosen': ('call', '__libirc_nontemporal_store_dynamic_512'),
    'with_a_rest': ('mixed', '__libirc_nontemporal_store_256'),
}


def test_the_runtime_of_intel_is_known_by_its_names(root, need, tmp_path):
    line = [need('gcc'), '-O2', '-fPIC', '-fno-builtin', root / 'tests/data/intel_runtime.c']
    library = tmp_path / 'libirc.so'
    subprocess.run([*line, '-shared', '-DLIBRARY', '-o', library], check=True)
    program = tmp_path / 'kernels.so'
    subprocess.run([*line, '-shared', '-L', tmp_path, '-lirc', '-o', program], check=True)
    kernels = read_kernels(str(program), list(INTEL))
    assert {n: (k['stores'], k['calls'][0]) for n, k in kernels.items()} == INTEL


def kernel(stores='ordinary', bits=64, calls=()):
    return {'stores': stores, 'width_bits': bits, 'calls': list(calls)}


@pytest.mark.parametrize('text, kernels', [
    ('memcpy/64', [kernel('call', None, ['memcpy'])] + [kernel()] * 3),
    ('512', [kernel(bits=512)] * 4), ('256nt', [kernel('nontemporal', 256)] * 4),
    ('64z', [kernel('zeroed')]), ('64/64/64/mixed', [kernel()] * 3 + [kernel('mixed')]),
])  # fmt: skip
def test_a_row_of_the_table_says_it_in_a_word(text, kernels):
    assert brief(dict(enumerate(kernels))) == text


def refusal(path, names=()):
    with pytest.raises(MembwError) as caught:
        read_kernels(str(path), names)
    return f'{caught.value}\n{caught.value.hint}'


def test_what_cannot_be_read_is_refused_with_the_reason(built, tmp_path, need):
    assert 'No such file' in refusal(tmp_path / 'nothing')
    program = built('gcc', '-O2', '-fopenmp')
    subprocess.run([need('strip'), '-o', tmp_path / 'bare', program], check=True)
    assert 'is stripped' in refusal(tmp_path / 'bare')
    (tmp_path / 'cut').write_bytes(open(program, 'rb').read()[:3000])
    assert 'damaged' in refusal(tmp_path / 'cut')
    other = built('gcc', '-O2', source='tests/data/stores.c')
    assert 'no function of any kernel' in refusal(other) and '--kernel' in refusal(other)
    assert "no function of 'quad'" in refusal(program, ['quad'])


def test_the_command_prints_a_table_and_json(membw, built):
    program = built('gcc', '-O3', '-march=haswell', '-fopenmp')
    status, out, _ = membw('codegen', program)
    assert status == 0 and ['triad', 'ordinary', '256'] in [
        x.split()[:3] for x in out.splitlines()
    ]
    _, out, _ = membw('codegen', program, '--json', '--kernel', 'triad')
    (row,) = json.loads(out)['tables'][0]['rows']
    assert row['kernel'] == 'triad'
    status, _, err = membw('codegen', '/dev/null')
    assert status == 2 and err.startswith('membw: ') and 'hint: ' in err
