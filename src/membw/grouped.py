"""Pairs by what stands first in them."""

from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar('Key', bound=Hashable)
Value = TypeVar('Value')


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """{key: its values}, both in the order in which they come."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
