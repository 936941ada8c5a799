"""Each program at small sizes under AddressSanitizer and UndefinedBehaviorSanitizer; stream under
ThreadSanitizer, which knows OpenMP by LLVM's libarcher."""

import os
import pathlib
import shutil
import subprocess

import pytest
from clang_here import CLANG
from places import ROOT

SANITIZERS = (
    '-fsanitize=address,undefined,float-divide-by-zero',
    '-fno-sanitize-recover=undefined',
)
PROGRAMS = {
    'stream': '-n 20000 -t 3 --explain',
    'ladder': '--quick',
    'loaded': '--mixes 1r0w --rounds 3 --window 0.005 --chain-mib 8',
    'tiers': '--array-mib 1 --rounds 3',
    'pingpong': '--seconds 0.005',
    'nbody': '--bodies 500 --rounds 6',
    'overheads': '--pairs 10',
    'dgemm': '--shape square -n 64 -t 3',
}
TWO = {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}


def sanitized(program, options, **variables):
    words = [program, *options.split()]
    env = os.environ | TWO | variables
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1) and 'Verdict: ' in done.stdout, done.stdout + done.stderr
    assert 'Sanitizer' not in done.stderr, done.stderr


@pytest.mark.parametrize('program', PROGRAMS)
def test_no_program_does_what_is_undefined(build_program, tmp_path, program):
    """What is taken at the start is given back by the end of the process: leaks are none."""
    flags = [ROOT / 'tests/data/plain_dgemm.c'] if program == 'dgemm' else []
    path = build_program(program, *flags, *SANITIZERS, usual=('-O0', '-w', '-fopenmp'))
    options = f'{PROGRAMS[program]} --json {tmp_path}/r.json'
    sanitized(path, options, ASAN_OPTIONS='detect_leaks=0:exitcode=99')


def test_threads_write_nothing_without_an_order(build_program):
    clang = shutil.which(CLANG)
    folders = clang and pathlib.Path(os.path.realpath(clang)).parent.parent.glob('lib')
    archer = next(
        (f / 'libarcher.so' for f in folders or () if (f / 'libarcher.so').exists()), None
    )
    words = [clang or 'false', '-print-file-name=libclang_rt.tsan-x86_64.a']
    runtime = subprocess.run(words, capture_output=True, text=True).stdout
    if not archer or '/' not in runtime:
        pytest.skip("no clang with libarcher and ThreadSanitizer's library")
    path = build_program('stream', '-fsanitize=thread', cc=clang, usual=('-O1', '-w', '-fopenmp'))
    sanitized(
        path,
        '-n 20000 -t 3',
        TSAN_OPTIONS='ignore_noninstrumented_modules=1:exitcode=99',
        LD_LIBRARY_PATH=str(archer.parent),
        OMP_TOOL_LIBRARIES=str(archer),
    )
