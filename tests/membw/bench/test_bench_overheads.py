"""The part overheads of `membw bench`: EPCC's output, both programs in turn."""

import json
import os

import pytest
from places import ROOT

from membw.bench import overheads
from membw.errors import MembwError

# as openmpbench_C_v31/common.c prints it (printfooter); the figures are of a busy machine
SYNCBENCH = """BARRIER time     = 109.061285 microseconds +/- 368.172
BARRIER overhead = 108.958729 microseconds +/- 368.192552
PARALLEL FOR overhead = 212.486917 microseconds +/- 717.561510
LOCK/UNLOCK overhead = -0.026000 microseconds +/- 1.200000
"""


def test_what_epcc_prints_is_read():
    assert overheads.epcc_overheads(SYNCBENCH) == {
        'parallel_for': (212.486917, 717.56151),
        'barrier': (108.958729, 368.192552),
        'lock': (-0.026, 1.2),
    }


def test_runs_that_lie_apart_are_told_and_what_has_no_figure_too():
    runs = {'overheads': [{'barrier': 0.26}, {'barrier': 0.27}, {}], 'EPCC': [{'barrier': -1.0}]}
    found = overheads.row('barrier', runs)
    assert found['overheads']['median'] == pytest.approx(0.265)
    assert found['overheads']['apart'] == pytest.approx(0.27 / 0.26)
    assert found['overheads']['runs'] == 2 and found['EPCC']['apart'] is None


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason='this machine has one CPU')
def test_both_run_in_turn_and_the_table_names_both(call, tmp_path, one_run):
    epcc = tmp_path / 'syncbench'
    epcc.write_text(f"#!/bin/sh\ncat <<'EOF'\n{SYNCBENCH}EOF\n")
    epcc.chmod(0o755)
    done = call('membw', 'bench', '--only', 'overheads', '--rounds', '1', '--epcc', epcc,
                '--out', tmp_path / 'bench')  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = [ln for ln in done.stdout.splitlines() if ln.split()[:1] == ['barrier']]
    assert line.split()[3:] == ['109', 'x1.00']
    (path,) = (tmp_path / 'bench').glob('*.json')
    assert set(json.loads(path.read_text())['overheads']['runs']) == {'overheads', 'EPCC'}


def test_a_program_that_is_not_there_is_refused():
    with pytest.raises(MembwError, match="no program '/no/syncbench'"):
        overheads.measured(print, '/no/syncbench', 1)
    assert (ROOT / 'src/overheads/overheads.c').is_file()
