"""Fixtures: the STREAM binary of each (partition, environment), built once."""

import json
import os
import pathlib
import shlex
import sys

import needs
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, sanity_function

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'configs'))
import presets  # noqa: E402


class stream_binary(rfm.CompileOnlyRegressionTest):
    """The STREAM executable of one compiler and preset, and its build.json."""

    descr = 'build of src/stream'
    sourcesdir = None
    build_system = 'CustomBuild'

    @run_after('setup')
    def need_compiler(self):
        if self.is_dry_run():
            return
        partition, environ = self.current_partition, self.current_environ
        for reason in (
            needs.no_scheduler(partition),
            needs.no_modules(environ),
            needs.no_compiler(environ),
        ):
            self.skip_if(reason, reason)
        path = partition.extras.get('libhugetlbfs', '')
        if 'hugetlbfs' in environ.features:
            self.skip_if(not os.path.isdir(path), f"{environ.name}: no libhugetlbfs at '{path}'")

    @run_after('setup')
    def choose_host(self):
        """Compile where it runs (-march=native sees the node); a card is compiled for here."""
        self.build_locally = 'mic' in self.current_partition.features

    @run_before('compile')
    def make_it(self):
        environ, extras = self.current_environ, self.current_partition.extras
        words = [
            'make',
            '-C',
            str(ROOT / 'src' / 'stream'),
            f'PRESET={environ.extras["preset"]}',
            f'CC={environ.cc}',
            f'BUILD={self.stagedir}',
            f'PYTHON={sys.executable}',
        ]
        if 'hugetlbfs' in environ.features:
            words.append(f'LIBHUGETLBFS={extras.get("libhugetlbfs")}')
        self.build_system.commands = [shlex.join(words)]

    @property
    def path(self):
        return os.path.join(self.stagedir, 'stream')

    def facts(self):
        """build.json: compile line, compiler, checksums, hash."""
        with open(os.path.join(self.stagedir, 'build.json')) as file:
            return json.load(file)

    @sanity_function
    def is_of_this_source(self):
        """A stale binary would measure the old program under the new one's name."""
        return sn.all(
            [
                sn.assert_true(
                    os.access(self.path, os.X_OK), msg=f'nothing was built: {self.path}'
                ),
                sn.assert_eq(
                    self.facts()['source_sha256'],
                    presets.source_sha256(),
                    msg='the binary is not of the present src/stream: {0} != {1}',
                ),
            ]
        )
