"""A single flipped bit is found, wherever it is: flips in a running program, by a debugger.

MEMBW_ALL_FLIPS=1 tries every bit of every array, which takes minutes, in place of a sample.
"""

import json
import os
import random
import shutil
import subprocess

import pytest
from places import ROOT
from record_schema import check

CLANG = shutil.which('clang-19') or shutil.which('clang')
SIZE, NTIMES = 5000, 6
DICE = random.Random(2013)


@pytest.fixture(scope='module')
def program(build_program):
    return build_program('stream', '-g')


def records_of(program, flips, folder):
    """One run for each flip; their records, in order."""
    (folder / 'flips.json').write_text(json.dumps(flips))
    done = subprocess.run(
        ['gdb', '-nx', '-batch', '-x', ROOT / 'tests/lib/flip_bits.py', program],
        env={**os.environ, 'FLIPS': str(folder), 'FLIPS_SIZE': str(SIZE)}
        | {'FLIPS_NTIMES': str(NTIMES), 'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900 if os.environ.get('MEMBW_ALL_FLIPS') else 120,
    )
    files = [folder / f'record-{number}.json' for number in range(len(flips))]
    assert all(f.exists() and f.stat().st_size for f in files), done.stdout + done.stderr
    records = [json.loads(f.read_text()) for f in files]
    for record in records:
        check(record)
    return records


def bits_changed(wrong):
    return int(wrong['expected_bits'], 16) ^ int(wrong['found_bits'], 16)


def is_invalid(record):
    reasons = [reason['reason'] for reason in record['reasons']]
    return record['verdict'] == 'INVALID' and 'not-validated' in reasons


def at_validation():
    """Every bit position, the arrays in turn, and the ends of each array; all, if asked to."""
    every = range(3) if os.environ.get('MEMBW_ALL_FLIPS') else None
    flips = [
        ['validate_arrays', 0, array, DICE.randrange(SIZE), bit]
        for bit in range(64)
        for array in every or [bit % 3]
    ]
    ends = [(array, index) for array in range(3) for index in (0, SIZE - 1)]
    return flips + [['validate_arrays', 0, *end, DICE.randrange(64)] for end in ends]


def test_every_bit_is_found_at_validation(program, tmp_path):
    flips = at_validation()
    found = 0
    for (_, _, array, index, bit), record in zip(flips, records_of(program, flips, tmp_path)):
        wrong = record['validation']['first']
        assert is_invalid(record) and record['validation']['wrong_elements'] == len(wrong) == 1
        assert (wrong[0]['array'], wrong[0]['index']) == ('abc'[array], index)
        assert bits_changed(wrong[0]) == 1 << bit
        assert wrong[0]['host'] == record['host']
        found += 1
    print(f'bit flips at validation: {found} of {len(flips)} found')


# the kernel that is about to begin, and an array that it or a later one reads
READ_NEXT = [
    ('kernel_copy', 0),
    ('kernel_scale', 0),
    ('kernel_scale', 2),
    ('kernel_add', 0),
    ('kernel_add', 1),
    ('kernel_triad', 1),
    ('kernel_triad', 2),
]


@pytest.mark.parametrize('kernel, array', READ_NEXT, ids=[f'{k}-{"abc"[a]}' for k, a in READ_NEXT])
def test_a_bit_flipped_between_kernels_is_found(program, tmp_path, kernel, array):
    few = [0, 1, 62, 63, *DICE.sample(range(2, 62), 2)]
    bits = range(64) if os.environ.get('MEMBW_ALL_FLIPS') else few
    flips = [
        [kernel, DICE.randrange(NTIMES - 1), array, DICE.randrange(SIZE), bit] for bit in bits
    ]
    found = 0
    for (*_, index, _), record in zip(flips, records_of(program, flips, tmp_path)):
        assert is_invalid(record)
        assert {wrong['index'] for wrong in record['validation']['first']} == {index}
        assert 'a' in {wrong['array'] for wrong in record['validation']['first']}
        found += 1
    print(f'bit flips of {"abc"[array]} before {kernel}: {found} of {len(flips)} found')


COMPILED = ['-O2', '-O3 -march=native', '-Ofast -march=native -DSTREAM_TYPE=float']


@pytest.mark.parametrize('flags', COMPILED)
@pytest.mark.parametrize('compiler', ['gcc', 'clang'])
def test_clean_runs_report_nothing(build_program, compiler, flags, tmp_path):
    if compiler == 'clang' and not CLANG:
        pytest.skip("'clang' is not on the PATH")
    cc = CLANG if compiler == 'clang' else 'gcc'
    program = build_program('stream', *flags.split(), cc=cc)
    for ntimes in (2, 3, 4, 5, 18):
        path = tmp_path / f'{ntimes}.json'
        command = [program, '-n', str(SIZE), '-t', str(ntimes), '--json', path]
        subprocess.run(command, capture_output=True)
        record = check(json.loads(path.read_text()))
        assert record['validation'] == {'ok': True, 'wrong_elements': 0, 'first': []}
        assert 'not-validated' not in [reason['reason'] for reason in record['reasons']]
