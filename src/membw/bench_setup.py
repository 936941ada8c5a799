"""How long setting up the arrays takes, beside what their page faults must."""

import os
import pathlib
import subprocess

from membw import bench_machine
from membw.bench_build import LINES, build, own_sources
from membw.bench_programs import PINNED
from membw.errors import MembwError

GIB = 2**30
# no more than anyone asked about; a fifth of the memory is left to the rest of the machine
MOST, SHARE = 64 * GIB, 0.8
ROUNDS = 5
WAYS = ('ours', 'faults')


def size():
    """Bytes of three arrays that fit into what is free."""
    lines = pathlib.Path('/proc/meminfo').read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith('MemAvailable'))
    return int(min(MOST, SHARE * free))


def program():
    """Path of bench_first_touch.c, built."""
    mine = pathlib.Path(__file__).with_name('bench_first_touch.c')
    others = [path for path in own_sources() if path.name != 'stream.c']
    out, why = build(LINES[0], [mine, *others], 'first_touch')
    if not out:
        raise MembwError(why)
    return out


def rounds(total, say, count=ROUNDS):
    """{way: [seconds]} of as many interleaved rounds, each way first in every other one. One
    more goes before them: pages that a hypervisor has taken back cost many times more.
    """
    path = program()
    cpus = bench_machine.cores()
    env = {**os.environ, **PINNED, 'OMP_NUM_THREADS': str(len(cpus))}
    found = {way: [] for way in WAYS}
    for number in range(count + 1):
        say(f'timing: set-up of {total / GIB:.1f} GiB, {number} of {count}', passing=True)
        for way in WAYS if number % 2 else WAYS[::-1]:
            done = subprocess.run([path, str(total), way], env=env, capture_output=True, text=True)
            if done.returncode:
                raise MembwError(f'{path.name} ends with status {done.returncode}')
            found[way] += [float(done.stdout)] if number else []
    return found


def timing(say, total=None, count=ROUNDS):
    """(GiB, seconds of the set-up in each round, those of the page faults alone)."""
    total = total or size()
    found = rounds(total, say, count)
    return total / GIB, *(found[way] for way in WAYS)
