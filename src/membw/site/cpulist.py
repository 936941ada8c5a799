"""CPU lists as the kernel writes them: '0-2,5'."""

from collections.abc import Iterable

MOST = 1 << 16  # Linux is built for 8,192 at most


def expand(text: object) -> list[int]:
    """'0-2,5' -> [0, 1, 2, 5]."""
    cpus: list[int] = []
    for part in filter(None, str(text).replace(' ', '').split(',')):
        first, _, last = part.partition('-')
        if int(last or first) >= MOST:
            raise ValueError(f"'{part[:40]}' is no CPU")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def compress(cpus: Iterable[int]) -> str:
    """[0, 1, 2, 5] -> '0-2,5'."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ','.join(f'{a}-{b}' if b > a else f'{a}' for a, b in ranges)
