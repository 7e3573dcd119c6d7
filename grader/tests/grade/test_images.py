# SPDX-License-Identifier: MIT
"""The device images that a submission may bring: those of its own build and of the course."""

import struct
import tempfile
import unittest
from pathlib import Path

from grader.grade.images import NAME, listing
from grader.sandbox.readback import Refused

HEAD = struct.Struct("<16sHHIQQQIHHHHHH")
SHARED, RELOCATABLE = 3, 1
STACKS = b"\0vgpu_image_second_stack\0"


def elf(kind: int, body: bytes) -> bytes:
    """As long as its header says: the table of sections is the last thing in it."""
    table = HEAD.size + len(body)
    head = HEAD.pack(
        b"\x7fELF\x02\x01\x01".ljust(16, b"\0"), kind, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 2, 1
    )
    return head + body + bytes(128)


def row(image: bytes) -> bytes:
    return struct.pack("<Q", len(image)) + image


class Listing(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_what_the_compiler_made(self) -> None:
        for number, image in enumerate((b"one" + STACKS, b"another" + STACKS)):
            self.write(f"{NAME}{number}", image)
        self.write("submission.o", b"in the object: " + elf(SHARED, b"of the host's making"))
        self.assertEqual(listing(self.folder, ()), row(b"one" + STACKS) + row(b"another" + STACKS))

    def test_only_those_with_a_second_stack(self) -> None:
        """Beside another one vgpu-exec would let stores reach return addresses."""
        self.write(f"{NAME}0", b"one without")
        course = self.write("libnccl.a", elf(SHARED, b"kernels") + elf(SHARED, STACKS))
        self.assertEqual(listing(self.folder, (course,)), row(elf(SHARED, STACKS)))

    def test_images_in_the_courses_objects(self) -> None:
        first, second = elf(SHARED, b"kernels" + STACKS), elf(SHARED, STACKS)
        inside = elf(RELOCATABLE, b"text" + first + b"\0name\0" + second)
        course = self.write("given.o", inside)
        self.assertEqual(listing(self.folder, (course,)), row(first) + row(second))

    def test_what_was_cut_off_is_none(self) -> None:
        course = self.write(
            "given.o", elf(RELOCATABLE, b"") + elf(SHARED, b"kernels" + STACKS)[:-1]
        )
        self.assertEqual(listing(self.folder, (course,)), b"")

    def test_a_link_in_the_place_of_an_image_is_not_followed(self) -> None:
        secret = self.write("secret", b"secret")
        (self.folder / f"{NAME}0").symlink_to(secret)
        with self.assertRaises(Refused):
            listing(self.folder, ())


if __name__ == "__main__":
    unittest.main()
