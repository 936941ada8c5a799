"""Fixture: dgemm of each BLAS that a partition has, built once, by one environment."""

import functools
import glob
import os
import re
import sys

import reframe as rfm
import reframe.core.runtime as runtime
from reframe.core.builtins import fixture, parameter, run_after, run_before, variable
from reframe.core.environments import Environment
from reframe.core.systems import SystemPartition

from lib import prerequisites
from lib.batch_job import option_words
from lib.binaries import OWN, program_binary
from lib.logged import logged_number, logged_text
from membw import presets
from membw.call import call
from membw.site import topology
from membw.site.topology import is_local

ROWS = presets.load_blas()
CALLS_IT = 'void dgemm_(void); int main(void) { dgemm_(); return 0; }'


def has_threads(name: str) -> bool:
    return ROWS[name]['threading'] != 'none'


def seems_here(name: str) -> bool:
    """Whether it is worth while to try the linker of this machine: a look at files."""
    row = ROWS[name]
    if 'folder' in row:
        return bool(glob.glob(row['folder']))
    named = re.search(r'(?:^|\s)-l(\S+)', row['link'])
    if not named:
        return True
    library = f'lib{named[1]}.so'
    places = ':'.join(os.environ.get(v, '') for v in ('LIBRARY_PATH', 'LD_LIBRARY_PATH'))
    is_on_a_path = any(
        os.path.exists(f'{place}/{library}') for place in places.split(':') if place
    )
    return is_on_a_path or library in (prerequisites.answer('/sbin/ldconfig -p') or '')


def rows_of(partition: SystemPartition) -> list[str]:
    """The libraries that are measured there: what its file names, but for those without threads,
    which are measured only when requested; of this machine the first that is here."""
    if prerequisites.is_card(partition):  # built on its node, which has no checkout
        return []
    named = partition.extras.get('blas')
    if named is not None:
        return [name for name in named if has_threads(name)]
    if not is_local(partition):
        return []
    threaded = (name for name in ROWS if has_threads(name) and environment(partition, name))
    return [next(filter(seems_here, threaded), 'openblas-openmp')]


def environment(partition: SystemPartition, name: str) -> Environment | None:
    """The environment that builds the row there, or None: the compiler has no part in the figure.
    Where the row names the preset of its source's line, that and no other."""
    wanted = ROWS[name].get('preset')
    for environ in partition.environs:
        if environ.extras.get('preset', '') == wanted if wanted else 'scan' in environ.features:
            return environ
    return None


@functools.cache
def cannot_link(cc: str, name: str) -> str | None:
    """Why this machine's compiler cannot link the row, or None."""
    try:
        before, after = presets.blas_words(name)
    except presets.PresetError as err:
        return f'BLAS {name}: {err.facts[0]}'
    line = [cc, *before, '-x', 'c', '-', '-x', 'none', '-o', '/dev/null', *after]
    done = call(line, text=CALLS_IT)
    if done.returncode:
        return f"BLAS {name}: no library here that '{ROWS[name]['link']}' links"


class blas_binary(program_binary):
    """By make: the site's own library, and the row's own words."""

    program = 'dgemm'
    blas = parameter(list(ROWS), loggable=True)

    @run_after('init')
    def choose_host(self) -> None:
        self.descr = f'build of src/dgemm with {self.blas}'
        self.how, self.build_locally = 'make', False

    @run_after('setup')
    def need_library(self) -> None:
        if not self.is_dry_run() and is_local(self.current_partition):
            reason = cannot_link(self.current_environ.cc, self.blas)
            self.skip_if(reason, reason)
        if OWN in self.current_environ.features:
            self.how = 'own'

    def added_words(self) -> tuple[list[str], list[str]]:
        return presets.blas_words(self.blas)

    def make_words(self) -> list[str]:
        return [*super().make_words(), f'BLAS={self.blas}']

    def build_folder(self) -> str:
        """Built at each run: the library may be another by now."""
        return self.stagedir


class of_a_blas(rfm.RegressionTestPlugin):
    """A check of dgemm: one case for each BLAS of each partition, its options and variables."""

    binary = fixture(blas_binary, scope='environment')

    # by -S: rows of configs/blas.yaml, with commas, in place of those that the partition names
    libraries = variable(str, value='')
    # by -S: m = n, 0: by time, caches and memory; repetitions of each shape, 0: as many as it
    # takes
    size = logged_number()
    repetitions = logged_number()
    # after init: the row of configs/blas.yaml
    blas = logged_text()
    # the same: by it the cases of a partition and environment are distinguished in all results
    pinning = logged_text()

    @run_after('init')
    def choose_cases(self) -> None:
        chosen = type(self).get_variant_info(self.variant_num, recurse=True)
        self.blas = self.pinning = chosen['fixtures']['binary']['params']['blas']
        chosen = self.libraries.split(',') if self.libraries else []
        try:
            for name in chosen:  # else there would be no case, and nothing said
                presets.blas_row(name, ROWS)
        except presets.PresetError as err:
            print(err, file=sys.stderr)
            raise SystemExit(2) from err
        # '+flexible' of a check of a whole cluster: this choice names partitions in its place
        features = {word[1:] for word in self.valid_systems if word.startswith('+')}
        environs = {
            part.fullname: environment(part, self.blas)
            for part in runtime.runtime().system.partitions
            if self.blas in (chosen or rows_of(part)) and features <= set(part.features)
        }
        self.valid_systems = [name for name, environ in environs.items() if environ]
        self.valid_prog_environs = sorted({e.name for e in environs.values() if e})

    @property
    def method(self) -> str:
        """OpenMP's threads are the library's, one per core; another kind binds its own, or not."""
        return 'omp' if ROWS[self.blas]['threading'] == 'openmp' else 'none'

    def cores(self) -> list[int]:
        return topology.cores(self.current_partition)

    @run_before('run')
    def let_the_library_take_all(self) -> None:
        """All that says how many threads, and that one that waits sleeps: so it differs from one
        that works."""
        names = 'OMP_NUM_THREADS', ROWS[self.blas]['variable']
        threads = dict.fromkeys(names, len(self.cores()))
        self.env_vars = {**self.env_vars, **threads, 'OMP_WAIT_POLICY': 'PASSIVE'}

    def program_options(self, record: str) -> list[str]:
        row, stated = ROWS[self.blas], self.current_partition.extras.get('peak_gflops')
        options = ['--threads', str(len(self.cores()))]
        options += ['--library', ','.join(row['libraries']), '--threading', row['threading']]
        options += option_words({'--stated': stated, '-n': self.size, '-t': self.repetitions})
        return [*options, *super().program_options(record)]
