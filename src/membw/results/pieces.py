"""A file that grows line by line, in pieces: what was read stays known, and fits in memory."""

import os
import re
import time
from hashlib import blake2b

PIECE = 16 << 20  # bytes
MOST = 4 * PIECE  # a job whose records are longer is cut
MANY_RANKS = re.compile(rb'"ranks"\s*:\s*([2-9]|\d\d)')
FIRST_RANK = re.compile(rb'"rank"\s*:\s*0\b')
HOUR = re.compile(rb'"time"\s*:\s*"([^"]{13})')


SETTLED_NS = 2 * 10**9  # of a change that is as new, another one may have the same time


def pieces(file, known=None):
    """(identity, begin, end, number of the first line) of each piece, in order.

    A piece ends with a line, and between the jobs of many ranks. The identity is of what is in
    it: lines that are appended make the last piece another one, and no other.

    `known`: {path: [stamp, its pieces]} of calls before. A file that has its stamp still is not
    read; all that is read is entered once its last piece was.
    """
    path, known = str(file.resolve()), {} if known is None else known
    with open(file, 'rb') as stream:
        stamp = _stamp(stream)
        if not is_known(file, known, stamp):
            every = []
            for piece in _read_pieces(path, stream):
                every.append(piece)
                yield piece
            if stamp == _stamp(stream) and time.time_ns() - max(stamp[1:3]) > SETTLED_NS:
                known[path] = [stamp, every]
            return
    yield from map(tuple, known[path][1])


def is_known(file, known, stamp=None):
    """Whether its pieces are among the `known`, as it is now."""
    path = str(file.resolve())
    return path in known and known[path][0] == (stamp or _stamp(file))


def _stamp(file):
    """Nobody who writes to a file can leave all of it as it was: its time of change (ctime) is
    the kernel's."""
    stat = os.stat(file.fileno() if hasattr(file, 'fileno') else file)
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _read_pieces(path, stream):
    begin, number = 0, 1
    for text in texts(stream):
        digest = blake2b(text, digest_size=16).hexdigest()
        end = begin + len(text)
        yield f'{path}:{begin}:{digest}', begin, end, number
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
