"""Recipe of `loaded`: src/loaded of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Loaded(PresetProgram):
    """Latency of memory while other threads move memory at a constant rate, by mixes of
    reads and writes, with evidence that each thread ran."""

    conflicts('~openmp', msg='loaded needs several threads: build it with +openmp')

    smoke_options = ('--help',)
    smoke_output = ('--mixes',)
