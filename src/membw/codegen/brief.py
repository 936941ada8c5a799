"""The stores of all kernels of a program in a word, for a row of a table."""

from collections.abc import Mapping
from typing import Any


def word(kernel: Mapping[str, Any]) -> str:
    """'memcpy', '64', '256nt' (non-temporal), 'mixed', 'string'."""
    if kernel['stores'] == 'call':
        return kernel['calls'][0]
    if kernel['stores'] in ('ordinary', 'nontemporal'):
        return f'{kernel["width_bits"] or ""}{"nt" if kernel["stores"] == "nontemporal" else ""}'
    return kernel['stores']


def brief(kernels: Mapping[str, Mapping[str, Any]]) -> str:
    """'memmove/64': Copy calls memmove, the rest store 64 bits at a time; '512': all do."""
    first, *rest = map(word, kernels.values())
    if len(set(rest)) != 1:
        return '/'.join([first, *rest])
    return first if first == rest[0] else f'{first}/{rest[0]}'
