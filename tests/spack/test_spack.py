"""Spack: exact lines, new hashes after edits, stale locks refused, a small concretizer problem."""

import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest
import yaml
from places import ROOT
from spack_checkout import COPIED, Checkout, find_spack
from standin import FOUNDING, StandIn, sources

from membw import presets
from membw.codegen.elf import code_sha256

pytestmark = pytest.mark.spack

# the longest line of icc 13, and one of icc; each row is a problem of its own for the concretizer
ROWS = ('icc-avx2', 'icc13-knc-huge')


@pytest.fixture(scope='session')
def checkout(tmp_path_factory):
    """Not to be edited: what many tests read."""
    return Checkout(find_spack(), tmp_path_factory.mktemp('checkout'))


@pytest.fixture
def my_checkout(tmp_path):
    """To be edited."""
    return Checkout(find_spack(), tmp_path / 'checkout')


@pytest.fixture(scope='session')
def rows(checkout):
    """Those of Intel, by stand-ins, as one environment; one of them under two names."""
    table, intel = [], []
    for preset in ROWS:
        family = preset.partition('-')[0]
        intel.append(StandIn(checkout.root / family, family, 'icc'))
        intel[-1].link('-O0')  # of what it makes nothing is judged
        asked = dict(FOUNDING[preset][0])
        table.append({
            'environ': preset, 'preset': preset, 'cc': str(intel[-1].path),
            'libhugetlbfs': asked.pop('libhugetlbfs', None), 'variants': asked,
        })  # fmt: skip
    table.append({**table[0], 'environ': 'same'})
    folder = checkout.root / 'rows'
    paths, commands = checkout.write_rows(folder, table)
    for line in commands:
        checkout.spack(*shlex.split(line)[1:])
    calls = [call for each in intel for call in each.lines()]
    return {'folder': folder, 'table': table, 'paths': paths, 'calls': calls}


@pytest.fixture(scope='session')
def installed(checkout):
    """Every program, by one line, which is one problem for the concretizer: with the Fortran, the
    MPI and the BLAS that this machine has; a test of one that it has not is skipped."""
    mpi, blas = external_mpi(), external_openblas(checkout.root / 'openblas')
    more = ('+fortran' if shutil.which('gfortran') else '') + ('+mpi' if mpi else '')
    programs = f'programs:=stream,nbody,overheads,pingpong{",dgemm" if blas else ""}'
    spec = f'membw@develop preset=gcc-o2 {programs} {more} %c=gcc'
    spec += ' ^openblas threads=openmp' if blas else ''
    packages = {
        name: {'buildable': False, 'externals': [entry]} for name, entry in {**mpi, **blas}.items()
    }
    checkout.machine.mkdir()
    (checkout.machine / 'packages.yaml').write_text(yaml.safe_dump({'packages': packages}))
    checkout.spack('-C', checkout.machine, 'install', *spec.split())
    return {'fortran': '+fortran' in more, 'mpi': bool(mpi), 'openblas': bool(blas)}


def external_mpi():
    """{package: external} of this machine's Open MPI, as `spack external find` tells it."""
    mpicc = shutil.which('mpicc')
    if not mpicc:
        return {}
    words = [os.path.join(os.path.dirname(mpicc), 'mpirun'), '--version']
    said = subprocess.run(words, capture_output=True, text=True, timeout=300).stdout
    version = re.search(r'\(Open MPI\) ([\d.]+)', said)
    prefix = str(pathlib.Path(mpicc).parents[1])
    return {'openmpi': {'spec': f'openmpi@={version[1]}', 'prefix': prefix}} if version else {}


def external_openblas(prefix):
    """{package: external} of Debian's OpenBLAS with threads, put into a prefix of its own."""
    found = glob.glob('/usr/lib/*/openblas-openmp')
    if not found:
        return {}
    (prefix / 'lib').mkdir(parents=True)
    for path in pathlib.Path(found[0]).glob('libopenblas*.so*'):
        (prefix / 'lib' / path.name).symlink_to(path.resolve())
    return {'openblas': {'spec': 'openblas@=0.3.21 threads=openmp', 'prefix': str(prefix)}}


def need(installed, what):
    installed[what] or pytest.skip(f'no {what} that Spack could be told of here')


def record(path):
    folder = pathlib.Path(path).parents[1] / 'share/membw'
    return json.loads((folder / 'membw-stream.json').read_text())


@pytest.mark.parametrize('preset', ROWS)
def test_the_line_that_reaches_icc_is_the_founding_one(rows, preset):
    expected = [*FOUNDING[preset][1].split(), *sources(ROOT), '-o']
    assert [call[:-1] for call in rows['calls']].count(expected) == 1
    recorded = record(rows['paths'][preset])
    assert recorded['compile_line'][1:-1] == expected[1:]
    assert recorded['preset'] == preset


def test_the_record_says_what_was_built_from_what(rows, checkout, tmp_path):
    path = rows['paths']['icc-avx2']
    found = record(path)
    words = [path, '-n', '1000', '-t', '2', '--json', tmp_path / 'r']
    subprocess.run(words, capture_output=True)
    build = json.loads((tmp_path / 'r').read_text())['build']  # what it knows of itself
    assert (build['unknown'], build['built_with'], build['preset']) == (None, 'spack', 'icc-avx2')
    assert (build['spack_hash'], build['code_sha256']) == (found['dag_hash'], found['code_sha256'])
    real = pathlib.Path(os.path.realpath(path))  # installed by another name than it is built
    assert found['compile_line'][-1] == str(real.with_name('stream'))
    assert found['source_sha256'] == presets.source_sha256(checkout.root / 'src/stream')
    assert found['code_sha256'] == code_sha256(path) != ''
    assert found['built_with'] == 'spack' and found['compiler'].startswith('icc (ICC)')
    assert len(found['dag_hash']) == 32 and found['dag_hash'] in os.path.realpath(path)


def test_a_row_has_a_stable_path_and_two_names_of_one_row_share_it(rows):
    paths = rows['paths']
    assert paths['icc-avx2'].endswith('/rows/rows/icc-avx2/bin/membw-stream')
    assert paths['same'] == paths['icc-avx2']
    assert all(os.access(path, os.X_OK) for path in paths.values())


def test_rows_that_are_built_need_no_spack_at_all(rows, checkout):
    assert checkout.write_rows(rows['folder'], rows['table'])[1] == []


@pytest.mark.night
def test_the_concretizer_says_why_a_spec_cannot_be(checkout):
    told = checkout.spack('spec', 'membw@develop', 'preset=icc-nt', '%c=gcc', expect=1)
    assert 'preset=icc-nt is a line of %c=intel-oneapi-compilers-classic' in ' '.join(told.split())


def test_a_spec_that_cannot_be_names_the_way_out(checkout):
    """All ways to be wrong, by what Spack has read of the recipe: (what is asked, what must not be
    or must, what is said)."""
    script = checkout.root / 'refused.py'
    script.write_text(
        'import spack.repo\n'
        'package = spack.repo.PATH.get_pkg_class("membw")\n'
        'for asked, rows in package.conflicts.items():\n'
        '    for spec, said in rows:\n'
        '        print("REFUSED", asked, "|", spec, "|", said)\n'
        'for asked, rows in package.requirements.items():\n'
        '    for specs, policy, said in rows:\n'
        '        print("WANTED", asked, "|", *specs, "|", said)\n'
    )
    told = checkout.spack('python', script)
    lines = [line for line in told.splitlines() if line.startswith(('REFUSED', 'WANTED'))]
    print(*lines, sep='\n')
    for words in (
        ('WANTED preset=icc13-knc |', 'preset=icc13-knc is a line of %c='),
        ('WANTED preset=aocc-nt |', 'preset=aocc-nt is a line of %c=aocc'),
        ('REFUSED preset=gcc-o2 | target=aarch64: |', 'preset=gcc-o3 is for any machine'),
        ('REFUSED preset=icc13-knc-huge | libhugetlbfs=none |', 'links libhugetlbfs: add '),
        ('REFUSED', '^openblas threads=none |', 'this openblas has no threads: add '),
        ('REFUSED programs=loaded', '~openmp |', 'loaded needs several threads'),
    ):
        assert [line for line in lines if all(word in line for word in words)], words


@pytest.mark.night
def test_the_stand_alone_tests_of_the_packages_pass(installed, checkout):
    """Of the variants, and of what a node runs besides; in one go."""
    spec = f'membw/{checkout.installed("stream", "%c=gcc")["dag_hash"]}'
    told = checkout.spack('-C', checkout.machine, 'test', 'run', spec)
    assert '1 passed of 1 spec ' in told
    log = checkout.spack('test', 'results', '-l')
    names = [
        'refuses_bad_input',
        *(f'validates_{name}' for name in ('stream', 'nbody', 'overheads')),
    ]
    names += ['validates_stream_f'] if installed['fortran'] else []
    for name in names:
        assert f'PASSED: Membw::test_{name}' in log


def test_the_fortran_version_is_built_by_its_own_line(installed, checkout):
    need(installed, 'fortran')
    found = checkout.installed('stream_f')
    wanted = [shutil.which('gfortran'), *'-O0 -fopenmp stream.f90 stream_f.c'.split()]
    assert (found['preset'], found['compile_line'][:5]) == ('gfortran-o2', wanted)
    assert found['spec'].startswith('membw@develop+fortran')


def test_the_mpi_variant_is_built_by_the_presets_line_with_this_machines_mpi(installed, checkout):
    need(installed, 'mpi')
    before, after = (
        subprocess.run(
            ['mpicc', f'--showme:{what}'], capture_output=True, text=True
        ).stdout.split()
        for what in ('compile', 'link')
    )
    found = checkout.installed('stream', '+mpi')
    (program,) = [word for word in found['compile_line'] if word.endswith('/bin/stream')]
    assert found['compile_line'] == [
        shutil.which('gcc'),
        *'-O0 -fopenmp -mcmodel=medium -DMEMBW_MPI'.split(),
        *before,
        *sources(ROOT),
        *['-o', program],
        *after,
    ]
    assert '-DMEMBW_MPI' in checkout.installed('pingpong')['compile_line']


@pytest.mark.parametrize('name', ['nbody', 'overheads', 'dgemm'])
def test_the_programs_of_a_node_are_built_and_dgemm_with_the_blas_of_the_spec(
    installed, checkout, name
):
    name != 'dgemm' or need(installed, 'openblas')
    line = checkout.installed(name)['compile_line']
    (program,) = [word for word in line if word.endswith(f'/bin/{name}')]
    behind = [f'-L{checkout.root}/openblas/lib', '-lopenblas'] if name == 'dgemm' else []
    assert line[1:] == [*f'-O0 -fopenmp -mcmodel=medium {name}.c -o'.split(), program, *behind]


def test_the_audit_of_the_package_passes(checkout):
    told = checkout.spack('audit', 'packages', 'membw')
    assert told.count('passed') >= 4


def test_an_edit_gives_a_new_hash_and_the_lock_of_before_is_refused(rows, my_checkout):
    """The first lock is the one of the rows, of the same sources; of a source and of the table."""
    folder = my_checkout.root / 'rows'
    my_checkout.write_rows(folder, rows['table'][:1])
    lock = json.loads((rows['folder'] / 'spack.lock').read_text())
    built = record(rows['paths']['icc-avx2'])['dag_hash']
    lock['roots'] = [root for root in lock['roots'] if root['hash'] == built]
    (folder / 'spack.lock').write_text(json.dumps(lock))

    def refused():
        told = my_checkout.spack('-e', folder, 'install', expect=1)
        assert 'the lock is stale' in told and 'hint: spack concretize --force' in told
        assert not list(my_checkout.root.glob('.spack/store/*/membw-*/bin/membw-stream'))
        (root,) = json.loads((folder / 'spack.lock').read_text())['roots']
        return root['hash']

    my_checkout.edit('src/stream/kernels/kernels.c', '#include', '/* edited */\n#include')
    first = refused()
    my_checkout.spack('-e', folder, 'concretize', '--force')
    my_checkout.edit('configs/presets.yaml', "'-O3 -xCORE-AVX2", "'-O2 -xCORE-AVX2")
    second = refused()
    assert first == built and len(second) == 32 and second != first


def test_repo_add_takes_the_git_address_of_this_repository(my_checkout):
    git = ['git', '-c', 'user.name=t', '-c', 'user.email=t@example.org']
    for words in (['init', '-q'], ['add', *COPIED], ['commit', '-q', '-m', 'all']):
        subprocess.run([*git, *words], cwd=my_checkout.root, check=True)
    other = my_checkout.root / '.spack/user'
    (other / 'include.yaml').unlink()
    builtin = ROOT / '.spack/packages/repos/spack_repo/builtin'
    (other / 'repos.yaml').write_text(yaml.safe_dump({'repos': {'builtin': str(builtin)}}))
    address, clone = f'file://{my_checkout.root}', my_checkout.root / '.spack/added'
    my_checkout.spack('repo', 'add', address, clone)
    assert (clone / 'spack-repo-index.yaml').is_file()
    assert 'membw' in my_checkout.spack('repo', 'list')
    told = my_checkout.spack('info', 'membw.membw')
    assert 'Row of configs/presets.yaml' in told
    # what a site had before means what it meant: builtin's own `stream`
    assert 'stream_array_size' in my_checkout.spack('info', 'stream')
    ours = {path.name for path in clone.glob('spack-repo/spack_repo/membw/packages/*')}
    assert 'membw' in ours and not ours & {path.name for path in builtin.glob('packages/*')}
