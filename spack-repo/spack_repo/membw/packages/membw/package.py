"""Recipe of src/stream of this checkout; Spack's builtin `stream` is another program."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import (
    PresetProgram,
    WithFortran,
    WithMpi,
    natural_or_none,
)

# what a tiny run on a shared machine cannot be: only the values are tested here
TINY = 'array-too-small,too-short,wrong-pinning,wrong-placement,oversubscribed'
TINY += ',disturbed,unstable,too-good'


class Membw(WithFortran, WithMpi, PresetProgram):
    """STREAM-compatible memory bandwidth benchmark of the membw project: every
    element validated, a JSON record and a verdict of each run."""

    macros = {
        'array_size': 'STREAM_ARRAY_SIZE',
        'ntimes': 'NTIMES',
        'offset': 'OFFSET',
        'stream_type': 'STREAM_TYPE',
    }
    smoke_options = ('-n', '200000', '-t', '3', '--allow', TINY)
    smoke_output = ('Solution Validates', 'Triad:')

    variant('array_size', default='none', values=natural_or_none, description='STREAM_ARRAY_SIZE')
    variant('ntimes', default='none', values=natural_or_none, description='NTIMES')
    variant('offset', default='none', values=natural_or_none, description='OFFSET, elements')
    variant(
        'stream_type',
        default='none',
        values=('none', 'double', 'float'),
        multi=False,
        description='STREAM_TYPE',
    )

    def test_fortran_validates(self):
        """the Fortran version computes the right values, too"""
        if self.spec.satisfies('~fortran'):
            raise SkipTest('built without +fortran')
        program = self.runnable('stream_f')
        check_outputs(list(self.smoke_output), program(*self.smoke_options, output=str.split))
