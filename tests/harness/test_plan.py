"""The time left is that of the work left, and never more than what the program gives itself."""

import subprocess

LINES = """\
membw-progress: 8 of 10 sizes, about 30 s left
membw-progress: 9 of 10 sizes, about 32 s left
membw-progress: 9 of 10 sizes, about 0 s left
membw-progress: 9 of 10 points, about 18 s left
"""


def test_many_small_sizes_are_little_of_the_work(build_program):
    words = [build_program('tests/probes/plan.c'), *'8 0.25 10 9 0.05 20 9 0.9 60'.split()]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, LINES)
