"""Reads a program (ELF): its functions, their bytes, the names behind calls of libraries."""

import bisect
from dataclasses import dataclass

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from membw.errors import MembwError
from membw.files import refuse_special

MACHINES = {'EM_X86_64': 'x86-64', 'EM_AARCH64': 'aarch64'}
# R_X86_64_IRELATIVE, R_AARCH64_IRELATIVE: libc picks its memcpy at the start; no name is left
PICKED_AT_START = {'x86-64': 37, 'aarch64': 1032}
# what pyelftools raises where a file ends early or holds nonsense
DAMAGE = (ELFError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
FUNCTIONS = ('STT_FUNC', 'STT_GNU_IFUNC', 'STT_LOOS')


@dataclass(frozen=True)
class Function:
    name: str
    address: int
    size: int


class Program:
    """Functions by name and address, code by address, slots (GOT entries) by address."""

    def __init__(self, path):
        with open_elf(path) as file:
            elf = parse(path, file)
            try:
                self.read(path, elf)
            except DAMAGE as err:
                raise MembwError(f"'{path}' is damaged: {err}", 'build it again') from err

    def read(self, path, elf):
        self.machine = MACHINES[elf['e_machine']]
        self.sections = [
            (s['sh_addr'], s.data())
            for s in elf.iter_sections()
            if s['sh_flags'] & 4 and s['sh_type'] == 'SHT_PROGBITS'  # SHF_EXECINSTR
        ]
        self.functions = read_functions(path, elf)
        self.at = {function.address: function for function in reversed(self.functions)}
        self.starts = sorted(self.at)
        self.slots = self.read_slots(elf)

    def read_slots(self, elf):
        """GOT address -> the function that the loader writes there."""
        names = {}
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection):
                symbols = elf.get_section(section['sh_link'])
                for entry in section.iter_relocations():
                    names[entry['r_offset']] = self.relocated(entry, symbols)
        return {address: name for address, name in names.items() if name}

    def relocated(self, entry, symbols):
        if entry['r_info_type'] == PICKED_AT_START[self.machine]:
            function = self.at.get(entry['r_addend'])
            return function.name if function else ''
        if isinstance(symbols, SymbolTableSection) and entry['r_info_sym']:
            return symbols.get_symbol(entry['r_info_sym']).name
        return ''

    def code(self, address, size=None):
        """Bytes from an address on; without a size, to the end of the section."""
        for start, data in self.sections:
            if start <= address < start + len(data):
                end = None if size is None else address - start + size
                return data[address - start : end]
        return b''

    def body(self, function):
        """A function's bytes; one without a size (assembler) ends where the next begins."""
        size = function.size
        if not size:
            after = bisect.bisect_right(self.starts, function.address)
            size = self.starts[after] - function.address if after < len(self.starts) else None
        return self.code(function.address, size)


def open_elf(path):
    refuse_special(path, 'give a program that was built')
    try:
        return open(path, 'rb')
    except OSError as err:
        raise MembwError(f"cannot read '{path}': {err.strerror}", 'give a program that was built')


def parse(path, file):
    """The file as ELF of a machine that is known here, or a clear refusal."""
    try:
        elf = ELFFile(file)
    except ELFError as err:
        raise MembwError(
            f"'{path}' is not an ELF program: {err}", 'give the program that runs, not a script'
        ) from err
    if elf['e_machine'] not in MACHINES:
        raise MembwError(
            f"'{path}' is a program for {elf.get_machine_arch()}",
            f'only {" and ".join(MACHINES.values())} can be read',
        )
    if elf['e_type'] == 'ET_REL':
        raise MembwError(f"'{path}' is an object file, not linked", 'give the program')
    return elf


def read_functions(path, elf):
    table = elf.get_section_by_name('.symtab')
    if not isinstance(table, SymbolTableSection):
        raise MembwError(
            f"'{path}' is stripped: no symbol says which code is which kernel",
            "link it without '-s', and do not run 'strip' on it",
        )
    return [
        Function(symbol.name, symbol['st_value'], symbol['st_size'])
        for symbol in table.iter_symbols()
        if symbol['st_info']['type'] in FUNCTIONS and symbol['st_shndx'] != 'SHN_UNDEF'
    ]
