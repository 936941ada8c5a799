"""IMB-MPI1 with its buffers where ours are: each at the start of a page.

IMB takes them from MPI_Alloc_mem, which puts them somewhere in a page; a message may take 8 %
longer there (docs/pairs.md).
"""

import pathlib

from membw.bench.build import Line, build
from membw.checkout import root
from membw.errors import MembwError

# before MPI's own by LD_PRELOAD
SOURCE = """\
#include <mpi.h>
#include <stdlib.h>

int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void *address)
{
	(void)info;
	return posix_memalign(address, 4096, bytes ? bytes : 1) ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int MPI_Free_mem(void *buffer)
{
	free(buffer);
	return MPI_SUCCESS;
}
"""


def library(mpicc):
    """Path of what is to be preloaded; one that is there is kept."""
    source = pathlib.Path(root(), 'build', 'bench', 'page_aligned', 'page_aligned.c')
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists() or source.read_text() != SOURCE:
        source.write_text(SOURCE)
    made, why = build(Line(mpicc, ('-O2', '-shared', '-fPIC')), [source], 'page_aligned')
    if not made:
        raise MembwError(why, "'--imb-buffers own' goes without")
    return made
