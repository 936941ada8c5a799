"""Who is named as having computed while we measured."""

import re
import subprocess

import pytest
from places import ROOT


# alone: the three busiest are named
@pytest.mark.alone
def test_what_a_child_took_before_is_not_of_its_parent_meanwhile(tmp_path):
    """A run of ten minutes that ended in these three seconds was told as '303.9 s'."""
    program = tmp_path / 'neighbours'
    line = ['gcc', '-O1', '-fopenmp', f'-I{ROOT}/src', ROOT / 'tests/probes/neighbours.c']
    subprocess.run([*line, '-o', program, '-lm'], check=True)
    for before, meanwhile, least, most in ((0.6, 0, 0, 0.2), (0.2, 0.6, 0.5, 0.75)):
        done = subprocess.run(
            [program, f'{before}', f'{meanwhile}'], capture_output=True, text=True
        )
        parent = done.stdout.split(',')[0].strip()
        said = re.search(rf'\({parent}\) (\S+) s', done.stdout)
        assert least <= float(said[1] if said else 0) <= most, done.stdout
