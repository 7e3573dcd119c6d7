# SPDX-License-Identifier: MIT
"""building.loaded: which bytes of a program count."""

import struct
import unittest

from grader.building.loaded import digest

Section = tuple[str, int, int, bytes]  # name, kind, flags, content
CODE = (".text", 1, 6, b"code")
NOTE = (".note.gnu.build-id", 7, 2, b"1234")
LINES = (".debug_line", 1, 0, b"lines")


def elf(*sections: Section) -> bytes:
    """A file with these sections and one of their names."""
    names, table, body = b"\0", b"", b""
    for name, kind, flags, content in [*sections, (".shstrtab", 3, 0, b"")]:
        content = content or names + name.encode() + b"\0"
        table += struct.pack("<IIQQQQ24x", len(names), kind, flags, 0, 64 + len(body), len(content))
        names += name.encode() + b"\0"
        body += content
    count = len(sections) + 1
    head = b"\x7fELF\2\1".ljust(40, b"\0") + struct.pack("<Q10x", 64 + len(body))
    return head + struct.pack("<HHH", 64, count, count - 1) + body + table


class Digest(unittest.TestCase):
    def test_what_is_not_loaded_does_not_count(self) -> None:
        whole = digest(elf(CODE, NOTE, LINES))
        self.assertEqual(digest(elf(CODE, NOTE, (".debug_line", 1, 0, b"LINES"))), whole)
        self.assertEqual(digest(elf(CODE, (".note.gnu.build-id", 7, 2, b"4321"), LINES)), whole)
        self.assertNotEqual(digest(elf((".text", 1, 6, b"cod2"), NOTE, LINES)), whole)
        self.assertNotEqual(digest(elf((".tex2", 1, 6, b"code"), NOTE, LINES)), whole)

    def test_of_images_of_kernels_too(self) -> None:
        def program(*images: bytes) -> bytes:
            return digest(elf(CODE, (".nv_fatbin", 1, 2, b"head".join([b"", *images]))))

        one, other = elf(("k", 1, 6, b"kernel")), elf(("k", 1, 6, b"KERNEL"))
        self.assertEqual(program(one, elf(CODE, LINES)), program(one, elf(CODE)))
        self.assertNotEqual(program(one, one), program(one, other))
        self.assertNotEqual(program(b"not an ELF"), program(b"no elf"))

    def test_what_is_no_elf_file_counts_in_full(self) -> None:
        for text in (b"", b"#!/bin/sh", b"\x7fELF\2\1", b"\x7fELF\1\1".ljust(64, b"\0")):
            with self.subTest(text):
                self.assertEqual(digest(text), digest(bytes(text)))
                self.assertNotEqual(digest(text), digest(text + b" "))


if __name__ == "__main__":
    unittest.main()
