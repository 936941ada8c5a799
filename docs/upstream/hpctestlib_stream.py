"""STREAM for hpctestlib/microbenchmarks/cpu of ReFrame: a rate that is wrong fails.

A site derives a test from it, and sets valid_systems, valid_prog_environs and reference.
"""

import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (
    fixture,
    performance_function,
    run_before,
    sanity_function,
    variable,
)


class build_membw_stream(rfm.CompileOnlyRegressionTest):
    """Builds `stream` of membw, by a preset: a compiler and its flags."""

    version = variable(str, value='1.1.0')
    #: where the archives of releases are: an URL, or a folder
    releases = variable(str, value='https://example.org/membw')
    #: a row of configs/presets.yaml in the archive
    preset = variable(str, value='gcc-o3')
    build_system = 'Make'
    sourcesdir = None

    @run_before('compile')
    def unpack(self):
        archive = f'{self.releases}/membw-{self.version}.tar.gz'
        read = 'cat' if archive[0] == '/' else 'curl -sSfL'
        self.prebuild_cmds = [f'{read} {archive} | tar xz --strip-components=1']
        self.build_system.options = ['-C src/stream', f'PRESET={self.preset}', 'BUILD=$PWD/bin']
        self.build_system.flags_from_environ = False  # the preset's line, to the letter

    @sanity_function
    def built(self):
        return sn.path_isfile(os.path.join(self.stagedir, 'bin/stream'))


class membw_stream(rfm.RunOnlyRegressionTest):
    """Best rates of Copy, Scale, Add and Triad of a node, one thread per core.

    The program validates every element, and refuses arrays that lie in a cache, threads in a wrong
    place and disturbed runs: then there is no table and the test fails, with the reason.
    """

    binary = fixture(build_membw_stream, scope='environment')
    env_vars = {'OMP_PROC_BIND': 'close', 'OMP_PLACES': 'cores'}

    @run_before('run')
    def use_binary(self):
        self.executable = os.path.join(self.binary.stagedir, 'bin/stream')

    @sanity_function
    def is_valid(self):
        words = sn.extractall(r'^Verdict: (.*)', self.stdout, 1)
        return sn.assert_eq(words, ['VALID'])

    def rate(self, kernel):
        return sn.extractsingle(rf'^{kernel}:\s+(\S+)', self.stdout, 1, float)

    @performance_function('MB/s')
    def triad(self):
        return self.rate('Triad')

    @performance_function('MB/s')
    def copy(self):
        return self.rate('Copy')
