"""A program (ELF): its functions, their code, the names behind calls of libraries."""

import bisect
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from membw.errors import MembwError

MACHINES = {'EM_X86_64': 'x86-64', 'EM_AARCH64': 'aarch64'}
# R_<machine>_IRELATIVE: libc picks its memcpy at the start; no name is left
PICKED_AT_START = {'x86-64': 37, 'aarch64': 1032}
# what pyelftools raises where a file ends early or holds nonsense
DAMAGE = (ELFError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
FUNCTIONS = ('STT_FUNC', 'STT_GNU_IFUNC', 'STT_LOOS')
# of a program's code: RPATH, build id and the names of libraries stand in other sections, and the
# same line in another Spack store makes another file of the same code
SECTIONS = '.text', '.rodata'


def code_sha256(path: str | Path) -> str:
    """SHA-256 over the names and bytes of SECTIONS; '' where the file has no code to be read.

    A program computes the same of itself (src/harness/build/own_file.c), and so knows whether the
    record next to it is its own.
    """
    digest = hashlib.sha256()
    try:
        with open(path, 'rb') as file:
            found = map(ELFFile(file).get_section_by_name, SECTIONS)
            code = [section.data() if section else b'' for section in found]
    except (OSError, *DAMAGE):
        return ''
    for name, data in zip(SECTIONS, code, strict=True):
        digest.update(f'{name} {len(data)}\n'.encode() + data)
    return digest.hexdigest() if code[0] else ''


class Function(NamedTuple):
    name: str
    address: int
    size: int


class Program:
    """machine; functions; at: address -> function; slots: GOT address -> name of a function."""

    def __init__(self, path: str) -> None:
        """MembwError where the file is no program for a known machine, damaged or stripped."""
        try:
            with open(path, 'rb') as file:
                self._read(path, ELFFile(file))
        except OSError as err:
            fact = f"cannot read '{path}': {err.strerror}"
            raise MembwError(fact, 'give a built program') from err
        except DAMAGE as err:
            fact = f"'{path}' is not an ELF program, or damaged: {err}"
            raise MembwError(fact, 'give the program that runs, not a script') from err

    def _read(self, path: str, elf: ELFFile) -> None:
        if elf['e_machine'] not in MACHINES or not elf.little_endian or elf['e_type'] == 'ET_REL':
            fact = f"'{path}' is not a linked program for {' or '.join(MACHINES.values())}"
            raise MembwError(fact, 'give the program that runs')
        self.machine = MACHINES[elf['e_machine']]
        symbols = elf.get_section_by_name('.symtab')
        if not isinstance(symbols, SymbolTableSection):
            fact = f"'{path}' is stripped: no symbol names its kernels"
            raise MembwError(fact, "link it without '-s', and do not run 'strip' on it")
        self._sections = [
            (s['sh_addr'], s.data())
            for s in elf.iter_sections()
            if s['sh_flags'] & 4 and s['sh_type'] == 'SHT_PROGBITS'  # SHF_EXECINSTR
        ]
        self.functions = [
            Function(symbol.name, symbol['st_value'], symbol['st_size'])
            for symbol in symbols.iter_symbols()
            if symbol['st_info']['type'] in FUNCTIONS and symbol['st_shndx'] != 'SHN_UNDEF'
        ]
        self.at = {function.address: function for function in reversed(self.functions)}
        self._starts = sorted(self.at)
        self.slots = dict(self._relocations(elf))

    def _relocations(self, elf: ELFFile) -> Iterator[tuple[int, str]]:
        for section in elf.iter_sections():
            if not isinstance(section, RelocationSection):
                continue
            symbols: Any = elf.get_section(section['sh_link'])
            for entry in section.iter_relocations():
                if entry['r_info_type'] == PICKED_AT_START[self.machine]:
                    function = self.at.get(entry['r_addend'])
                    yield entry['r_offset'], function.name if function else ''
                elif isinstance(symbols, SymbolTableSection) and entry['r_info_sym']:
                    yield entry['r_offset'], symbols.get_symbol(entry['r_info_sym']).name

    def code(self, address: int, size: int) -> bytes:
        """SIZE bytes from an address on; fewer where the section ends."""
        for start, data in self._sections:
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        return b''

    def body(self, function: Function) -> bytes:
        """Its bytes; a function without a size (assembler) ends where the next one begins."""
        after = bisect.bisect_right(self._starts, function.address)
        end = self._starts[after] if after < len(self._starts) else function.address + 4096
        return self.code(function.address, function.size or end - function.address)
