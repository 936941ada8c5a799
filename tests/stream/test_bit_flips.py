"""A single flipped bit is found, wherever it is: flips in a running program.

A run has several, each in a block of the validation's of its own, which the others do not give
away. MEMBW_ALL_FLIPS=1 tries every bit of every array, in place of a sample.
"""

import os
import random

import pytest
from mpi_job import DEFECTS

# the validation compares 1024 elements at once; those of a run lie further apart, whatever is
# added to where they begin
APART, ADDED = 1700, 600
SIZE, NTIMES = 12000, 6
ALL = bool(os.environ.get('MEMBW_ALL_FLIPS'))
DICE = random.Random(2013)
# $FLIPS: "ARRAY INDEX BIT,..."; $WHERE: "KERNEL PASS" that is about to begin, or those of
# VALIDATION
VALIDATION = '-1 0'
INCLUDE, EXPECT = '#include "validate.h"', 'expect_after(v->expected, iterations);'
RUN = '\t\tstart = clock_now();\n\t\tkernels[k].run(arrays);'
PLANTED = [
    ('stream/kernels/validate.c', INCLUDE, f"""{INCLUDE}

#include <stdio.h>
#include <stdlib.h>

void flip(const struct arrays *arrays, int kernel, int pass)
{{
	int at, in, array, bit, used;
	size_t index;
	const char *next = getenv("FLIPS");

	sscanf(getenv("WHERE"), "%d %d", &at, &in);
	for (; sscanf(next, "%d %zu %d,%n", &array, &index, &bit, &used) == 3; next += used)
		if (at == kernel && in == pass)
			((unsigned char *)&arrays->of[array][index])[bit / 8] ^= 1 << bit % 8;
}}
"""),
    ('stream/kernels/validate.c', EXPECT, f'{EXPECT}\n\tflip(arrays, -1, 0);'),
    ('stream/measure.c', RUN, f'\t\tflip(arrays, k, i);\n{RUN}'),
]  # fmt: skip


def in_groups(bits):
    """[[(place, bit), ...], ...]: as many as an array has places for."""
    places = SIZE // APART - 1
    groups = [bits[i : i + places] for i in range(0, len(bits), places)]
    return [[(n * APART + DICE.randrange(ADDED), bit) for n, bit in enumerate(g)] for g in groups]


@pytest.fixture
def wrong(build_program, run_program):
    """wrong(where, flips): what the record of a run with them has of wrong elements."""

    def run(where, flips):
        text = ''.join(f'{array} {index} {bit},' for array, index, bit in flips)
        words = [build_program('stream', changes=PLANTED), '-n', SIZE, '-t', NTIMES]
        status, said, record = run_program(*words, '--allow', DEFECTS, WHERE=where, FLIPS=text)
        assert status == 1 and said.endswith('Verdict: INVALID (not-validated)\n')
        assert 'Solution Validates' not in said
        assert {w['host'] for w in record['validation']['first']} == {record['host']}
        return record['validation']

    return run


def test_every_bit_is_found_at_validation(wrong):
    """Of the arrays in turn; and any bit at the ends of each array."""
    runs = [[(array, *at) for at in group] for array in range(3)
            for group in in_groups([b for b in range(64) if ALL or b % 3 == array])]  # fmt: skip
    assert {bit for flips in runs for *_, bit in flips} == set(range(64))
    runs += [[(array, 0, DICE.randrange(64)), ((array + 1) % 3, SIZE - 1, DICE.randrange(64))]
             for array in range(3)]  # fmt: skip
    for flips in runs:
        found = wrong(VALIDATION, flips)
        assert found['wrong_elements'] == len(flips)
        seen = [(w['array'], w['index'], int(w['expected_bits'], 16) ^ int(w['found_bits'], 16))
                for w in found['first']]  # fmt: skip
        assert seen == sorted(('abc'[array], index, 1 << bit) for array, index, bit in flips)


def test_more_than_the_list_holds_are_all_counted_and_the_first_are_listed(wrong):
    """Those of a thread that ends first are not the first."""
    flips = [(array, index, 5) for array in (2, 0) for index in range(SIZE - 20, SIZE)]
    flips += [(1, index, 6) for index in range(12)]
    found = wrong(VALIDATION, flips)
    assert found['wrong_elements'] == len(flips) == 52
    listed = [(w['array'], w['index']) for w in found['first']]
    assert listed == [('a', index) for index in range(SIZE - 20, SIZE - 10)]


# the kernel that is about to begin, and an array that it or a later one reads
READ_NEXT = [(0, 0), (1, 0), (1, 2), (2, 0), (2, 1), (3, 1), (3, 2)]


@pytest.mark.parametrize('kernel, array', READ_NEXT)
def test_a_bit_flipped_between_kernels_is_found(wrong, kernel, array):
    """The ends of a number and two more of its bits."""
    bits = list(range(64)) if ALL else [0, 1, 62, 63, *DICE.sample(range(2, 62), 2)]
    for group in in_groups(bits):
        found = wrong(f'{kernel} {DICE.randrange(NTIMES - 1)}', [(array, *at) for at in group])
        # a is written from the others last: whatever was flipped has reached it, and is listed
        in_a = {w['index'] for w in found['first'] if w['array'] == 'a'}
        assert in_a == {index for index, _ in group} == {w['index'] for w in found['first']}
