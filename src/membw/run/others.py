"""Who else computed on this machine while it was measured: what its user may end, or wait for."""

import collections
import os
import pathlib

from membw.bench import interference
from membw.site.topology import cores_here

NAMED = 3  # processes; who took less than so much of a CPU is not named
LEAST_CPUS = 0.05
# fields of /proc/PID/stat behind the name: time of the process and of its ended children
TIMES = slice(11, 15)


class Others:
    """From now on, until `text` is asked for."""

    def __init__(self, proc='/proc'):
        self.proc, self.cpus = proc, cores_here()
        self.before, self.seconds = self.reading(), seconds_of_processes(proc)

    def reading(self):
        return interference.read(self.cpus, f'{self.proc}/stat')

    def text(self):
        """'1.8 of 2 CPUs: cc1 0.9, python3 0.5'; '' where they took next to nothing."""
        after = self.reading()
        share = interference.share_of_others(self.before, after, self.cpus)
        if not interference.is_disturbed(share):
            return ''
        taken = by_name(self.seconds, seconds_of_processes(self.proc))
        wall = after.wall - self.before.wall
        named = [f'{name} {took / wall:.1f}' for name, took in taken.most_common(NAMED)
                 if took > LEAST_CPUS * wall]  # fmt: skip
        total = f'{share * len(self.cpus):.1f} of {len(self.cpus)} CPUs'
        return f'{total}: {", ".join(named)}' if named else total


def seconds_of_processes(proc):
    """{(pid, name): CPU seconds} of those that can be seen, but this one and the first, to whom
    all orphans belong in the end."""
    tick, found = os.sysconf('SC_CLK_TCK'), {}
    for file in pathlib.Path(proc).glob('[0-9]*/stat'):
        try:
            text = file.read_text(errors='replace')
        except OSError:  # it has ended
            continue
        head, _, rest = text.rpartition(')')
        pid, _, name = head.partition(' (')
        if int(pid) not in (1, os.getpid()):
            found[pid, name] = sum(map(int, rest.split()[TIMES])) / tick
    return found


def by_name(before, after):
    """Seconds that processes took between, of one name together."""
    taken = collections.Counter()
    for (pid, name), seconds in after.items():
        taken[name] += seconds - before.get((pid, name), 0)
    return taken
