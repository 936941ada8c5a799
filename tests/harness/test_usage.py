"""Bad input of every program but stream: one line, a hint, exit status 2 and no record."""

import os
import subprocess

import pytest
from places import ROOT

ONE, OTHER = (sorted(os.sched_getaffinity(0)) * 2)[:2]
PLAIN = ROOT / 'tests/data/plain_dgemm.c'
BAD_INPUT = [
    ('pingpong', f'--pairs {ONE}-{ONE}', 'is paired with itself'),
    ('pingpong', f'--pairs {ONE}-8000', 'this process may not run on CPU 8000'),
    ('pingpong', '--pairs 0-1,', "invalid value for '--pairs': '0-1,'"),
    ('pingpong', f'--pairs {ONE}-{OTHER},{OTHER}-{ONE}', 'is the same pair as '),
    ('overheads', '--constructs barrier,', "invalid value for '--constructs': ''"),
    ('dgemm', '--threading omp', "invalid value for '--threading': 'omp'"),
    ('loaded', '--mix 1r0w', "unknown option '--mix'"),
    ('pingpong', '--method tcp', "invalid value for '--method': 'tcp'"),
    ('dgemm', '-n 4', "invalid value for '-n': '4'"),
    ('dgemm', '-n 900000', "'-n 900000' takes"),
    ('dgemm', '--shape round', "invalid value for '--shape': 'round'"),
    ('dgemm', '--peak 448', "unknown option '--peak'"),
    ('nbody', '--threads 0', "invalid value for '--threads': '0'"),
    ('nbody', '--precision half', "invalid value for '--precision': 'half'"),
    ('nbody', '--bodies 15', '--bodies'),
    ('overheads', '--threads 0', "invalid value for '--threads': '0'"),
    ('overheads', '--constructs barriers', "invalid value for '--constructs': 'barriers'"),
    ('overheads', '--pairs 5', '--pairs'),
    ('loaded', '--mixes 5r0w', '5r0w'),
    ('nbody', '--allow nosuch', "invalid value for '--allow': 'nosuch'"),
]


@pytest.mark.skipif(ONE == OTHER, reason='this machine has one CPU, a pair takes two')
@pytest.mark.parametrize('program, options, said', BAD_INPUT)
def test_bad_input_is_one_line_a_hint_and_exit_status_2(
    build_program, tmp_path, program, options, said
):
    flags = ['-O0', PLAIN] if program == 'dgemm' else []
    words = [build_program(program, *flags), *options.split(), '--json', tmp_path / 'r']
    done = subprocess.run(words, capture_output=True, text=True)
    fact, hint, *more = done.stderr.splitlines()
    assert all(len(line) <= 100 and line.startswith('  ') for line in more) and len(hint) <= 100
    assert done.returncode == 2 and done.stdout == '' and not (tmp_path / 'r').exists()
    assert fact.startswith('membw: ') and said in fact and hint.startswith('hint: ')
