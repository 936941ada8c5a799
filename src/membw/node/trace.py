"""Who took the CPUs: by process, stolen, by interrupts, and what no process owns up to."""

import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

SHOWN = 3
TICK_S = 1 / os.sysconf('SC_CLK_TCK')
STAT = re.compile(r'(\d+) \((.*)\) (\S) (.*)', re.S)
TICKS = ('user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal')


class Snapshot(NamedTuple):
    time: float
    cpus: int
    ticks: dict[str, float]  # of /proc/stat, in seconds
    processes: dict[int, tuple[str, float]]  # {pid: (name, CPU seconds)}


def snapshot() -> Snapshot:
    lines = Path('/proc/stat').read_text().splitlines()
    words = re.findall(r' (\d+)(?!\S)', lines[0] if lines else '', re.ASCII)
    ticks = dict(zip(TICKS, (int(word) * TICK_S for word in words)))
    cpus = sum(bool(re.match(r'cpu\d', line)) for line in lines)
    processes = {}
    for found in map(stat_of, Path('/proc').glob('[0-9]*')):
        fields = found[4].split() if found else []
        if found and all(map(str.isdecimal, fields[10:12])) and len(fields) > 11:
            processes[int(found[1])] = found[2], (int(fields[10]) + int(fields[11])) * TICK_S
    return Snapshot(time.monotonic(), cpus, ticks, processes)


def stat_of(folder: Path) -> re.Match | None:
    """(pid, name, state, the rest) of a process; None: it ended."""
    try:
        return STAT.match((folder / 'stat').read_text(errors='replace'))
    except OSError:
        return None


def between(before: Snapshot, after: Snapshot, own: set[int], own_s: float) -> dict[str, Any]:
    """CPU seconds of `own` (the battery), of other processes, and unaccounted; shares of the node.

    Unaccounted: busy, and no process that is still there had it: short processes, other
    containers, the kernel. Rounding may lose a tick of each process.
    """
    whole = max((after.time - before.time) * after.cpus, 1e-9)
    ticks = {name: after.ticks[name] - before.ticks.get(name, 0.0) for name in after.ticks}
    used: list[dict[str, Any]] = []
    for pid, (name, seconds) in after.processes.items():
        grown = seconds - before.processes.get(pid, (name, 0.0))[1]
        if pid not in own and grown > 0:
            used.append({'name': name, 'pid': pid, 'cpu_s': round(grown, 2)})
    used.sort(key=lambda row: -row['cpu_s'])
    other = sum(row['cpu_s'] for row in used)
    busy = sum(ticks.get(name, 0.0) for name in ('user', 'nice', 'system'))
    unaccounted = max(busy - own_s - other - TICK_S * (len(used) + after.cpus), 0.0)
    interrupts, steal = ticks.get('irq', 0) + ticks.get('softirq', 0), ticks.get('steal', 0)
    times = {'own': own_s, 'other': other, 'unaccounted': unaccounted, 'interrupts': interrupts}
    shares = {'other': other + unaccounted, 'steal': steal, 'interrupt': interrupts}
    return {
        **{f'{name}_s': round(value, 2) for name, value in {**times, 'steal': steal}.items()},
        **{f'{name}_share': round(value / whole, 4) for name, value in shares.items()},
        'processes': used[:SHOWN],
    }
