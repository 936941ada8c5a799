"""Recipe of `overheads`: src/overheads of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram


class Overheads(PresetProgram):
    """What OpenMP itself costs: construct and the same work without it in turn, each overhead
    with its exact interval, the runtime and how its threads wait, and a verdict."""

    conflicts('~openmp', msg='overheads measures what OpenMP costs: build it with +openmp')

    smoke_options = ('--threads', '1', '--constructs', 'parallel,reduction', '--pairs', '6')
    smoke_options += ('--allow', 'disturbed,unstable,oversubscribed,wrong-pinning')
    smoke_output = ("OpenMP's overheads", 'Verdict: VALID')
