"""Fixtures: the binary of a program of each (partition, environment), built once.

An environment of a site's own ReFrame configuration may have `preset` in its extras: it is built
by that preset's line, exactly. Any other is built by its own compiler and flags.
"""

import collections
import contextlib
import functools
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import sys
from typing import Any

import reframe as rfm
import reframe.core.runtime as runtime
import reframe.utility.sanity as sn
from reframe.core.builtins import fixture, run_after, run_before, sanity_function, variable
from reframe.core.environments import Environment
from reframe.core.exceptions import ReframeError, ReframeFatalError, SanityError
from reframe.core.meta import make_test
from reframe.core.systems import SystemPartition

from lib import batch_job, end, prerequisites
from lib.logged import logged_text
from membw import presets
from membw.checkout import root
from membw.errors import MembwError
from membw.presets import spack_rows
from membw.results import archive, ledger, run_lock
from membw.site import machine
from membw.site.topology import is_local
from membw.words import MISSING

LOCKS = contextlib.ExitStack()  # held for as long as this process lasts
# {program: {(partition, environment)}}: the rows that the loaded checks run; -p leaves out rows
NEEDED = collections.defaultdict(set)
OWN = 'own'  # the feature of a site's own environment
# where it has no `cflags`: a program without OpenMP would use one core of a node
FLAGS = ['-O3', '-fopenmp']


def take_in_environments() -> None:
    """Gives those of a site the features by which checks choose environments."""
    try:
        system = runtime.runtime().system
        hashes = runtime.runtime().get_option('general/0/stagedir_hashes')  # of 4.11
    except ReframeFatalError:  # no session: a test reads a check
        return
    if hashes is False:
        fact = (
            "ReFrame's 'stagedir_hashes' is off: a fixture's stage folder has a blank in its name"
        )
        end(fact, 'leave it on: ReFrame cannot run a command in such a folder')
    batch_job.forget_outer_job(system)
    for part in system.partitions:
        if is_local(part) and part.max_jobs != 1:
            part._max_jobs = 1  # two checks would measure each other
        foreign = [e for e in part.environs if 'preset' not in e.features]
        for environ in foreign:
            preset = environ.extras.get('preset')
            features = presets.row(preset)['features'] if preset else [OWN]
            environ.features.extend(['preset', *features])
        every = [e for e in part.environs if 'offload' not in e.features]
        for feature in ('scan', 'compute', 'runtime') if foreign else ():
            if every and not any(feature in e.features for e in every):
                every[0].features.append(feature)


batch_job.mend_jobs()
take_in_environments()
prerequisites.refuse_what_is_elsewhere()


@functools.cache  # found when a check begins: later ReFrame is in a stage folder
def results() -> pathlib.Path:
    """results/, or what --prefix names; '.' by a site's configuration that has no prefix."""
    return pathlib.Path(runtime.runtime().get_option('systems/0/prefix')).absolute()


def lack(partition: SystemPartition, environ: Environment) -> str | None:
    """Why this row cannot be built here, or None."""
    if reason := prerequisites.no_scheduler(partition) or prerequisites.no_modules(environ):
        return reason
    if not environ.modules and not shutil.which(environ.cc):  # with modules the job finds out
        return f"compiler '{environ.cc}' of {environ.name} not found"
    if prerequisites.is_card(partition) and 'native' in environ.features:
        return f'{environ.name}: built here, it would be for the CPU of this host'
    path = partition.extras.get('libhugetlbfs', '')
    if 'hugetlbfs' in environ.features and not os.path.isdir(path):
        return f"{environ.name}: no libhugetlbfs at '{path}'"
    return None


def chosen(partition: SystemPartition, environ: Environment) -> str:
    """spack or make: Spack wherever it is, except for what only the node can build; the compiler
    itself for an environment of the site's own."""
    if OWN in environ.features:
        return 'own'
    how = os.environ.get('MEMBW_BUILD') or partition.extras.get('build', 'auto')
    if how != 'auto':
        return how
    # Spack: variant +fortran of a C row; a row for a device is of src/nbody alone; -march=native
    # must see the node that runs it; modules are loaded by the job, not here
    not_there = ('fortran', 'offload') if is_local(partition) else ('fortran', 'offload', 'native')
    by_make = environ.modules or not {*not_there}.isdisjoint(environ.features)
    return 'make' if by_make or not spack_rows.can_build() else 'spack'


def key(partition: SystemPartition, environ: Environment) -> str:
    return f'{partition.name}-{environ.name}'


@functools.cache  # several fixtures of a session need it
def hold(path: str) -> None:
    LOCKS.enter_context(run_lock.alone(path))


class spack_build(batch_job.batch_job, rfm.RunOnlyRegressionTest):
    """The rows of a program that checks run here and that Spack builds, installed in one go."""

    descr = 'rows of this system, by Spack'
    local = True
    program = variable(str)
    paths = {}

    @property
    def folder(self) -> pathlib.Path:
        return pathlib.Path(root(), 'results', 'spack', self.current_system.name, self.program)

    @run_after('init')
    def choose_environment(self) -> None:
        """ReFrame picks any row for a fixture of the session, also one whose module is missing:
        its job would end at `module load`, and no row would have a binary."""
        for part in runtime.runtime().system.partitions:
            for environ in part.environs:
                if not prerequisites.no_modules(environ):
                    self.valid_systems = [part.fullname]
                    self.valid_prog_environs = [environ.name]
                    return

    @run_before('setup')
    def be_alone(self) -> None:
        """Two sessions of a system in one checkout would clear each other's stage folders."""
        prefix, system = runtime.runtime().stage_prefix, self.current_system.name
        try:
            hold(os.path.abspath(os.path.join(prefix, system)))
        except MembwError as err:
            fact = f"another session of '{system}' is under way in '{prefix}': wait for it"
            raise ReframeError(fact) from err

    @run_before('run')
    def write_rows(self) -> None:
        """Rows that cannot be built here are left out: their own fixture says why."""
        self.executable = 'true'
        if self.is_dry_run():
            return
        rows = [
            {
                'environ': key(part, environ),
                'preset': environ.extras['preset'],
                'cc': environ.cc,
                'libhugetlbfs': part.extras.get('libhugetlbfs')
                if 'hugetlbfs' in environ.features
                else None,
            }
            for part in self.current_system.partitions
            for environ in part.environs
            if (part.fullname, environ.name) in NEEDED[self.program] and not lack(part, environ)
        ]
        if rows:
            self.paths = spack_rows.write(self.folder, self.program, rows)
            self.prerun_cmds = spack_rows.commands(self.folder, self.paths)

    def path(self, partition: SystemPartition, environ: Environment) -> str:
        """Where the view has this row's program; in a dry run, where it would be."""
        name = key(partition, environ)
        return self.paths.get(name, self.folder / 'rows' / name / 'bin' / f'membw-{self.program}')

    @sanity_function
    def went_through(self) -> Any:
        """`spack install` goes on after a row that fails: each row is judged by its binary."""
        if not self.paths or any(path.exists() for path in self.paths.values()):
            return True
        # Spack's first error: what it could not fetch, where a node has no network
        text = batch_job.errors(self.stagedir, self.job)
        why = [*re.findall(r'Error: (.*)', text), 'see rfm_job.err'][0]
        raise SanityError(f'Spack built no preset of this system: {why}')


class program_binary(batch_job.batch_job, rfm.CompileOnlyRegressionTest):
    """An executable of a folder of src, of one compiler and preset, and its build record."""

    sourcesdir = None
    build_system = 'CustomBuild'
    program = variable(str)
    how = logged_text()
    word = logged_text()  # MISSING: it cannot be built for now
    mpi = variable(bool, value=False)
    installed = variable(str, value='')

    @run_after('init')
    def choose_host(self) -> None:
        """make builds on the node that runs it; Spack, the compiler for a card, and for a campaign
        all, as no node may be free, run here.

        With MPI always make: the line gets what the site's own mpicc adds.
        """
        self.descr = f'build of src/{self.program}' + (' with MPI' if self.mpi else '')
        parts = {p.fullname: p for p in runtime.runtime().system.partitions}
        part = parts.get(self.valid_systems[0])
        environs = {e.name: e for e in part.environs} if part else {}
        environ = environs.get(self.valid_prog_environs[0])
        if self.mpi:
            self.how, self.build_locally = 'make', False
        elif environ:
            self.how = chosen(part, environ)
            # a host that is reached by ssh has no checkout
            here = batch_job.CAMPAIGN or prerequisites.is_card(part)
            self.build_locally = self.how == 'spack' or bool(here)
        if self.how == 'spack':
            NEEDED[self.program].add((part.fullname, environ.name))

    @run_after('setup')
    def need_compiler(self) -> None:
        if self.is_dry_run():
            return
        reason = lack(self.current_partition, self.current_environ) or ''
        if isinstance(reason, prerequisites.NotNow):  # after a skip it ends with PASSED and 0
            self.word = MISSING
            raise SanityError(reason)
        self.skip_if(reason, reason)
        source = os.path.join(self.sources, f'{self.program}.f90')
        is_fortran = 'fortran' in self.current_environ.features
        lacks = is_fortran and not os.path.exists(source)
        self.skip_if(lacks, f'src/{self.program} has no version in Fortran')

    @property
    def sources(self) -> str:
        return os.path.join(root(), 'src', self.program)

    @run_before('compile')
    def build(self) -> None:
        if self.how == 'spack':
            # the store's own path: a later session may point the view elsewhere
            self.installed = path = os.path.realpath(self.path)
            self.build_system.commands = [
                f"test -x '{path}' || {{ echo 'Spack built no {path}' >&2; exit 1; }}"
            ]
        else:
            # the result is judged by the binary: not each scheduler gives an exit status
            made = self.own_line() if self.how == 'own' else self.make_line()
            # what a node lacks is a skip
            needs = f'{ledger.lacks(self.current_environ.extras["mpicc"])}; ' if self.mpi else ''
            line = f"{needs}{made} || echo 'nothing was built'"
            self.build_system.commands = [line, ledger.ended()]

    @run_before('sanity')
    def skip_what_the_node_lacks(self) -> None:
        if self.is_dry_run():
            return
        lacks, where = ledger.read(self.stagedir).lacks, self.current_partition
        self.skip_if(lacks, f"'{lacks}' not found on the node of {where.fullname}")
        if not batch_job.is_begun(self.stagedir, self.build_job):
            raise SanityError(f'nothing was built: {batch_job.never_begun(self.build_job)}')

    def own_line(self) -> str:
        """By the compiler and flags of the site's environment, as a shell takes them."""
        environ = self.current_environ
        before, after = self.added_words()
        words = [environ.cc, *environ.cppflags, *(environ.cflags or FLAGS), *before]
        words += [f'{self.program}.c', '-o', self.path, *after, *environ.ldflags]
        line = ' '.join(words)
        record = f'sh ../build.sh record {environ.name} {self.path} .'
        return f'(cd {self.sources} && {line} && {record} -- {line})'

    def make_line(self) -> str:
        return f'{self.make_command()} {shlex.quote(f"BUILD={self.build_folder()}")}'

    def make_command(self) -> str:
        words = ['make', '-C', os.path.join(root(), 'src'), *self.make_words()]
        return shlex.join([*words, f'PYTHON={sys.executable}'])

    def added_words(self) -> tuple[list[str], list[str]]:
        """What a library adds before and after the sources."""
        return [], []

    def build_folder(self) -> str:
        """The stage folder, which is empty at each run; on this machine a folder for all that
        the binary depends on, so that the next run need not build again. Each partition has its
        own: they build at the same time."""
        environ, where = self.current_environ, self.current_partition.fullname
        is_here = is_local(self.current_partition) and shutil.which(environ.cc)
        if self.mpi or self.how == 'own' or environ.modules or not is_here:
            return self.stagedir
        source = presets.source_sha256(self.sources)
        try:  # with the CPU that -march=native stands for here
            plan = presets.plan(environ.extras['preset'], self.program, f'--cc={environ.cc}')
        except presets.PresetError:  # make says why
            return self.stagedir
        parts = [where, *self.make_words(), plan, *machine.identity(environ.cc), source]
        name = hashlib.sha256('\0'.join(parts).encode()).hexdigest()[:16]
        return str(results().resolve() / 'binaries' / name)

    def make_words(self) -> list[str]:
        """What is built, without where."""
        environ, extras = self.current_environ, self.current_partition.extras
        words = [f'PROGRAM={self.program}', f'PRESET={environ.extras["preset"]}']
        words.append(f'CC={environ.cc}')
        if 'hugetlbfs' in environ.features:
            words.append(f'LIBHUGETLBFS={extras.get("libhugetlbfs")}')
        if self.mpi:
            words += ['MPI=1', f'MPICC={environ.extras["mpicc"]}']
        return words

    @property
    def path(self) -> str:
        if self.how == 'spack':
            return self.installed or str(
                self.rows.path(self.current_partition, self.current_environ)
            )
        return os.path.join(self.build_folder(), self.program)

    @property
    def cpu(self) -> str:
        """Of the node that built code for its own CPU; '' of code for any."""
        line = ' '.join(self.facts()['compile_line'])
        is_own = re.search(r'[-=](native|xHost)\b', line)
        return ledger.read(self.stagedir).cpus.get(ledger.WHOLE, '') if is_own else ''

    def facts(self) -> dict[str, Any]:
        """Compile line, compiler, checksums, hash."""
        return presets.build_record(self.path)

    @sanity_function
    def is_of_this_source(self) -> Any:
        """A stale binary would measure the old program under the new one's name."""
        if not os.access(self.path, os.X_OK):
            said = ledger.last_words(batch_job.errors(self.stagedir, self.build_job))
            raise SanityError(f'nothing was built: {said or "no reason was printed"}')
        return sn.assert_eq(
            self.facts()['source_sha256'],
            presets.source_sha256(self.sources),
            msg=f'the binary is not built from this src/{self.program}: {{0}} != {{1}}',
        )

    @run_after('sanity')
    def keep_build(self) -> None:
        """What `membw reproduce` needs to make this binary again."""
        if self.is_dry_run():
            return
        from membw.codegen.elf import code_sha256  # not at each start of ReFrame

        build = {**self.facts(), 'binary_sha256': presets.sha256(self.path)}
        build['code_sha256'] = code_sha256(self.path)
        build['modules'] = [m['name'] for m in self.current_environ.modules_detailed]
        build['make'] = self.make_words() if self.how == 'make' else None
        lock = self.rows.folder if self.how == 'spack' else None
        archive.keep_build(results(), build, lock)


@functools.cache  # a fixture is one for each class: checks of one program share it
def spack_rows_of(program: str) -> type:
    return make_test(f'spack_{program}', (spack_build,), {'program': program})


@functools.cache
def binary_of(program: str, mpi: bool) -> type:
    fixed = {'program': program, 'mpi': mpi}
    if not mpi:
        fixed['rows'] = fixture(spack_rows_of(program), scope='session')
    return make_test(f'{program}_{"mpi_" if mpi else ""}binary', (program_binary,), fixed)


def built(program: str, mpi: bool = False) -> Any:
    """`binary = built('stream')`: the program of each environment, by Spack or by make."""
    return fixture(binary_of(program, mpi), scope='environment')
