"""The time left is that of the work left, and never more than what the program gives itself."""

import subprocess

from places import ROOT

LINES = """\
membw-progress: 8 of 10 sizes, about 30 s left
membw-progress: 9 of 10 sizes, about 32 s left
membw-progress: 9 of 10 sizes, about 0 s left
membw-progress: 9 of 10 points, about 18 s left
"""


def test_many_small_sizes_are_little_of_the_work(tmp_path):
    line = ['gcc', '-O1', '-w', str(ROOT / 'tests/probes/plan.c'), '-o', str(tmp_path / 'plan')]
    subprocess.check_call(line)
    words = '8 0.25 10 9 0.05 20 9 0.9 60'.split()
    done = subprocess.run([tmp_path / 'plan', *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, LINES)
