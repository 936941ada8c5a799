"""Recipe of `dgemm`: src/dgemm of this checkout."""

from spack.package import *
from spack_repo.membw.build_systems.preset_program import PresetProgram

# what a tiny run on a shared machine cannot be: only the product is tested here
TINY = (
    'too-short,too-good,threads-idle,wrong-pinning,oversubscribed,disturbed,unstable,'
    'forced-kernels'
)


class Dgemm(PresetProgram):
    """How much of a node's arithmetic a BLAS reaches, and who did the work: every element
    validated, percent of what the same threads could do at that moment, a verdict."""

    depends_on('blas')

    # what all of them are unless a spec says otherwise: one core of a node
    for _blas in 'intel-oneapi-mkl openblas blis amdblis acfl armpl-gcc nvpl-blas'.split():
        conflicts(
            f'^{_blas} threads=none',
            msg=f'dgemm measures a node, and this {_blas} has no threads: add '
            f'^{_blas} threads=openmp',
        )

    smoke_options = ('-n', '200', '-t', '1', '--allow', TINY)
    smoke_output = ('of attainable', 'Verdict: VALID')

    @property
    def libraries(self):
        return self.spec['blas'].libs.ld_flags.split()
