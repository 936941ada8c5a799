"""Recipe of `tiers`: src/tiers of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Tiers(PresetProgram):
    """Latency, read and Triad bandwidth of each NUMA domain's memory from each domain with
    CPUs, with the place of its pages before and after, compared with HMAT and SLIT."""

    smoke_options = ('--help',)
    smoke_output = ('--rounds',)
