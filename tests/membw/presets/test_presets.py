"""The table of presets: the founding lines word by word, and what a wrong table says."""

import shlex
import subprocess
import sys

import pytest
import yaml
from places import ROOT
from standin import BANNERS, FOUNDING, StandIn

from membw import presets
from membw.presets import command, lines
from membw.presets.table import parse_yaml

TABLE = presets.load()
MACROS = {'array_size': 'STREAM_ARRAY_SIZE', 'ntimes': 'NTIMES'}
GOOD = {
    'families': {'gcc': TABLE['families']['gcc']},
    'presets': {'gcc-o2': TABLE['presets']['gcc-o2']},
}


def table_file(tmp_path, text):
    path = tmp_path / 'presets.yaml'
    path.write_text(text)
    return path


def test_the_gcc_line_is_the_one_that_thin_printed():
    options = presets.flags('gcc-o2', defines=['STREAM_ARRAY_SIZE=800000000', 'NTIMES=20'])
    assert shlex.join(options) == (
        '-O2 -fopenmp -DSTREAM_ARRAY_SIZE=800000000 -DNTIMES=20 -mcmodel=medium'
    )


def test_the_fortran_line_is_the_one_that_thin_printed():
    assert presets.flags('gfortran-o2') == ['-O2', '-fopenmp']


@pytest.mark.parametrize('preset', FOUNDING)
def test_the_intel_lines_are_the_ones_printed(preset):
    asked, line = FOUNDING[preset]
    defines = [f'{macro}={asked[name]}' for name, macro in MACROS.items() if name in asked]
    options = presets.flags(preset, defines=defines, libhugetlbfs=asked.get('libhugetlbfs'))
    assert shlex.join(['icc', *options]) == line


# code for a device is OpenMP's: such a row without it is none
@pytest.mark.parametrize(
    'preset', [name for name, row in TABLE['presets'].items() if 'offload' not in row['features']]
)
def test_a_build_without_openmp_has_no_openmp_option(preset):
    options = presets.flags(preset, openmp=False, libhugetlbfs='/x')
    assert not [word for word in options if 'openmp' in word]
    assert presets.flags(preset, libhugetlbfs='/x') != options


@pytest.mark.parametrize('preset', TABLE['presets'])
def test_every_row_says_where_it_comes_from(preset):
    assert len(TABLE['presets'][preset]['source']) > 10


def test_macros_come_in_the_order_given_and_extra_options_last():
    options = presets.flags('gcc-o3', defines=['B=5', 'A=float'], extra=['-g'])
    assert options[2:] == ['-DB=5', '-DA=float', '-g']


def test_huge_pages_without_the_path_of_the_library_name_the_way_out():
    with pytest.raises(presets.PresetError, match='LIBHUGETLBFS=PATH'):
        presets.flags('icc13-knc-huge')


@pytest.mark.parametrize('family', BANNERS)
def test_a_compiler_is_known_by_its_banner(tmp_path, family):
    cc = str(StandIn(tmp_path, family, 'cc').path)
    of = [name for name in TABLE['families'] if presets.compiler_version(name, cc, TABLE)]
    assert of == [family]


@pytest.mark.parametrize(
    'banner, family, version',
    [
        ('gcc (Debian 12.2.0-14+deb12u1) 12.2.0', 'gcc', '12.2.0'),
        ('gcc-11 (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0', 'gcc', '11.4.0'),
        ('gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-4)', 'gcc', '8.5.0'),
        ('Debian clang version 19.1.7 (3~deb12u1)', 'clang', '19.1.7'),
        ('clang version 18.1.3', 'clang', '18.1.3'),
        (BANNERS['icc'], 'icc', '2021.10.0'),
        (BANNERS['icc13'], 'icc13', '13.1.3'),
        (BANNERS['icx'], 'icx', '2024.2.1'),
        (BANNERS['aocc'], 'aocc', '5.0.0'),
        (BANNERS['nvc'], 'nvc', '24.5'),
        (BANNERS['armclang'], 'armclang', '23.10'),
        (BANNERS['cce'], 'cce', '15.0.1'),
        (BANNERS['fcc'], 'fcc', '4.8.1'),
    ],
)
def test_the_version_is_read_off_the_banner(monkeypatch, banner, family, version):
    monkeypatch.setattr(lines, 'banner', lambda cc: banner)
    found = {name: presets.compiler_version(name, 'cc', TABLE) for name in TABLE['families']}
    assert {name: v for name, v in found.items() if v} == {family: version}


@pytest.mark.parametrize(
    'where, change, said',
    [
        ('presets', {'gcc-o2': {'lines': '-O2'}}, "presets.gcc-o2: unknown key 'lines'"),
        ('presets', {'gcc-o2': {'family': 'gc'}}, "presets.gcc-o2: unknown family 'gc'"),
        ('presets', {'gcc-o2': {'line': '{opemp}'}}, "unknown placeholder '{opemp}'"),
        ('presets', {'gcc-o2': {'requires': 'avx2'}}, "'requires' is not a list"),
        ('families', {'gcc': {'flag': 'x'}}, "families.gcc: unknown key 'flag'"),
    ],
)
def test_a_typo_in_the_table_is_one_clear_line(tmp_path, where, change, said):
    table = yaml.safe_load(yaml.safe_dump(GOOD))
    for name, keys in change.items():
        table[where][name].update(keys)
    with pytest.raises(presets.PresetError) as told:
        presets.load(table_file(tmp_path, yaml.safe_dump(table)))
    assert said in str(told.value).splitlines()[0]
    assert str(told.value).splitlines()[-1].startswith('hint: ')


def test_all_problems_of_a_table_are_reported_at_once(tmp_path):
    table = {**GOOD, 'presets': {'gcc-o2': {'family': 'gcc'}, 'o3': GOOD['presets']['gcc-o2']}}
    with pytest.raises(presets.PresetError) as told:
        presets.load(table_file(tmp_path, yaml.safe_dump(table)))
    for word in ("'line' is missing", "'source' is missing", "presets.o3: the name is not 'gcc-"):
        assert word in str(told.value)


@pytest.mark.parametrize(
    'row, said',
    [
        ("  gcc-o2:\n    line: ''\n", "'presets.gcc-o2' is given twice"),
        ('    family: gcc\n', "'presets.gcc-o2.family' is given twice"),
    ],
)
def test_what_is_given_twice_is_refused(tmp_path, row, said):
    text = yaml.safe_dump({'families': GOOD['families']})
    text += yaml.safe_dump({'presets': {'gcc-o2': GOOD['presets']['gcc-o2']}})
    with pytest.raises(presets.PresetError, match=said):
        presets.load(table_file(tmp_path, text + row))


@pytest.mark.parametrize('name', ['presets.yaml', 'blas.yaml'])
def test_a_python_without_yaml_reads_the_same(monkeypatch, name):
    """Spack's, or the one that `make -C src` and EasyBuild find first."""
    text = (ROOT / 'configs' / name).read_text()
    by_library = parse_yaml(text)
    monkeypatch.setitem(sys.modules, 'yaml', None)
    assert parse_yaml(text) == by_library


@pytest.mark.parametrize('text', ['- a', 'presets: {a: b}\n  x', 'families:\n  gcc\n'])
def test_a_python_without_yaml_refuses_what_it_cannot_read(monkeypatch, tmp_path, text):
    monkeypatch.setitem(sys.modules, 'yaml', None)
    with pytest.raises(presets.PresetError, match='^membw: .*'):
        presets.load(table_file(tmp_path, text))


@pytest.mark.parametrize('text', ['', '- a\n', 'families: {\n', 'families: 1\npresets: 2\n'])
def test_a_file_that_is_no_table_is_refused_without_a_traceback(tmp_path, text):
    with pytest.raises(presets.PresetError, match='^membw: presets.yaml'):
        presets.load(table_file(tmp_path, text))


@pytest.mark.parametrize(
    'args, said',
    [
        (['flags', 'gcc-o9'], "unknown preset 'gcc-o9'"),
        (['flags', 'gcc-o2', '-D', 'NTIMES=-5'], "invalid value of NTIMES: '-5'"),
        (['flags', 'gcc-o2', '-D', 'NTIMES=0'], "invalid value of NTIMES: '0'"),
        (['flags', 'gcc-o2', '--sise', '1'], '--sise'),
        (['flogs'], 'flogs'),
        ([], 'WHAT'),
    ],
)
def test_the_command_refuses_with_one_line_and_the_way_out(capsys, args, said):
    try:
        status = command.main(args)
    except SystemExit as left:
        status = left.code
    err = capsys.readouterr().err
    assert status == 2
    assert err.startswith('membw: ') and said in err.splitlines()[0]
    assert err.splitlines()[1].startswith('hint: ')


def test_the_checksum_of_the_sources_is_that_of_sha256sum(tmp_path):
    for name in ('it/b.c', 'it/a/a.h', 'it/B.f90', 'harness/c.h', 'it/notes.txt', 'other/x.c'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    script = (
        'export LC_ALL=C; '
        "sha256sum $(find it harness -name '*.[ch]' -o -name '*.f90' | sort) | sha256sum"
    )
    done = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert presets.source_sha256(tmp_path / 'it') == done.stdout.split()[0]


def test_words_of_mpicc_that_belong_together_stay_together(tmp_path):
    """Intel MPI's: an option of the linker is two words, each behind -Xlinker."""
    mpicc = tmp_path / 'mpicc'
    show = 'gcc -I"/mpi/include" -isystem /x -L/mpi/lib -Xlinker -rpath -Xlinker /mpi/lib -lmpi'
    mpicc.write_text(f"#!/bin/sh\necho '{show}'\n")
    mpicc.chmod(0o755)
    before, after = presets.mpi_added(str(mpicc))
    assert before == ['-DMEMBW_MPI', '-I/mpi/include', '-isystem', '/x']
    assert after == '-L/mpi/lib -Xlinker -rpath -Xlinker /mpi/lib -lmpi'.split()
