"""What else ran on this machine while a program was measured, from /proc/stat."""

import os
import resource
import time
from dataclasses import dataclass

# as the stream program judges itself (src/stream/busy.h)
SHARE_ALLOWED = 0.05
LEAST_SECONDS = 0.1


@dataclass
class Reading:
    """Seconds since the start of the machine, or of this process's children."""

    wall: float
    busy: float
    stolen: float
    own: float


def read(cpus, path='/proc/stat'):
    """Time of these CPUs: busy with anything, stolen by the hypervisor, our children's."""
    tick = os.sysconf('SC_CLK_TCK')
    names = {f'cpu{cpu}' for cpu in cpus}
    busy = stolen = 0
    with open(path) as file:
        for name, *fields in map(str.split, file):
            if name in names:
                user, nice, system, _, _, irq, softirq, steal, *_ = map(int, fields)
                busy += user + nice + system + irq + softirq
                stolen += steal
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = usage.ru_utime + usage.ru_stime
    return Reading(time.monotonic(), busy / tick, stolen / tick, own)


def share_of_others(before, after, cpus):
    """Part of the CPUs' time, 0 to 1, that was not the measured program's."""
    wall = (after.wall - before.wall) * len(cpus)
    others = (after.busy - before.busy) - (after.own - before.own)
    others = max(others, 0) + after.stolen - before.stolen
    return others / wall if wall and others > LEAST_SECONDS else 0.0


def is_disturbed(share):
    return share > SHARE_ALLOWED
