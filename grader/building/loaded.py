# SPDX-License-Identifier: MIT
"""What of a program is loaded when it runs. Programs in which that is the same do the same: they
differ only in what debuggers are told, such as the lines of functions."""

import hashlib
import struct
from collections.abc import Iterator

# Of ELF: magic, class, order of bytes; where sections are, their size, number, and names' section.
_HEADER = struct.Struct("<4sBB34xQ10xHHH")
_SECTION = struct.Struct("<IIQQQQ")
_BITS_64, _LITTLE = 2, 1
_NO_BITS, _LOADED = 8, 2
_BUILD_ID = ".note.gnu.build-id"  # a digest of all of the file
_IMAGES = ".nv_fatbin"  # of kernels: ELF files, too


def digest(program: bytes) -> bytes:
    """The same for programs of which the same is loaded. What is no ELF file counts in full."""
    found = hashlib.sha256()
    try:
        for part in _loaded(program):
            found.update(part)
    except (struct.error, ValueError, IndexError):
        found = hashlib.sha256(program)
    return found.digest()


def _loaded(elf: bytes) -> Iterator[bytes]:
    """Name, address, size and content of the sections that are loaded."""
    magic, bits, order, start, size, count, names = _HEADER.unpack_from(elf)
    if (magic, bits, order) != (b"\x7fELF", _BITS_64, _LITTLE):
        raise ValueError("not an ELF file of 64 bits")
    sections = [_SECTION.unpack_from(elf, start + size * i) for i in range(count)]
    for at, kind, flags, address, offset, length in sections:
        begin = sections[names][4] + at
        name = elf[begin : elf.index(b"\0", begin)]
        if not flags & _LOADED or name.decode() == _BUILD_ID:
            continue
        content = b"" if kind == _NO_BITS else elf[offset : offset + length]
        if name.decode() == _IMAGES:
            yield from _images(content)
        else:
            yield b"%s %d %d\n" % (name, address, length)
            yield content


def _images(content: bytes) -> Iterator[bytes]:
    first = at = content.find(b"\x7fELF")
    if first < 0:
        yield content
    while at >= 0:
        yield from _loaded(content[at:])
        at = content.find(b"\x7fELF", at + 1)
