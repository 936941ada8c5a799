"""The checksum of a program's code, without the paths and Spack hashes in the file."""

import hashlib
import os

# RPATH, build id and the names of libraries stand in other sections: the same line in another
# Spack store makes another file of the same code
SECTIONS = ('.text', '.rodata')


def code_sha256(path: str | os.PathLike[str]) -> str:
    """SHA-256 over the names and bytes of SECTIONS; '' where the file has no code to be read."""
    # a twentieth of what `reframe -l` takes, which needs none of it
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    digest, has_code = hashlib.sha256(), False
    try:
        with open(path, 'rb') as file:
            elf = ELFFile(file)
            for name in SECTIONS:
                section = elf.get_section_by_name(name)
                data = section.data() if section else b''
                digest.update(f'{name} {len(data)}\n'.encode() + data)
                has_code = has_code or name == '.text' and bool(data)
    except (OSError, ELFError):
        return ''
    return digest.hexdigest() if has_code else ''
