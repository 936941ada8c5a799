"""Makes text from outside (hosts, flags, titles) printable, without control characters; our own
signs in ASCII where the locale has no UTF-8."""

import codecs
import math
import os
import re
import sys

# C0, DEL, C1, line and paragraph separators, marks that turn the direction, lone surrogates
NOT_PRINTED = re.compile(
    '[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)

ASCII = {'±': '+-', '≥': '>=', '≤': '<=', '█': '#', '▸': '>', '×': 'x'}


def is_utf8() -> bool:
    """By the variables: PYTHONUTF8 is of our files. src/harness/signs.h has the same rule."""
    everywhere, kind, lang = (os.environ.get(n, '') for n in ('LC_ALL', 'LC_CTYPE', 'LANG'))
    if kind == 'C.UTF-8' and lang in ('', 'C', 'POSIX'):
        kind = ''  # Python's own doing, PEP 538
    name = (everywhere or kind or lang).partition('.')[2]
    return name.lower().startswith(('utf8', 'utf-8'))


def in_locale(text: str) -> str:
    """`text` with our signs as the locale has them."""
    return text if is_utf8() else ''.join(ASCII.get(char, char) for char in text)


def _sign(err: UnicodeError) -> tuple[bytes, int]:
    """What is not ours stays as it is: a file is read by programs, too."""
    assert isinstance(err, UnicodeEncodeError)
    text = in_locale(err.object[err.start : err.end])
    return text.encode('utf-8', 'surrogateescape'), err.end


def print_in_locale() -> None:
    """stdout and stderr of this process."""
    codecs.register_error('membw', _sign)
    for stream in () if is_utf8() else (sys.stdout, sys.stderr):
        if hasattr(stream, 'reconfigure'):
            stream.reconfigure(encoding='ascii', errors='membw')


def printable(text: object, keep: str = '') -> str:
    """`text` with what is not printed as \\xNN or \\uNNNN; characters of `keep` stay."""
    said = str(text)
    return said and NOT_PRINTED.sub(lambda m: m[0] if m[0] in keep else _code(m[0]), said)


def _code(char: str) -> str:
    return f'\\x{ord(char):02x}' if ord(char) < 256 else f'\\u{ord(char):04x}'


def at_most(lines: list[str], most: int) -> list[str]:
    """So many of the lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], *([f'and {more} more'] if more > 0 else [])]


def plural(number: int, what: str) -> str:
    """A number and what it counts: '1 node', '2 nodes'."""
    return f'{number} {what}{"s" * (number != 1)}'


def amount(value: float, digits: int = 4) -> str:
    """So many digits count, and all before the point: '11460', not '1.146e+04'."""
    text = f'{value:.{digits}g}'
    if 'e-' in text:
        return f'{value:.{digits - 1 - math.floor(math.log10(abs(value)))}f}'.rstrip('0')
    return f'{value:.0f}' if 'e+' in text else text


def decimals(value: float, digits: int) -> str:
    """So many behind the point; of what is below 1 those that count: 0.00037 GB/s is not 0.00."""
    return f'{value:.{digits}f}' if value >= 1 else amount(value, 3)


def signed(value: float, form: str = '+.0%') -> str:
    """'+3.1%', and of nothing neither sign: '0.0%'."""
    text = format(value, form)
    return text if text.strip('+-0.% ') else text.lstrip('+-')


def in_bytes(size: float) -> str:
    """'4 MiB'."""
    for name, unit in (('GiB', 1 << 30), ('MiB', 1 << 20), ('KiB', 1 << 10)):
        if size >= unit:
            return f'{amount(size / unit)} {name}'
    return f'{amount(size)} B'
