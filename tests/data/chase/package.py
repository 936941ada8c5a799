"""Recipe of `chase`."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Chase(PresetProgram):
    """Latency of memory, by a chain of loads."""

    version('0.1.0')

    smoke_options = ('-m', '1', '--allow', 'disturbed,wrong-pinning')
    smoke_output = ('latency:',)
