"""A single flipped bit is found, wherever it is: flips in a running program, by a debugger.

A run has several, each in a block of the validation's of its own, which the others do not give
away. MEMBW_ALL_FLIPS=1 tries every bit of every array, in place of a sample.
"""

import json
import os
import random
import subprocess

import pytest
from places import ROOT
from record_schema import check

# the validation compares so many elements at once; those of a run lie further apart, whatever is
# added to where they begin
BLOCK, APART, ADDED = 1024, 1700, 600
SIZE, NTIMES = 12000, 6
SLOTS = SIZE // APART - 1
ALL = bool(os.environ.get('MEMBW_ALL_FLIPS'))
DICE = random.Random(2013)


def in_groups(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]


def at_validation():
    """Runs with every bit position, the arrays in turn, nine each; with the ends of each array,
    one each; with every bit of every array, if asked to."""
    every = [(array, bit) for bit in range(64) for array in (range(3) if ALL else [bit % 3])]
    several = [
        [[array, n // 3 * APART + DICE.randrange(ADDED), bit] for n, (array, bit) in enumerate(g)]
        for g in in_groups(every, 9)
    ]
    ends = [(array, index) for array in range(3) for index in (0, SIZE - 1)]
    return several + [[[*end, DICE.randrange(64)]] for end in ends]


# the kernel that is about to begin, and an array that it or a later one reads
READ_NEXT = [('kernel_copy', 0), ('kernel_scale', 0), ('kernel_scale', 2), ('kernel_add', 0),
             ('kernel_add', 1), ('kernel_triad', 1), ('kernel_triad', 2)]  # fmt: skip


def between_kernels(array):
    """Runs with the ends of a number and two more of its bits; with every bit, if asked to."""
    bits = list(range(64)) if ALL else [0, 1, 62, 63, *DICE.sample(range(2, 62), 2)]
    return [
        [[array, n * APART + DICE.randrange(ADDED), bit] for n, bit in enumerate(group)]
        for group in in_groups(bits, SLOTS)
    ]


@pytest.fixture(scope='module')
def found(build_program, tmp_path_factory):
    """{(where, array or None): [(flips, record of the run that had them), ...]}, by one gdb."""
    folder = tmp_path_factory.mktemp('flips')
    planned = {('validate_arrays', None): [(0, flips) for flips in at_validation()]}
    for kernel, array in READ_NEXT:
        runs = between_kernels(array)
        planned[kernel, array] = [(DICE.randrange(NTIMES - 1), flips) for flips in runs]
    runs = [(where, *run) for (where, _), runs in planned.items() for run in runs]
    (folder / 'runs.json').write_text(json.dumps(runs))
    script = ROOT / 'tests/lib/flip_bits.py'
    variables = {'FLIPS': str(folder), 'FLIPS_SIZE': str(SIZE), 'FLIPS_NTIMES': str(NTIMES)}
    variables |= {'OMP_NUM_THREADS': '2', 'OMP_WAIT_POLICY': 'passive'}
    done = subprocess.run(
        ['gdb', '-nx', '-batch', '-x', script, build_program('stream', '-g')],
        env=os.environ | variables, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=900 if ALL else 240,
    )  # fmt: skip
    files = [folder / f'record-{number}.json' for number in range(len(runs))]
    assert all(f.exists() and f.stat().st_size for f in files), done.stdout + done.stderr
    records = iter([check(json.loads(f.read_text())) for f in files])
    return {key: [(flips, next(records)) for _, flips in runs] for key, runs in planned.items()}


def bits_changed(wrong):
    return int(wrong['expected_bits'], 16) ^ int(wrong['found_bits'], 16)


def is_invalid(record):
    reasons = [reason['reason'] for reason in record['reasons']]
    return record['verdict'] == 'INVALID' and 'not-validated' in reasons


def test_every_bit_is_found_at_validation(found):
    runs = found['validate_arrays', None]
    assert {bit for flips, _ in runs for *_, bit in flips} == set(range(64))
    for flips, record in runs:
        wrong = record['validation']['first']
        assert is_invalid(record) and record['validation']['wrong_elements'] == len(flips)
        seen = [(w['array'], w['index'], bits_changed(w)) for w in wrong]
        assert seen == sorted(('abc'[array], index, 1 << bit) for array, index, bit in flips)
        assert {w['host'] for w in wrong} == {record['host']}


@pytest.mark.parametrize('kernel, array', READ_NEXT, ids=[f'{k}-{"abc"[a]}' for k, a in READ_NEXT])
def test_a_bit_flipped_between_kernels_is_found(found, kernel, array):
    for flips, record in found[kernel, array]:
        assert is_invalid(record)
        # a is written from the others last: whatever was flipped has reached it, and is listed
        in_a = {w['index'] for w in record['validation']['first'] if w['array'] == 'a'}
        assert in_a == {index for _, index, _ in flips}
        assert {w['index'] for w in record['validation']['first']} == in_a
