"""Recipe of `ladder`: src/ladder of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Ladder(PresetProgram):
    """Latency and bandwidth of working sets from 4 KiB to eight times the last-level cache: the
    levels of memory as measured and as declared, and from what size on arrays lie in memory."""

    smoke_options = ('--help',)
    smoke_output = ('--quick',)
