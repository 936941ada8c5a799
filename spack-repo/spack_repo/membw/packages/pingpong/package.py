"""Recipe of `pingpong`: src/pingpong of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram, WithMpi


class Pingpong(WithMpi, PresetProgram):
    """How long a message takes from one core to another, through the memory that they share or
    (+mpi) by MPI: a figure with its interval, the evidence and a verdict for each pair."""

    smoke_options = ('--seconds', '0.01', '--allow', 'disturbed,unstable')
    smoke_output = ('one way', 'Verdict: VALID')
