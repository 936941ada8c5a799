"""Readers of the syntax of others get mutated texts: nothing hangs, overflows or is invented."""

import re
import subprocess
import time

SANITIZERS = '-g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all'
TRIED = ('harness/sysfile.c', 'return fopen(path, "r");', 'return fuzz_open(path);')


def test_readers_survive_mutated_texts(build_program, capsys):
    words = SANITIZERS.split()
    program = build_program('tests/probes/fuzz.c', '-O1', *words, changes=[TRIED])
    seed = str(time.time_ns() % 10**9)
    done = subprocess.run([program, '3', seed], capture_output=True, text=True)
    assert done.returncode == 0, f'seed {seed}: {done.stdout}{done.stderr}'
    cases = list(map(int, re.findall(r': (\d+) cases', done.stdout)))
    assert len(cases) == 12 and min(cases) > 5, done.stdout
    with capsys.disabled():
        print(f' {sum(cases)} cases in 3 s, seed {seed}', end=' ')
