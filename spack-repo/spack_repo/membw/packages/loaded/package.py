"""Recipe of `loaded`: src/loaded of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Loaded(PresetProgram):
    """Latency of memory while other threads move memory at a rate that is held, by mixes of
    reads and writes, with evidence that each thread had its CPU."""

    conflicts('~openmp', msg='loaded needs a thread that chases and others: build it with +openmp')

    smoke_options = ('--help',)
    smoke_output = ('--mixes',)
