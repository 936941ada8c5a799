"""Makes text from outside (hosts, flags, titles) printable, without control characters."""

import re

# C0, DEL, C1, line and paragraph separators, marks that turn the direction, lone surrogates
NOT_PRINTED = re.compile(
    '[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)


def printable(text: object, keep: str = '') -> str:
    """`text` with what is not printed as \\xNN or \\uNNNN; characters of `keep` stay."""
    return NOT_PRINTED.sub(lambda m: m[0] if m[0] in keep else _code(m[0]), str(text))


def _code(char: str) -> str:
    return f'\\x{ord(char):02x}' if ord(char) < 256 else f'\\u{ord(char):04x}'


def at_most(lines: list[str], most: int) -> list[str]:
    """So many of the lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], *([f'and {more} more'] if more > 0 else [])]
