"""The recording stand-in compiler, and how a test puts one up."""

import json
import pathlib
import shutil

HERE = pathlib.Path(__file__).resolve().parent
# what the real ones print: nvc an empty line first, icc from 2021.7 on a remark at each call
DEPRECATED = (
    'icc: remark #10441: The Intel(R) C++ Compiler Classic (ICC) is deprecated and will be '
    'removed from product release in the second half of 2023. The Intel(R) oneAPI DPC++/C++ '
    'Compiler (ICX) is the recommended compiler moving forward. Please transition to use this '
    "compiler. Use '-diag-disable=10441' to disable this message."
)
BANNERS = {
    'icc': 'icc (ICC) 2021.10.0 20230609',
    'icc13': 'icc (ICC) 13.1.3 20130607',
    'icx': 'Intel(R) oneAPI DPC++/C++ Compiler 2024.2.1 (2024.2.1.20240711)',
    'nvc': '\nnvc 24.5-0 64-bit target on x86-64 Linux -tp zen3',
    'armclang': 'Arm C/C++/Fortran Compiler version 23.10 (build number 14) (based on LLVM 17)',
    'cce': 'Cray clang version 15.0.1  (324a8e7de6a18594c06a0ee5d8c0eda2109c6ac6)',
    'fcc': 'fcc (FCC) 4.8.1 20220913',
    'aocc': 'AMD clang version 17.0.6 (CLANG: AOCC_5.0.0-Build#1377 2024_09_24)',
    'atfl': 'Arm Toolchain for Linux 22.1.0 clang version 22.1.0 (https://github.com/arm)',
}
# of POSIX, and mktemp: what a build needs but for make
BUILD_TOOLS = """basename cat cksum cut dirname find fold grep ls mkdir mktemp rm sed sh sort tr
    uname xargs""".split()
# what the real ones define; the sources: their manuals, CMake's tests, and of AOCC a list of such
MACROS = {
    'icc': {'__INTEL_COMPILER': '2021', '__INTEL_COMPILER_UPDATE': '10'},
    'icc13': {'__INTEL_COMPILER': '1310', '__INTEL_COMPILER_UPDATE': '3'},
    'icx': {'__INTEL_LLVM_COMPILER': '20240201', '__clang_major__': '19'},
    'nvc': {'__NVCOMPILER_MAJOR__': '24', '__NVCOMPILER_MINOR__': '5'},
    'armclang': {'__armclang_major__': '23', '__armclang_minor__': '10', '__clang_major__': '17'},
    'cce': {'__cray_major__': '15', '__cray_minor__': '0', '__cray_patchlevel__': '1'},
    'fcc': {'__FCC_major__': '4', '__FCC_minor__': '8', '__FCC_patchlevel__': '1'},
    'aocc': {'__VERSION__': '"AMD Clang 17.0.6 (CLANG: AOCC_5.0.0-Build#1377 2024_09_24)"'},
    'atfl': {'__VERSION__': '"Arm Toolchain for Linux 22.1.0 Clang 22.1.0 ()"'},
    'clang': {},
    'gcc': {},
}
CLANG = ('__clang_major__', '__clang_minor__', '__clang_patchlevel__')
GNU = ('__GNUC__', '__GNUC_MINOR__', '__GNUC_PATCHLEVEL__')


def macros(family, version=''):
    """{name: value} of a compiler of that family: all say that they are a gcc, most a clang."""
    found = dict(zip(GNU, ('4', '2', '1'))) | MACROS[family]
    if family in ('clang', 'aocc', 'icx', 'cce', 'armclang', 'atfl'):
        found |= dict(zip(CLANG, (version or '17.0.6').split('.')))
    if family == 'gcc':
        found |= dict(zip(GNU, version.split('.')))
    return found


def answers(family, version=''):
    """Lines of sh: to `-E FILE.c` that file with the macros of that family."""
    words = ''.join(
        f's|{name}|{value}|;'
        for name, value in sorted(macros(family, version).items(), reverse=True)
    )
    return f"""case "$*" in -E*) sed '{words}' "$2"; exit ;; esac\n"""


# the founding lines, as printed: preset -> (what is asked, the line up to the sources)
FOUNDING = {
    'icc-avx2': (
        {'array_size': '80000000', 'ntimes': '20'},
        'icc -O3 -xCORE-AVX2 -ffreestanding -qopenmp -DSTREAM_ARRAY_SIZE=80000000 -DNTIMES=20',
    ),
    'icc13-knc': (
        {'array_size': '64000000'},
        'icc -mmic -O3 -openmp -DSTREAM_ARRAY_SIZE=64000000 -opt-prefetch-distance=64,8 '
        '-opt-streaming-cache-evict=0 -opt-streaming-stores always',
    ),
    'icc13-knc-huge': (
        {'array_size': '64000000', 'libhugetlbfs': '/opt/libhugetlbfs'},
        'icc -mmic -O3 -openmp -DSTREAM_ARRAY_SIZE=64000000 -opt-prefetch-distance=64,8 '
        '-opt-streaming-cache-evict=0 -opt-streaming-stores always '
        '-Wl,-T/opt/libhugetlbfs/ldscripts/elf_x86_64.xBDT -L/opt/libhugetlbfs/obj64',
    ),
}


class StandIn:
    """One stand-in under `prefix`, posing as the compiler of a preset family."""

    def __init__(self, prefix, family, name):
        self.prefix = pathlib.Path(prefix)
        self.path = self.prefix / 'bin' / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / 'compiler.py', self.path)
        (self.prefix / 'VERSION').write_text(BANNERS[family] + '\n')
        (self.prefix / 'MACROS').write_text(json.dumps(macros(family)))
        (self.prefix / 'REMARK').write_text(f'{DEPRECATED}\n' if family == 'icc' else '')

    def link(self, words):
        """What it adds to each line, as the real one links its own runtime."""
        (self.prefix / 'LINK').write_text(words)

    def lines(self):
        """The calls that compiled our program; Spack itself tries `icc -v main.c`, too."""
        log = self.prefix / 'calls.jsonl'
        calls = [json.loads(text) for text in log.read_text().splitlines()] if log.exists() else []
        return [call for call in calls if 'stream.c' in call]


def sources(root):
    return ['stream.c']
