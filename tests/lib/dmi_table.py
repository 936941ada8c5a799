"""Synthetic SMBIOS tables, built field by field as DMTF DSP0134 lays structures out."""

import struct

DDR4, DDR5, LPDDR5, HBM2 = 0x1A, 0x22, 0x23, 0x21
HANDLE = 0x1100


def structure(kind, fields, *strings, handle=HANDLE):
    """Header, fields, then strings and the empty string that ends them."""
    head = struct.pack('<BBH', kind, 4 + len(fields), handle)
    text = b''.join(s.encode() + b'\0' for s in strings) or b'\0'
    return head + fields + text + b'\0'


def firmware(is_virtual=False):
    """Structure 0: bit 4 of the second extension byte says `virtual machine`."""
    fields = bytearray(0x18 - 4)
    fields[0x13 - 4] = 0x10 if is_virtual else 0
    return structure(0, bytes(fields))


def array(handle, location=3, use=3):
    """Structure 16: where an array of modules is, and for what."""
    return structure(16, bytes([location, use]) + bytes(0x17 - 6), handle=handle)


def module(
    locator,
    bank='',
    mib=32768,
    rated=3200,
    configured=3200,
    kind=DDR4,
    width=72,
    array=0,
    technology=3,
):
    """Structure 17 of SMBIOS 3.3; mib=0 is an empty slot, None a size that is not known."""
    fields = bytearray(0x5C - 4)

    def put(offset, form, value):
        struct.pack_into('<' + form, fields, offset - 4, value)

    size = 0xFFFF if mib is None else mib if mib < 0x7FFF else 0x7FFF
    put(0x04, 'H', array)
    put(0x28, 'B', technology)
    put(0x08, 'H', width)
    put(0x0A, 'H', min(width, 64))
    put(0x0C, 'H', size)
    put(0x10, 'B', 1)
    put(0x11, 'B', 2 if bank else 0)
    put(0x12, 'B', kind)
    put(0x1C, 'I', mib if size == 0x7FFF else 0)
    for offset, extended, mts in ((0x15, 0x54, rated), (0x20, 0x58, configured)):
        put(offset, 'H', min(mts, 0xFFFF))
        put(extended, 'I', mts if mts >= 0xFFFF else 0)
    return structure(17, bytes(fields), locator, *([bank] if bank else []))


def table(*structures):
    return b''.join(structures) + structure(127, b'')


def sockets(
    channels=8, slots=1, locator='DIMM {slot}', bank='P{socket} CHANNEL {letter}', mts=3200, **more
):
    """The modules of two sockets, named as AMD's firmware does."""

    def named(text, socket, channel, slot):
        return text.format(socket=socket, letter='ABCDEFGHIJKL'[channel], slot=slot)

    return [
        module(
            named(locator, socket, channel, slot),
            named(bank, socket, channel, slot),
            rated=mts,
            **{'configured': mts, **more},
        )
        for socket in (0, 1)
        for channel in range(channels)
        for slot in range(slots)
    ]
