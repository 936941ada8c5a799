"""Recipe of `nbody`: src/nbody of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Nbody(PresetProgram):
    """How a computation of all pairs of bodies scales with the threads of a node: speed-up over
    one thread of the same run, forces equal to the bit, and a verdict."""

    smoke_options = ('--threads', '1', '--bodies', '256', '--rounds', '6')
    smoke_options += ('--allow', 'disturbed,unstable,too-short,wrong-pinning')
    smoke_output = ('all pairs', 'Verdict: VALID')
