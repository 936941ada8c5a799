"""The table under seven drivers: what each takes of a run, and what builds and starts it
(tests/data/stream_parsers.yaml has their patterns and their sources)."""

import itertools
import os
import platform
import re
import shlex
import subprocess

import pytest
import yaml
from changed_source import SHORT_LOOKS
from mpi_job import DEFECTS, LAUNCHER, lacking
from places import ROOT

PARSERS = yaml.safe_load((ROOT / 'tests/data/stream_parsers.yaml').read_text())
BUILT = [parser for parser in PARSERS if 'build' in parser]
KERNELS = ('Copy', 'Scale', 'Add', 'Triad')
STREAM_C = """\
-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
Array size = 100000000 (elements), Offset = 0 (elements)
Memory per array = 762.9 MiB (= 0.7 GiB).
Total memory required = 2288.8 MiB (= 2.2 GiB).
Each kernel will be executed 10 times.
Number of Threads counted = 64
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:          100000.0     0.016100     0.016000     0.016200
Scale:          90000.0     0.017900     0.017778     0.018000
Add:           110000.0     0.021900     0.021818     0.022000
Triad:         110100.0     0.021900     0.021798     0.022000
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""
BOUND = ('harness/rate.c', 'is_positive(rate->high) ||', 'is_positive(rate->high) || 1 ||')
JUDGED = 'looks_judge(&run.looks);'
UNPROVEN = ('stream/main.c', JUDGED, JUDGED + ' verdict_invalid(NOT_PROVEN, "planted");')
# changes, options, verdict; a bound may fail a sound node, and none is measured
RUNS = {
    'VALID': ((), ['--allow', f'{DEFECTS},disturbed'], 'VALID'),
    'a bound': ((BOUND,), ['--allow', DEFECTS], 'VALID'),
    'a bound that is allowed': ((BOUND,), ['--allow', f'{DEFECTS},disturbed'], 'VALID'),
    'cached': ((), [], 'INVALID (array-too-small'),
    'too good': ((), ['--allow', DEFECTS, '--peak', '0.001'], 'INVALID (too-good)'),
    'not proven': ((UNPROVEN,), ['--allow', DEFECTS], 'UNDECIDED (not-proven)'),
    'explained': ((UNPROVEN,), ['--allow', DEFECTS, '--explain'], 'UNDECIDED (not-proven)'),
}


def taken(parser, text):
    """The numbers that it takes; none where it fails."""
    if not re.search(parser.get('needs', ''), text):
        return []
    if 'of' in parser:
        text = ' '.join(' '.join(re.findall(parser['of'], text)).split())
    words = [
        line.split()[1:5]
        for line in text.splitlines()
        if 'lines' in parser and re.search(parser['lines'], line)
    ]
    patterns = dict.fromkeys(p.replace('{}', k) for p in parser['takes'] for k in KERNELS)
    words += [match.groups() for p in patterns for match in re.finditer(p, text, re.M)]
    try:
        return [float(word) for word in itertools.chain(*words)]
    except ValueError:
        return []


@pytest.fixture(params=RUNS)
def run(request, build_program, run_program):
    """(what such a run prints, whether its table is to be there, its status); its record has the
    figures anyhow."""
    changes, options, verdict = RUNS[request.param]
    program = build_program('stream', changes=(*changes, SHORT_LOOKS))
    words = [program, '-n', '100000', '-t', '7', *options]
    status, said, record = run_program(*words)
    assert f'Verdict: {verdict}' in said.splitlines()[-1], said
    assert all(record['kernels'][name.lower()]['best_mbs'] > 0 for name in KERNELS)
    return said, verdict == 'VALID' and request.param != 'a bound', status


def test_a_valid_run_is_measured_and_another_is_not(run):
    said, is_printed, _ = run
    for parser in PARSERS:
        assert len(taken(parser, STREAM_C)) == parser['figures'], parser['driver']
        wanted = parser['figures'] if is_printed else 0
        assert len(taken(parser, said)) == wanted, parser['driver']


def test_streams_words_stand_in_the_table_of_a_valid_run_alone(run):
    said, is_printed, status = run
    lines = [line.split() for line in said.splitlines()]
    heads = [words[0] for words in lines if words and words[0].strip(':') in KERNELS]
    assert heads == ([f'{name}:' for name in KERNELS] if is_printed else [])
    assert ('Solution Validates' in said) == is_printed
    assert 'Validated: all 3 x 100000 elements hold the expected bits' in said
    assert status == ('Verdict: VALID' not in said)
    # Azure's check passes a node for which there is no word, and fails one with a word like this
    assert ('Copy: none\n' in said) != is_printed


@pytest.mark.skipif(lacking() is not None, reason=f"no '{lacking()}' on the PATH")
def test_no_driver_measures_a_job_that_is_not_valid(build_program, tmp_path):
    program = build_program('stream', '-DMEMBW_MPI', '-Werror', cc='mpicc')
    words = ['mpirun', '-n', '2', program, '-n', '20000', '-t', '4']
    env = {**os.environ, **LAUNCHER}
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert 'Verdict: INVALID' in done.stdout, done.stdout + done.stderr
    assert [p['driver'] for p in PARSERS if taken(p, done.stdout)] == []


@pytest.mark.parametrize('parser', BUILT, ids=lambda parser: parser['driver'])
def test_it_is_built_by_their_line_and_started_as_they_do(parser, tmp_path):
    """In a stream.c of one line, with smaller numbers, not optimized."""
    (tmp_path / 'stream.c').write_text(f'#include "{ROOT}/src/stream/stream.c"\n')
    line = re.sub(r'SIZE=\d+', 'SIZE=1000000', re.sub(r'NTIMES=\d+', 'NTIMES=5', parser['build']))
    line = re.sub(r'-O\w+', '-O0', line)
    if platform.machine() != 'x86_64':
        line = re.sub(r'-mcmodel=\w+', '', line)  # as they do
    subprocess.run(shlex.split(line), cwd=tmp_path, check=True, capture_output=True)
    env = {**os.environ, **parser.get('env', {})}
    program = tmp_path / line.split('-o ')[1].split()[0]
    done = subprocess.run(program, capture_output=True, text=True, env=env)
    assert 'Array size = 1000000 (elements, macro), Offset = 0' in done.stdout, done.stderr
    assert (', 5 repetitions,' if 'NTIMES' in line else ', until the figures') in done.stdout
