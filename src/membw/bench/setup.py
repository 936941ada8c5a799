"""How long setting up the arrays takes, beside what their page faults must."""

import os
import pathlib
import subprocess

from membw.bench.build import LINES, build
from membw.bench.programs import PINNED
from membw.errors import MembwError
from membw.site.topology import cores_here

GIB = 2**30
# no more than anyone asked about; a fifth of what is free is left to others
MOST, SHARE = 64 * GIB, 0.8
ROUNDS = 5
WAYS = ('ours', 'faults')


def size(path):
    """Bytes of three arrays that fit into what memory, its policy and the cgroups leave."""
    done = subprocess.run([path, 'free'], capture_output=True, text=True, check=True)
    return int(min(MOST, SHARE * int(done.stdout)))


def program():
    """Path of bench_first_touch.c, built."""
    mine = pathlib.Path(__file__).with_name('first_touch.c')
    out, why = build(LINES[0], [mine], 'first_touch')
    if not out:
        raise MembwError(why)
    return out


def rounds(path, total, say, count):
    """{way: [seconds]} of as many interleaved rounds, each way first in every other one. One
    more goes before them: pages that a hypervisor has taken back cost many times more.
    """
    cpus = cores_here()
    env = {**os.environ, **PINNED, 'OMP_NUM_THREADS': str(len(cpus))}
    seconds = {way: [] for way in WAYS}
    for number in range(count + 1):
        say(f'timing: set-up of {total / GIB:.1f} GiB, {number} of {count}', passing=True)
        for way in WAYS if number % 2 else WAYS[::-1]:
            done = subprocess.run([path, str(total), way], env=env, capture_output=True, text=True)
            if done.returncode:
                raise MembwError(f'{path.name} ends with status {done.returncode}')
            seconds[way] += [float(done.stdout)] if number else []
    return seconds


def timing(say, total=None, count=ROUNDS):
    """(GiB, seconds of the set-up in each round, those of the page faults alone)."""
    path = program()
    total = total or size(path)
    seconds = rounds(path, total, say, count)
    return total / GIB, *(seconds[way] for way in WAYS)
