"""What programs say while they work, and how they write numbers."""

import subprocess

LINES = """\
membw-progress: 8 of 10 sizes, about 30 s left
membw-progress: 9 of 10 sizes, about 32 s left
membw-progress: 9 of 10 sizes, about 0 s left
membw-progress: 9 of 10 points, about 18 s left
"""


def test_a_number_has_no_exponent_and_no_zero_is_below_zero(build_program):
    words = [build_program('tests/probes/numbers.c'), *'1234567 0.0000123 -0.0 256 nan'.split()]
    said = subprocess.run(words, capture_output=True, text=True).stdout
    assert said == '1234567 1234567 s, 0.0000123 12.3 us, 0 0 us, 256 256 s, - - s, '


def test_many_small_sizes_are_little_of_the_work(build_program):
    """The time left is that of the work left, never more than the program gives itself."""
    words = [build_program('tests/probes/plan.c'), *'8 0.25 10 9 0.05 20 9 0.9 60'.split()]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, LINES)
