"""The table of presets: the founding lines word by word, and what a wrong table says."""

import os
import shutil
import subprocess
import sys

import pytest
import yaml
from clang_here import CLANG
from standin import BANNERS, BUILD_TOOLS, DEPRECATED, StandIn, answers

from membw import presets
from membw.codegen.elf import code_sha256
from membw.presets import build

TABLE = presets.load()
GOOD = {
    'machines': ['x86_64'],
    'families': {'gcc': TABLE['families']['gcc']},
    'presets': {'gcc-o2': TABLE['presets']['gcc-o2']},
}


# code for a device is OpenMP's: such a row without it is none
@pytest.mark.parametrize(
    'preset', [name for name, row in TABLE['presets'].items() if 'offload' not in row['features']]
)
def test_a_build_without_openmp_has_no_openmp_option(preset):
    options = presets.flags(preset, '--no-openmp', '--libhugetlbfs=/x')
    assert not [word for word in options if 'openmp' in word]
    assert presets.flags(preset, '--libhugetlbfs=/x') != options


def test_macros_come_in_the_order_given_and_extra_options_last():
    words = ('--define=B=5', '--define=A=float', "--extra=-g '-DT=a b'")
    assert presets.flags('gcc-o3', *words)[2:] == ['-DB=5', '-DA=float', '-g', '-DT=a b']
    with pytest.raises(presets.PresetError, match='LIBHUGETLBFS=PATH'):  # the way out
        presets.flags('icc13-knc-huge')


NO_LIBRARY = "ERROR: ld.so: object '/opt/libx.so.1.2' from LD_PRELOAD cannot be preloaded."


VERSIONS = {
    'icc': '2021.10', 'icc13': '13.1.3', 'icx': '2024.2.1', 'nvc': '24.5', 'cce': '15.0.1',
    'armclang': '23.10', 'atfl': '22.1.0', 'fcc': '4.8.1', 'aocc': '5.0.0',
}  # fmt: skip
ROCM = 'AMD clang version 19.0.0git (https://github.com/RadeonOpenCompute/llvm-project roc-6.4.1)'


@pytest.mark.parametrize('name, banner, kind, macros, family', [
    ('gcc', 'gcc (Debian 12.2.0-14+deb12u1) 12.2.0', 'gcc', '12.2.0', 'gcc'),
    ('gcc', 'gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-4)', 'gcc', '8.5.0', 'gcc'),
    ('gcc', 'x86_64-conda-linux-gnu-cc (conda-forge gcc 13.2.0-3) 13.2.0', 'gcc', '13.2.0', 'gcc'),
    ('gcc', 'gcc (crosstool-NG 1.25.0) 12.1.0', 'gcc', '12.1.0', 'gcc'),
    ('gcc', f'{NO_LIBRARY}\ngcc (GCC) 14.2.0', 'gcc', '14.2.0', 'gcc'),
    ('gfortran', 'GNU Fortran (Debian 12.2.0-14) 12.2.0', 'gcc', '12.2.0', 'gfortran'),
    ('clang', 'Debian clang version 19.1.7 (3~deb12u1)', 'clang', '19.1.7', 'clang'),
    ('clang', ROCM, 'clang', '19.0.0', 'clang'),
    ('clang', 'AMD clang version 17.0.0 (https://github.com/RadeonOpenCompute)', 'clang', '17.0.0',
     'clang'),
    ('clang', 'BiSheng Enterprise 4.2.0 clang version 17.0.6', 'clang', '17.0.6', 'clang'),
    ('cc', 'IBM Open XL C/C++ for Linux on Power 17.1.1, 5725-C73, 15.0.0', 'clang', '15.0.0',
     'clang'),
    ('cc', 'a name that nobody has thought of', 'clang', '21.1.0', 'clang'),
    ('cc', BANNERS['cce'], 'cce', '', 'cce'), ('fcc', BANNERS['fcc'], 'fcc', '', 'fcc'),
    ('icc', f'{DEPRECATED}\n{BANNERS["icc"]}', 'icc', '', 'icc'),
    ('icc', BANNERS['icc13'], 'icc13', '', 'icc13'), ('icx', BANNERS['icx'], 'icx', '', 'icx'),
    ('clang', BANNERS['aocc'], 'aocc', '', 'aocc'), ('nvc', BANNERS['nvc'], 'nvc', '', 'nvc'),
    ('armclang', BANNERS['armclang'], 'armclang', '', 'armclang'),
    ('armclang', BANNERS['atfl'], 'atfl', '', 'atfl'),
    ('gcc', 'A new compiler, version 1.0', '', '', None), ('gcc', '', '', '', None),
])  # fmt: skip
def test_a_compiler_is_known_by_its_macros(
    tmp_path, monkeypatch, name, banner, kind, macros, family
):
    """Whatever it prints, and whatever stands before it: the line of the record is its own."""
    says = answers(kind, macros) if kind else ''
    (tmp_path / name).write_text(f'#!/bin/sh\n{says}cat >&2 <<"END"\n{banner}\nEND\n')
    (tmp_path / name).chmod(0o755)
    for tool in BUILD_TOOLS:
        (tmp_path / tool).symlink_to(shutil.which(tool))
    monkeypatch.setenv('PATH', str(tmp_path))
    found = {f: [row[:2] for row in rows] for f, rows in build.compilers().items()}
    version = macros or VERSIONS.get(kind)
    if name == 'cc':  # no name of the table: by CC
        preset = subprocess.run(
            ['/bin/sh', build.SCRIPT, 'default', str(tmp_path / 'cc')],
            capture_output=True,
            text=True,
        )
        assert preset.stdout.startswith(f'{family}-'), preset.stderr
    else:
        assert found == ({family: [[name, version]]} if family else {})


@pytest.mark.parametrize('family', BANNERS)
def test_the_stand_ins_speak_as_the_real_ones_do(tmp_path, family):
    cc = str(StandIn(tmp_path, family, 'cc').path)
    preset = next(name for name, row in TABLE['presets'].items() if row['family'] == family)
    if TABLE['presets'][preset]['requires'][:1] == ['aarch64']:
        with pytest.raises(presets.PresetError, match='is for aarch64'):  # by the gcc behind it
            presets.compiler_version(preset, cc)
    else:
        assert presets.compiler_version(preset, cc) in BANNERS[family]


# what stands for native: the options that gcc and clang of a machine take (their manuals), since
# a cross compiler has no native
NATIVE = {
    'x86_64': {'-march': 'haswell'},
    'aarch64': {'-march': 'armv8.2-a', '-mcpu': 'neoverse-n1'},
    'ppc64le': {'-mcpu': 'power9'},
    'riscv64': {},
}
GNU = {'ppc64le': 'powerpc64le'}
ROWS = [
    (name, machine)
    for name, row in TABLE['presets'].items()
    for machine in TABLE['machines']
    if row['family'] in ('gcc', 'gfortran', 'clang') and 'offload' not in row['features']
    if {*row['requires']} & {*TABLE['machines']} <= {machine}
]


@pytest.mark.parametrize('preset, machine', ROWS)
def test_a_row_needs_what_its_line_needs(tmp_path, need, preset, machine):
    """By the compiler of each machine that it is offered on."""
    target = f'{GNU.get(machine, machine)}-linux-gnu'
    family = TABLE['presets'][preset]['family']
    suffix, text = ('f90', 'end') if family == 'gfortran' else ('c', 'int f(void) { return 0; }')
    here = machine == os.uname().machine
    if family == 'clang':
        cc = [need(CLANG), f'--target={target}']
    else:
        cc = [need(family if here else f'{target}-{family}')]
    line = presets.flags(preset)
    for i, word in enumerate(line):
        option, _, value = word.partition('=')
        if value == 'native':
            assert option in NATIVE[machine], f'no {word} on {machine}'
            line[i] = f'{option}={NATIVE[machine][option]}'
    (tmp_path / f'x.{suffix}').write_text(text + '\n')
    words = [*cc, *line, '-c', tmp_path / f'x.{suffix}', '-o', tmp_path / 'x.o']
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


ROW = GOOD['presets']['gcc-o2']
WRONG = {
    "presets.gcc-o2: unknown key 'lines'": {'presets': {'gcc-o2': {**ROW, 'lines': '-O2'}}},
    "presets.gcc-o2: unknown family 'gc'": {'presets': {'gcc-o2': {**ROW, 'family': 'gc'}}},
    "unknown placeholder '{opemp}'": {'presets': {'gcc-o2': {**ROW, 'line': '{opemp}'}}},
    "'requires' is not a list": {'presets': {'gcc-o2': {**ROW, 'requires': 'avx2'}}},
    "families.gcc: unknown key 'flag'": {'families': {'gcc': {'flag': 'x'}}},
    "presets.o3: the name is not 'gcc-": {'presets': {'o3': ROW}},
    "'families' and 'presets' hold one named row": {'families': 1, 'presets': 2},
    "'features' is missing": {'presets': {'gcc-o2': {'family': 'gcc'}, 'o3': ROW}},
}
TEXTS = {
    "'gcc-o2' is given twice": yaml.safe_dump(GOOD) + "  gcc-o2:\n    line: ''\n",
    "'family' is given twice": yaml.safe_dump(GOOD) + '    family: gcc\n',
    'the top-level keys are': '- a\n',
    'presets.yaml is not YAML': 'families: {\n',
    **{said: yaml.safe_dump(GOOD | change) for said, change in WRONG.items()},
}


@pytest.mark.parametrize('said', TEXTS)
def test_a_mistake_in_the_table_is_one_clear_line(tmp_path, said):
    with pytest.raises(presets.PresetError) as caught:
        (tmp_path / 'presets.yaml').write_text(TEXTS[said])
        presets.load(tmp_path / 'presets.yaml')
    first, *rest = str(caught.value).splitlines()
    assert first.startswith('membw: presets.yaml') and said in first
    assert rest[-1].startswith('hint: ')
    for word in ("'source' is missing", "presets.o3: the name is not 'gcc-"):  # all at once
        assert 'is missing' not in said or word in str(caught.value)


def test_a_python_without_yaml_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, 'yaml', None)
    with pytest.raises(presets.PresetError, match="has no module 'yaml'\nhint: "):
        presets.load()


@pytest.mark.parametrize('words, said', [
    (['flags', 'gcc-o2', '--define=NTIMES=0'], "invalid value of NTIMES: '0'"),
    (['flags', 'gcc-o2', '--sise=1'], "unexpected argument '--sise=1'"),
    (['plan', 'gcc-o3', 'stream', '--mpicc=no-mpicc'], "no 'no-mpicc' on the PATH"),
    (['plan', 'gcc-o3', 'stream', '--mpicc=true'], "'true -show' does not say what it adds"),
    (['blas', 'atlas'], "unknown BLAS 'atlas'"),
])  # fmt: skip
def test_what_cannot_be_is_a_fact_and_the_way_out(words, said):
    with pytest.raises(presets.PresetError) as told:
        build.ask(*words)
    assert told.value.facts[0].startswith(said) and told.value.hint


def test_the_checksum_of_the_sources_is_that_of_sha256sum(tmp_path):
    for name in ('it/b.c', 'it/a/a.h', 'it/B.f90', 'harness/c.h', 'it/notes.txt', 'other/x.c'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    find = "find it harness -name '*.[ch]' -o -name '*.f90'"
    script = f'export LC_ALL=C; sha256sum $({find} | sort) | sha256sum'
    done = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert presets.source_sha256(tmp_path / 'it') == done.stdout.split()[0]


SOURCE = '#include <stdio.h>\nint main(void) { puts("%s"); return %d; }\n'


def built(need, out, *flags, text='a', status=0):
    line = [need('gcc'), '-O1', *flags, '-x', 'c', '-', '-o', out]
    subprocess.run(line, input=SOURCE % (text, status), text=True, check=True, timeout=300)
    return out


def test_another_place_is_the_same_code_and_other_code_is_not(need, tmp_path):
    here = built(need, tmp_path / 'here', '-Wl,-rpath,/opt/store/gcc-runtime-6bbf45/lib')
    there = built(need, tmp_path / 'there', '-Wl,-rpath,/a/longer/store/gcc-runtime-c9ccba/lib')
    assert here.read_bytes() != there.read_bytes() and code_sha256(here) == code_sha256(there)
    others = [
        built(need, tmp_path / 'two', status=1),
        built(need, tmp_path / 'three', text='b'),
        built(need, tmp_path / 'four', '-fcf-protection=full', '-O0'),
    ]
    assert len({*map(code_sha256, [here, *others]), ''}) == 5


def test_what_is_no_program_has_no_code(tmp_path):
    (tmp_path / 'script').write_text('#!/bin/sh\n')
    assert code_sha256(tmp_path / 'script') == code_sha256(tmp_path / 'nothing') == ''
