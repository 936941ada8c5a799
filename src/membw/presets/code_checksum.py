"""The checksum of a program's code, without the paths and Spack hashes in the file.

A program computes the same of itself (src/harness/build/own_file.c), and so knows whether the
record next to it is its own.
"""

from __future__ import annotations

import hashlib
import os
import struct

# RPATH, build id and the names of libraries stand in other sections: the same line in another
# Spack store makes another file of the same code
SECTIONS = ('.text', '.rodata')


def sections(data: bytes) -> dict[str, bytes]:
    """{name: bytes} of the sections of an ELF file; struct.error of one that is cut."""
    if data[:4] != b'\x7fELF' or data[4] not in (1, 2):
        return {}
    order, bits = '<' if data[5] == 1 else '>', data[4] - 1
    # e_shoff, then e_flags, e_ehsize, e_phentsize, e_phnum; e_shentsize, e_shnum, e_shstrndx
    head = order + ('32xI10xHHH', '40xQ10xHHH')[bits]
    start, size, count, names = struct.unpack_from(head, data)
    row = order + ('I12xII', 'I20xQQ')[bits]
    rows = [struct.unpack_from(row, data, start + i * size) for i in range(count)]
    if names >= count:
        return {}
    texts = rows[names][1]

    def name(at: int) -> str:
        return data[texts + at : data.index(b'\0', texts + at)].decode('utf-8', 'replace')

    return {name(at): data[offset : offset + length] for at, offset, length in reversed(rows)}


def code_sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 over the names and bytes of SECTIONS; '' where the file has no code to be read."""
    try:
        with open(path, 'rb') as file:
            found = sections(file.read())
    except (OSError, struct.error, ValueError):
        return ''
    digest = hashlib.sha256()
    for name in SECTIONS:
        data = found.get(name, b'')
        digest.update(f'{name} {len(data)}\n'.encode() + data)
    return digest.hexdigest() if found.get('.text') else ''
