"""What is found of the CPU time of a run: two threads, on a node whose counters are made up."""

import re
import subprocess

import pytest

WENT = 'not known: CPUs went on or off meanwhile'
SLOW = 'the clock is slow'
TAKEN = 'other processes used'
# CPUs at the start and at the end; seconds of all CPUs, of this process, by the clock
ROWS = {
    'alone': ('2 2 20 20 10', 'an estimate', ''),
    'a CPU that went off': ('2 1 10 10 10', 'a lower bound', WENT),
    'a CPU that went on': ('2 3 20 20 10', 'a lower bound', WENT),
    'a sixteenth by other processes': ('2 2 11.3 10 10', 'a lower bound', TAKEN),
    'a twenty-fifth by other processes': ('2 2 10.8 10 10', 'an estimate', ''),
    'a clock 1.04 times slow': ('2 2 20.8 20.8 10', 'an estimate', ''),
    'a clock 1.1 times slow': ('2 2 22 22 10', 'an estimate', f'2 threads used 22.00 s.*{SLOW}'),
    'the same, by the counters of all CPUs':
        ('2 2 22 20 10', 'a lower bound', f"the node's 2 CPUs were busy for 22.00 s.*{SLOW}"),
    'a quarter of a second that is counted late': ('2 2 0.7 0.2 0.1', 'a lower bound', TAKEN),
    'more than that': ('2 2 0.72 0.2 0.1', 'a lower bound', f'2 CPUs were busy.*{SLOW}'),
}  # fmt: skip


@pytest.fixture(scope='module')
def said(build_program):
    probe = build_program('tests/probes/interference.c')
    return lambda words: (
        subprocess.run([probe, *words.split()], capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.parametrize('row', ROWS)
def test_what_took_the_cpus_makes_a_bound_and_a_slow_clock_is_invalid(said, row):
    words, figure, why = ROWS[row]
    found = said(words)
    assert found.splitlines()[-1] == figure, found
    assert re.search(why, found)
    assert ('warning: disturbed' in found) == (figure == 'a lower bound')
    assert ('INVALID (clock)' in found) == (SLOW in why)
