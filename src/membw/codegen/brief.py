"""The stores of all kernels of a program in a word, for a row of a table."""

from collections.abc import Mapping
from typing import Any

SUFFIX = {'ordinary': '', 'nontemporal': 'nt', 'zeroed': 'z'}


def word(kernel: Mapping[str, Any]) -> str:
    """'memcpy', '64', 'sve' (as wide as the CPU's), '256nt' (non-temporal), '128z' (lines set to
    zero before, not read), 'mixed', 'string'."""
    if kernel['stores'] == 'call':
        return kernel['calls'][0]
    if kernel['stores'] in SUFFIX:
        width = {0: 'sve', None: ''}.get(kernel['width_bits'], kernel['width_bits'])
        return f'{width}{SUFFIX[kernel["stores"]]}'
    return kernel['stores']


def brief(kernels: Mapping[str, Mapping[str, Any]]) -> str:
    """'memmove/64': Copy calls memmove, the rest store 64 bits at a time; '512': all do."""
    first, *rest = map(word, kernels.values())
    if len(set(rest)) != 1:
        return '/'.join([first, *rest])
    return first if first == rest[0] else f'{first}/{rest[0]}'
