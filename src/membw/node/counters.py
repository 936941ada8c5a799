"""What a kernel counts while the battery runs. A counter that this machine lacks is left out."""

import re
from collections.abc import Iterable
from pathlib import Path

from membw.site.topology import lines_of_cgroups

Counts = dict[str, float]
# name: (files, the line's first word, '' where the file is the number); summed
EVERY = {
    'corrected_errors': ('sys/devices/system/edac/mc/mc*/ce_count', ''),
    'uncorrected_errors': ('sys/devices/system/edac/mc/mc*/ue_count', ''),
    'thermal_throttles': (
        'sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count',
        '',
    ),
    'machine_checks': ('proc/interrupts', 'MCE:'),
    'pages_migrated': ('proc/vmstat', 'numa_pages_migrated'),
    'pages_swapped': ('proc/vmstat', 'pswpin'),
}


def read(root: Path = Path('/')) -> Counts:
    """None of them needs root."""
    found = {name: _sum(root.glob(files), word) for name, (files, word) in EVERY.items()}
    found['quota_throttles'] = _sum(_own_cgroups(root), 'nr_throttled')
    return {name: value for name, value in found.items() if value is not None}


def between(before: Counts, after: Counts) -> Counts:
    """What was counted meanwhile; one that fell, as by a CPU that went off, is not known."""
    return {n: after[n] - count for n, count in before.items() if after.get(n, -1) >= count}


def uncore_khz(root: Path = Path('/')) -> float | None:
    """The sum of the highest clocks that the uncores of Intel CPUs may have."""
    folder = 'sys/devices/system/cpu/intel_uncore_frequency'
    return _sum(root.glob(f'{folder}/*/max_freq_khz'), '')


def _sum(files: Iterable[Path], word: str) -> float | None:
    numbers = []
    for file in files:
        text = _text(file) if not word else ' '.join(
            re.findall(rf'^ *{re.escape(word)} +(.*)$', _text(file), re.M)
        )  # fmt: skip
        numbers += [int(w) for w in text.split() if w.isdecimal()]
    return float(sum(numbers)) if numbers else None


def _own_cgroups(root: Path) -> Iterable[Path]:
    """cpu.stat of this process, of version 2 and 1."""
    for number, names, path in lines_of_cgroups(_text(root / 'proc/self/cgroup')):
        top = '' if number == '0' else 'cpu' if 'cpu' in names.split(',') else None
        if top is not None:
            yield root / 'sys/fs/cgroup' / top / path.strip('/') / 'cpu.stat'


def _text(path: Path) -> str:
    try:
        return path.read_text(errors='replace')
    except OSError:
        return ''
