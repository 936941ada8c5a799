"""A file that grows line by line, in pieces: what was read stays known, and fits in memory."""

import re
from hashlib import blake2b

PIECE = 16 << 20  # bytes
MOST = 4 * PIECE  # a job whose records are longer is cut
MANY_RANKS = re.compile(rb'"ranks"\s*:\s*([2-9]|\d\d)')
FIRST_RANK = re.compile(rb'"rank"\s*:\s*0\b')
HOUR = re.compile(rb'"time"\s*:\s*"([^"]{13})')


def pieces(file):
    """(identity, begin, end, number of the first line) of each piece, in order.

    A piece ends with a line, and between the jobs of many ranks. The identity is of what is in
    it: lines that are appended make the last piece another one, and no other.
    """
    with open(file, 'rb') as stream:
        begin, number = 0, 1
        for text in texts(stream):
            digest = blake2b(text, digest_size=16).hexdigest()
            end = begin + len(text)
            yield f'{file.resolve()}:{begin}:{digest}', begin, end, number
            begin, number = end, number + text.count(b'\n')


def texts(stream, held=b''):
    """The pieces of a stream of bytes, which may be a pipe, as bytes; `held`: its begin."""
    while text := held + stream.read(max(PIECE - len(held), 1)):
        held = b''
        if len(text) >= PIECE:
            text, held = _to_the_end(text, stream)
        yield text


def _to_the_end(text, stream):
    """(the piece with its last line and job, the next line)."""
    end = stream.readline()
    parts, last = [text, end], text[text.rfind(b'\n') + 1 :] + end
    size, line = len(text) + len(end), b''
    while size < MOST:
        line = stream.readline()
        if not _is_same_job(last, line):
            break
        parts.append(line)
        size, last, line = size + len(line), line, b''
    return b''.join(parts), line


def _is_same_job(one, two):
    """Of the same hour; or a clock is wrong, and no other job begins."""
    hours = [HOUR.search(line) for line in (one, two)]
    same = all(hours) and hours[0][1] == hours[1][1] or not FIRST_RANK.search(two)
    return bool(same and MANY_RANKS.search(one) and MANY_RANKS.search(two))


def read(file, begin, end):
    """The text of a piece."""
    with open(file, 'rb') as stream:
        stream.seek(begin)
        return stream.read(end - begin).decode('utf-8', errors='replace')
