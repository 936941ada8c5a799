"""pocl, which runs OpenCL on the cores, and a library in front of it that lies."""

import glob
import subprocess

import pytest
from places import ROOT

# of pocl's kernels one shape is compiled: each takes it a fifth of a second
QUICK = ('-n', '300000', '--rounds', '10', '--local', '64', '--width', '1',
         '--allow', 'array-too-small,too-short')  # fmt: skip


def variables(folder):
    """Those with which a program finds the liar, which is built in this folder; a test is skipped
    where there is no pocl."""
    loaders = glob.glob('/usr/lib/*/libOpenCL.so.1') + glob.glob('/usr/lib64/libOpenCL.so.1')
    if not loaders or not glob.glob('/etc/OpenCL/vendors/pocl*.icd'):
        pytest.skip("no pocl (Debian's package pocl-opencl-icd)")
    source = ROOT / 'tests/lib/lying_opencl.c'
    line = ['gcc', '-shared', '-fPIC', source, '-o', folder / 'libOpenCL.so.1', '-ldl']
    subprocess.run(line, check=True)
    return {'LD_LIBRARY_PATH': folder, 'REAL_OPENCL': loaders[0]}
