# SPDX-License-Identifier: MIT
"""The device images that a submission's programs may bring to the node: those that its own build
has made, and those of the course's objects that are linked with it.

What a submission's object holds proves nothing, as its host code can put any bytes there. So
vgpu-cc writes each image that it makes to a file of its own (VGPU_CC_IMAGES).
"""

import struct
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from grader.sandbox.readback import read_back

NAME = "image-"  # with a number: what vgpu-cc makes beside the object
MOST_BYTES = 64 << 20
_MAGIC = b"\x7fELF\x02\x01\x01"
_HEAD = struct.Struct("<16sHHIQQQIHHHHHH")
_SHARED = 3  # ET_DYN
_SECOND_STACK = b"\0vgpu_image_second_stack\0"  # among its names: vgpu/common/image.h


def listing(folder: Path, course: Iterable[Path]) -> bytes:
    """As the node reads it: VGPU_IMAGES. Only images that keep variables apart from return
    addresses, as those of all labs do: beside one that does not (NCCL's), vgpu-exec lets every
    store reach both."""
    images = [*_made(folder), *(image for path in course for image in _within(path))]
    taken = [image for image in images if _SECOND_STACK in image]
    return b"".join(struct.pack("<Q", len(image)) + image for image in taken)


def _made(folder: Path) -> Iterator[bytes]:
    number = 0
    while True:
        try:
            yield read_back(folder, f"{NAME}{number}", MOST_BYTES)
        except FileNotFoundError:
            return
        number += 1


@cache
def _within(path: Path) -> tuple[bytes, ...]:
    """Shared objects in a file of the course, found by their headers: the last thing in an image is
    its table of sections."""
    data = path.read_bytes()
    found = []
    at = data.find(_MAGIC)
    while at >= 0:
        head = _HEAD.unpack_from(data.ljust(at + _HEAD.size, b"\0"), at)
        end = at + head[6] + head[11] * head[12]
        if head[1] == _SHARED and end <= len(data):
            found.append(data[at:end])
        at = data.find(_MAGIC, at + 1)
    return tuple(found)
