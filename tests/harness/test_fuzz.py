"""Readers of the syntax of others get mutated texts: nothing hangs, overflows or is invented."""

import re
import subprocess
import time

from changed_source import copy_source

SANITIZERS = '-fsanitize=address,undefined,float-cast-overflow'
TRIED = ('harness/sysfile.c', 'return fopen(path, "r");', 'return fuzz_open(path);')


def test_readers_survive_mutated_texts(tmp_path, capsys):
    source, program = copy_source(tmp_path, TRIED), tmp_path / 'fuzz'
    line = [
        'gcc',
        '-O1',
        '-g',
        '-w',
        SANITIZERS,
        '-fno-sanitize-recover=all',
        f'-I{source}',
        '-fopenmp',
    ]
    subprocess.run([*line, tmp_path / 'tests/probes/fuzz.c', '-o', program], check=True)
    seed = str(time.time_ns() % 10**9)
    done = subprocess.run([program, '4', seed], capture_output=True, text=True)
    assert done.returncode == 0, f'seed {seed}: {done.stdout}{done.stderr}'
    cases = list(map(int, re.findall(r': (\d+) cases', done.stdout)))
    assert len(cases) == 12 and min(cases) > 5, done.stdout
    with capsys.disabled():
        print(f' {sum(cases)} cases in 4 s, seed {seed}', end=' ')
