"""What the recipes of this repository share: a folder of src, built by exactly a preset's line."""

import hashlib
import json
import os
import pathlib
import sys

from spack.package import *

# <root>/spack-repo/spack_repo/membw/build_systems/preset_program.py
ROOT = pathlib.Path(__file__).resolve().parents[4]
# the part of the library that needs the standard library alone
sys.path.insert(0, str(ROOT / 'src'))
from membw import presets  # noqa: E402

sys.path.pop(0)
PRESETS = sorted(pathlib.Path(presets.__file__).parent.glob('*.py'))
TABLE = presets.load()


def presets_of(language):
    """{preset: the row of its family} of the compilers of a language."""
    families = {name: presets.family_of(name, TABLE) for name in TABLE['presets']}
    return {name: row for name, row in families.items() if presets.language(row) == language}


def in_fortran(preset):
    """Presets of Fortran with the same options as one of C: gfortran-o2 of gcc-o2."""
    suffix = preset.removeprefix(TABLE['presets'][preset]['family'])
    fortran = presets_of('fortran')
    return [name for name in fortran if name == TABLE['presets'][name]['family'] + suffix]


def natural_or_none(value):
    return value == 'none' or (value.isdigit() and value[0] != '0')


class PresetProgram(Package):
    """src/<program>/<program>.c and src/harness of this checkout, one file for the compiler. The
    variant `preset` is the row of configs/presets.yaml."""

    has_code = False  # nothing to fetch: install() copies the folders of src
    license('BSD-3-Clause')
    version(presets.version())

    # variant -> macro of the program's line, in this order
    macros = {}
    # words behind the sources
    libraries = ()
    # options of a run that takes seconds anywhere, and what it prints when all is well
    smoke_options = ()
    smoke_output = ()

    variant('openmp', default=True, description='OpenMP threads')
    variant(
        'preset',
        default='gcc-o2',
        values=tuple(presets_of('c')),
        multi=False,
        description='Row of configs/presets.yaml',
    )
    variant(
        'libhugetlbfs',
        default='none',
        values=lambda path: path == 'none' or path.startswith('/'),
        description='Folder with its ldscripts and obj64, for the presets that link it',
    )

    depends_on('c', type='build')

    for _name, _family in presets_of('c').items():
        requires(
            _family['spack'],
            when=f'preset={_name}',
            msg=f'preset={_name} is a line of {_family["spack"]}: take another preset '
            '(membw presets list), or put that compiler last in the spec',
        )
        if '{libhugetlbfs}' in TABLE['presets'][_name]['line']:
            conflicts(
                'libhugetlbfs=none',
                when=f'preset={_name}',
                msg=f'{_name} links libhugetlbfs: add libhugetlbfs=/folder/with/ldscripts',
            )

    @property
    def program(self):
        return presets.program_of(self.name)

    @property
    def sources(self):
        return presets.PROGRAMS / self.program

    def content_hash(self, content=None):
        """Also the sources and the table: an edit of either is another package."""
        parts = [super().content_hash(content), presets.source_sha256(self.sources)]
        parts += [presets.sha256(path) for path in (presets.TABLE, *PRESETS, __file__)]
        return hashlib.sha256('\n'.join(parts).encode()).hexdigest()

    @property
    def preset(self):
        return self.spec.variants['preset'].value

    def given(self, name):
        value = self.spec.variants[name].value
        return None if value == 'none' else value

    def compile_flags(self):
        macros = {macro: self.given(variant) for variant, macro in self.macros.items()}
        return presets.flags(
            self.preset,
            openmp=self.spec.satisfies('+openmp'),
            defines=[f'{macro}={value}' for macro, value in macros.items() if value],
            extra=self.spec.compiler_flags.get('cflags', []),
            libhugetlbfs=self.given('libhugetlbfs'),
        )

    def refuse_stale(self, spec):
        if spec._package_hash != self.content_hash():
            raise InstallError(
                f'membw: src/{self.program}, the presets or the recipe changed since this spec '
                'was concretized: the lock is stale\nhint: spack concretize --force'
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
        copied = prefix.share.membw.src
        mkdirp(prefix.bin)
        for name, path in presets.source_files(self.sources).items():
            mkdirp(os.path.dirname(join_path(copied, name)))
            install(str(path), join_path(copied, name))
        with working_dir(join_path(copied, self.program)):
            self.build(prefix)

    def build(self, prefix):
        # The real compiler, not Spack's wrapper, which would add -march=<target>: this is the
        # whole line. Run paths still come in, through the `ld` wrapper first in PATH.
        # With MPI the line gets what the wrapper says that it adds.
        mpi = self.spec.satisfies('+mpi')
        before, after = presets.mpi_added(self.spec['mpi'].mpicc) if mpi else ([], [])
        line = [self['c'].cc] + self.compile_flags() + before
        line += [f'{self.program}.c', '-o', str(prefix.bin.join(self.program)), *self.libraries]
        line += after
        Executable(line[0])(*line[1:])
        self.record(self.program, line)

    def record(self, name, line, preset=None):
        """As make writes it, but for the binary's checksum: Spack mends its run paths later."""
        text = {
            'program': self.program,
            'built_with': 'spack',
            'preset': preset or self.preset,
            'compile_line': line,
            'compiler': presets.banner(line[0]),
            'source_sha256': presets.source_sha256('.'),
            'spec': self.spec.format('{name}{@version}{variants}{compiler_flags} ')
            + self['c'].spec.format('%c={name}{@version}'),
            'dag_hash': self.spec.dag_hash(),
        }
        path = pathlib.Path(self.prefix.share.membw) / f'{name}.json'
        path.write_text(json.dumps(text, indent=1) + '\n')

    def runnable(self, name):
        if 'mic' in TABLE['presets'][self.preset]['requires']:
            raise SkipTest('Knights Corner binaries run on the card, not on this host')
        return which(self.prefix.bin.join(name), required=True)

    def test_validates(self):
        """a tiny run computes the right answer"""
        program = self.runnable(self.program)
        check_outputs(list(self.smoke_output), program(*self.smoke_options, output=str.split))

    def test_refuses_bad_input(self):
        """an unknown option is refused with exit status 2"""
        program = self.runnable(self.program)
        program('--no-such-option', fail_on_error=False, output=str.split, error=str.split)
        assert program.returncode == 2, f'exit status {program.returncode}, not 2'


class WithMpi(PackageBase):
    """Mixin of programs that run as one job of many nodes."""

    variant('mpi', default=False, description='For a whole cluster in one job, a rank per node')
    depends_on('mpi', when='+mpi')


class WithFortran(PackageBase):
    """Mixin of programs that have a Fortran version, <name>_f: +fortran builds it, too, by the
    row of a Fortran compiler with the same options."""

    variant('fortran', default=False, description='The Fortran version, too')
    depends_on('fortran', type='build', when='+fortran')

    for _name in presets_of('c'):
        _fortran = [presets.family_of(name, TABLE)['spack'] for name in in_fortran(_name)]
        if _fortran:
            requires(
                *_fortran,
                policy='any_of',
                when=f'+fortran preset={_name}',
                msg=f'no row of configs/presets.yaml for this Fortran compiler: put '
                f'{" or ".join(_fortran)} in the spec (spack compiler find), or ~fortran',
            )
        else:
            conflicts(
                '+fortran',
                when=f'preset={_name}',
                msg=f'no Fortran compiler has the options of {_name} in configs/presets.yaml: '
                f'~fortran, or another preset',
            )

    def build(self, prefix):
        super().build(prefix)
        if self.spec.satisfies('+fortran'):
            self.build_fortran(prefix)

    def build_fortran(self, prefix):
        names = in_fortran(self.preset)
        preset = next(n for n in names if self.spec.satisfies(presets_of('fortran')[n]['spack']))
        name = f'{self.program}_f'
        flags = presets.flags(
            preset,
            openmp=self.spec.satisfies('+openmp'),
            extra=self.spec.compiler_flags.get('fflags', []),
            libhugetlbfs=self.given('libhugetlbfs'),
        )
        sources = presets.sources_of(preset, self.program, TABLE)
        line = [self['fortran'].fortran, *flags, *sources, '-o', str(prefix.bin.join(name))]
        Executable(line[0])(*line[1:])
        self.record(name, line, preset)
