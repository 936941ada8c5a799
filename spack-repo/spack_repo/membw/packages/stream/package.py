"""Recipe of `stream`: src/stream of this repository, built by exactly the line of a preset."""

import hashlib
import importlib.util
import json
import os
import pathlib

from spack.package import *
from spack_repo.builtin.build_systems.generic import Package

# <root>/spack-repo/spack_repo/membw/packages/stream/package.py
ROOT = pathlib.Path(__file__).resolve().parents[5]
PRESETS = ROOT / 'configs' / 'presets.py'
MPI_WRAPPER = ROOT / 'configs' / 'mpi_wrapper.py'
SOURCES = ROOT / 'src' / 'stream'

# what a tiny run on a shared machine cannot be: only the values are tested here
TINY = 'array-too-small,too-short,cpu-not-where-asked,memory-not-where-asked,oversubscribed'
TINY += ',disturbed,unstable,too-good'


def load(path):
    """A module of configs, which know nothing of Spack, from where it lies."""
    spec = importlib.util.spec_from_file_location(f'membw_{path.stem}', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


presets = load(PRESETS)
mpi_wrapper = load(MPI_WRAPPER)
TABLE = presets.load()


def tunings():
    """{tuning: [families that have such a row]}"""
    found = {}
    for name, row in TABLE['presets'].items():
        found.setdefault(presets.tuning(name), []).append(row['family'])
    return found


def natural_or_none(value):
    return value == 'none' or (value.isdigit() and value[0] != '0')


class Stream(Package):
    """STREAM-compatible memory bandwidth benchmark of the membw project: every
    element validated, a JSON record and a verdict of each run. The source lies
    beside this recipe; `tuning` picks the row of configs/presets.yaml."""

    homepage = 'https://example.org/membw'
    has_code = False  # nothing to fetch: install() copies src/stream

    license('BSD-3-Clause')

    version('0.1.0')

    variant('openmp', default=True, description='OpenMP threads')
    variant('mpi', default=False, description='For a whole cluster in one job, a rank a node')
    variant('fortran', default=False, description='The Fortran version, stream_f, too')
    variant(
        'tuning',
        default='o2',
        values=tuple(tunings()),
        multi=False,
        description="Row of configs/presets.yaml, without the compiler's name",
    )
    variant('array_size', default='none', values=natural_or_none, description='STREAM_ARRAY_SIZE')
    variant('ntimes', default='none', values=natural_or_none, description='NTIMES')
    variant('offset', default='none', values=natural_or_none, description='OFFSET, elements')
    variant(
        'stream_type',
        default='none',
        values=('none',) + presets.STREAM_TYPES,
        multi=False,
        description='STREAM_TYPE',
    )
    variant(
        'libhugetlbfs',
        default='none',
        values=lambda path: path == 'none' or path.startswith('/'),
        description='Folder with its ldscripts and obj64, for the presets that link it',
    )

    depends_on('c', type='build')
    depends_on('fortran', type='build', when='+fortran')
    depends_on('mpi', when='+mpi')

    for _tuning, _families in tunings().items():
        requires(
            *[TABLE['families'][f]['spack'] for f in _families],
            policy='any_of',
            when=f'tuning={_tuning}',
            msg=f'tuning={_tuning} is a preset of {", ".join(_families)} only: '
            f'put {" or ".join(TABLE["families"][f]["spack"] for f in _families)} last in the '
            'spec, or take another tuning (python3 configs/presets.py list)',
        )

    for _name, _row in TABLE['presets'].items():
        if '{libhugetlbfs}' in _row['line']:
            conflicts(
                'libhugetlbfs=none',
                when=f'tuning={presets.tuning(_name)}',
                msg=f'{_name} links libhugetlbfs: add libhugetlbfs=/folder/with/ldscripts',
            )

    for _family in TABLE['families'].values():
        requires(
            _family['spack'].replace('%c=', '%fortran='),
            when=f'+fortran {_family["spack"]}',
            msg="stream_f is built by the Fortran compiler of the C compiler's family: "
            f'{_family["fc"]} is not known to Spack there (spack compiler find), or ~fortran',
        )

    def content_hash(self, content=None):
        """Also the sources and the table: an edit of either is another package."""
        parts = [super().content_hash(content), presets.source_sha256(SOURCES)]
        parts += [presets.sha256(path) for path in (presets.TABLE, PRESETS, MPI_WRAPPER)]
        return hashlib.sha256('\n'.join(parts).encode()).hexdigest()

    @property
    def preset(self):
        found = [n for n, f in TABLE['families'].items() if self.spec.satisfies(f['spack'])]
        return f'{found[0]}-{self.spec.variants["tuning"].value}'

    def given(self, name):
        value = self.spec.variants[name].value
        return None if value == 'none' else value

    def compile_flags(self):
        names = ('array_size', 'ntimes', 'offset', 'stream_type', 'libhugetlbfs')
        return presets.flags(
            self.preset,
            openmp=self.spec.satisfies('+openmp'),
            extra=self.spec.compiler_flags.get('cflags', []),
            **{name: self.given(name) for name in names},
        )

    def fortran_flags(self):
        return presets.fortran_flags(
            self.preset,
            openmp=self.spec.satisfies('+openmp'),
            extra=self.spec.compiler_flags.get('fflags', []),
            libhugetlbfs=self.given('libhugetlbfs'),
        )

    def refuse_stale(self, spec):
        if spec._package_hash != self.content_hash():
            raise InstallError(
                'membw: src/stream, the presets or the recipe changed since this spec was '
                'concretized: the lock is stale\nhint: spack concretize --force'
            )

    def make_run_paths_relative(self):
        """The wrapper of `ld` writes these into the binary: from where it lies, so that the same
        sources, compiler and line give the same bytes in every store."""
        store = pathlib.Path(self.prefix).parent
        for name in ('SPACK_RPATH_DIRS', 'SPACK_STORE_RPATH_DIRS'):
            paths = [path for path in os.environ.get(name, '').split(':') if os.path.isdir(path)]
            os.environ[name] = ':'.join(
                '$ORIGIN/' + os.path.relpath(path, self.prefix.bin)
                if store in pathlib.Path(path).parents
                else path
                for path in paths
            )

    def install(self, spec, prefix):
        self.refuse_stale(spec)
        self.make_run_paths_relative()
        mkdirp(prefix.bin, prefix.share.membw)
        copied = prefix.share.membw.src
        mkdirp(copied)
        for name, path in presets.source_files(SOURCES).items():
            mkdirp(os.path.dirname(join_path(copied, name)))
            install(str(path), join_path(copied, name))
        with working_dir(join_path(copied, 'stream')):
            self.build_c(prefix)
            if spec.satisfies('+fortran'):
                self.build_fortran(prefix)

    def build_c(self, prefix):
        # The real compiler, not Spack's wrapper, which would add -march=<target>: this is the
        # whole line. Run paths still come in, through the `ld` wrapper first in PATH.
        # With MPI the line gets what the wrapper says that it adds.
        before, after = [], []
        if self.spec.satisfies('+mpi'):
            before, after = mpi_wrapper.added(self.spec['mpi'].mpicc)
        line = [self['c'].cc] + self.compile_flags() + before
        line += ['stream.c', '-o', str(prefix.bin.stream)] + after
        Executable(line[0])(*line[1:])
        self.record('build.json', line)

    def build_fortran(self, prefix):
        clock = join_path(self.stage.path, 'clock.o')
        mkdirp(self.stage.path)
        Executable(self['c'].cc)(*self.compile_flags(), '-c', '../harness/clock.c', '-o', clock)
        line = [self['fortran'].fortran] + self.fortran_flags()
        line += ['stream.f90', clock, '-o', str(prefix.bin.stream_f)]
        Executable(line[0])(*line[1:])
        self.record('build_f.json', line)

    def record(self, name, line):
        """As make writes it, but for the binary's checksum: Spack mends its run paths later."""
        text = {
            'built_with': 'spack',
            'preset': self.preset,
            'compile_line': line,
            'compiler': presets.banner(line[0]),
            'source_sha256': presets.source_sha256('.'),
            'spec': self.spec.format('{name}{@version}{variants}{compiler_flags} ')
            + self['c'].spec.format('%c={name}{@version}'),
            'dag_hash': self.spec.dag_hash(),
        }
        path = pathlib.Path(self.prefix.share.membw) / name
        path.write_text(json.dumps(text, indent=1) + '\n')

    def runnable(self, name):
        if 'mic' in TABLE['presets'][self.preset]['requires']:
            raise SkipTest('Knights Corner binaries run on the card, not on this host')
        path = self.prefix.bin.join(name)
        return which(path, required=True)

    def test_stream_validates(self):
        """a tiny run computes the right value in every element"""
        stream = self.runnable('stream')
        out = stream('-n', '200000', '-t', '3', '--allow', TINY, output=str.split)
        check_outputs(['Solution Validates', 'Triad:'], out)

    def test_stream_f_validates(self):
        """the Fortran version computes the right values, too"""
        if self.spec.satisfies('~fortran'):
            raise SkipTest('built without +fortran')
        stream_f = self.runnable('stream_f')
        # exit status 1: so small an array is INVALID, which this one has no option to allow
        out = stream_f('-n', '200000', '-t', '3', fail_on_error=False, output=str.split)
        check_outputs(['Solution Validates', 'Triad:'], out)

    def test_stream_refuses_bad_input(self):
        """a nonsense array size is refused with exit status 2"""
        stream = self.runnable('stream')
        stream('-n', '0', fail_on_error=False, output=str.split, error=str.split)
        assert stream.returncode == 2, f'exit status {stream.returncode}, not 2'
