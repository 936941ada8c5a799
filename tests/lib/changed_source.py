"""A copy of the C sources with changes: how a test plants a fault, or poses as another machine.

A change is (file below src, text that stands there once, text in its place).
"""

import shutil

from places import ROOT


def copy_source(folder, *changes):
    """The sources and the probes of the tests, changed, in `folder`; the path of its src."""
    source = folder / 'src'
    python = shutil.ignore_patterns('membw', '*.egg-info')
    shutil.copytree(ROOT / 'src', source, ignore=python, dirs_exist_ok=True)
    shutil.copytree(ROOT / 'tests/probes', folder / 'tests/probes', dirs_exist_ok=True)
    for name, old, new in changes:
        text = (source / name).read_text()
        assert text.count(old) == 1, f"{name}: '{old}' stands there {text.count(old)} times"
        (source / name).write_text(text.replace(old, new))
    return source


# the files of /sys are those below $MACHINE, and those of /proc that are there; CPUID says nothing
# of caches, and sysconf that they have $LLC_BYTES
OTHER_MACHINE = (
    (
        'harness/sysfile.c',
        'return fopen(path, "r");',
        'char other[8192];\n\tsnprintf(other, sizeof(other), "%s%s", getenv("MACHINE"), path);\n'
        '\tFILE *const file = fopen(other, "r");\n'
        '\treturn file || strncmp(path, "/sys/", 5) == 0 ? file : fopen(path, "r");',
    ),
    ('harness/machine/cpu_cache.c', 'cpu_cache_read_leaf(cache, &share, INTEL_LEAF);', ''),
    ('harness/machine/cpu_cache.c', 'cpu_cache_read_leaf(cache, &share, AMD_LEAF);', ''),
    (
        'harness/machine/llc.c',
        '#include <unistd.h>',
        '#include <unistd.h>\n'
        '#define sysconf(name) (getenv("LLC_BYTES") ? atol(getenv("LLC_BYTES")) : 0)',
    ),
)


# what follows stream's repetitions takes most of a tiny run's time
SHORT_LOOKS = ('stream/looks/looks.c', 'LASTS = 0.12', 'LASTS = 0')


def write_files(root, files):
    """{path: text} below a folder, each with a newline; returns the folder."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else f'{text}\n'.encode())
    return root


def on_rank(rank, statement):
    """A statement of C for one rank of MPI, or of srun."""
    variable = 'getenv("OMPI_COMM_WORLD_RANK")'
    return f'if ({variable} && atoi({variable}) == {rank}) {{ {statement} }}'


def flipped_bit(array, index, bit, rank=None):
    """One bit of an element is flipped before stream validates; on one rank alone, if given."""
    line = f'((unsigned char *)&arrays->of[{array}][{index}])[{bit // 8}] ^= {1 << bit % 8};'
    before = 'expect_after(v->expected, iterations);'
    planted = line if rank is None else on_rank(rank, line)
    return (('stream/kernels/validate.c', before, f'{before}\n\t{planted}'),)
