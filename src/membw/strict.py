"""The one reader of the JSON that is ours: any bytes become a value of the declared types, or are
Damaged, which says what is wrong and where."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from membw.printable import printable

BOM = b'\xef\xbb\xbf'  # as Windows begins a text
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode = msgspec.json.Encoder().encode
T = TypeVar('T')


class Damaged(ValueError):
    """What is wrong with a file or a line, and in which field."""


def value(text: bytes) -> Any:
    """What a JSON text has, strictly: UTF-8, each key once, numbers that can be had."""
    try:
        text.decode()  # msgspec looks at the texts alone that it keeps
        data = msgspec.json.decode(text)
    except UnicodeDecodeError as err:
        raise Damaged(f'not UTF-8: byte {err.start}{_after(text, err.start)}') from err
    except msgspec.ValidationError as err:
        raise Damaged(f'{said(err)}{_odd_field(text)}') from err
    except (msgspec.DecodeError, RecursionError) as err:
        at = re.search(r'\(byte (\d+)\)', str(err))
        where = _after(text, int(at[1])) if at else ''
        said_of_it = printable(str(err)).removeprefix('JSON is malformed: ')[:80]
        raise Damaged(f'not JSON: {said_of_it}{where}') from err
    # msgspec takes the last of two keys: what it read has fewer colons then. Readers that see it
    # themselves take ten times as long
    if text.count(b':') != _encode(data).count(b':') or b'\\u003a' in text.lower():
        raise Damaged('a key is given twice')
    return data


def decode(text: bytes, kind: type[T]) -> T:
    """As a type declares it."""
    try:
        return msgspec.convert(value(text.removeprefix(BOM)), kind)
    except msgspec.ValidationError as err:
        raise Damaged(said(err)) from err


def file(path: Path, kind: type[T]) -> T:
    """Of a whole file. Damaged has its name; OSError where it cannot be read."""
    try:
        return decode(path.read_bytes(), kind)
    except Damaged as err:
        raise Damaged(f'{path}: {err}') from err


def lines(path: str | Path, read: Callable[[bytes], T], problems: list[str]) -> Iterable[T]:
    """Of each line of a file; 'file:line: what' of those that are damaged goes to `problems`."""
    for number, line in enumerate(Path(path).read_bytes().split(b'\n'), 1):
        try:
            if line.strip():
                yield read(line)
        except Damaged as err:
            problems.append(f'{path}:{number}: {err}')


def said(err: msgspec.ValidationError) -> str:
    """ "Expected 'str', got 'int' - at 'case.test'"."""
    text = str(err).replace('`', "'").replace('$.', '').replace(" - at '$[...]'", '')
    return printable(text)[:160]


def _after(text: bytes, at: int) -> str:
    """ ", after the key 'governor'": the last one before that byte."""
    keys = re.findall(rb'"(\w{1,80})"\s*:', text[:at])
    return f", after the key '{keys[-1].decode()}'" if keys else ''


def _odd_field(text: bytes) -> str:
    """ ", in 'x'": the first field whose value alone cannot be read: 1e999."""
    try:
        fields = _FIELDS.decode(text).items()
    except msgspec.MsgspecError:  # no object
        return ''
    for name, own in fields:
        try:
            msgspec.json.decode(own)
        except msgspec.MsgspecError:
            return f', in {ascii(name)[:80]}'
    return ''
