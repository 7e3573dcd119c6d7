# SPDX-License-Identifier: MIT
"""Memory that was freed: nobody finds what was there, and its pages are given back."""

import contextlib
import os
import pathlib
import subprocess
import sys
import time
import unittest

from test_killed import processes

REUSE = pathlib.Path(sys.argv[1]) / "program-reuse"
KEPT = 32 << 20
SECONDS = 20


def start(ident: str, how: str) -> subprocess.Popen[str]:
    """A program that has done its part, and stays."""
    program = subprocess.Popen(
        [REUSE, how],
        env=dict(os.environ, VGPU_NODE="hgx-h200-4", VGPU_NODE_ID=ident),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if program.stdout.readline() != f"{how}\n":
        raise AssertionError(program.communicate()[1])
    return program


def device_bytes(ident: str) -> int:
    """What the memory of all virtual GPUs takes of this computer's."""
    (node,) = processes(ident, "vgpu-node")
    total = 0
    for file in pathlib.Path(f"/proc/{node}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a socket that was closed meanwhile
            if "vgpu-device" in str(file.readlink()):
                total += file.stat().st_blocks * 512
    return total


def settles(ident: str, most: int) -> bool:
    """Whether it comes down to that: the node hears a little later that a program has ended."""
    end = time.monotonic() + SECONDS
    while device_bytes(ident) > most:
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Reuse(unittest.TestCase):
    def end(self, program: subprocess.Popen[str]) -> None:
        _, said = program.communicate(timeout=60)
        self.assertEqual((program.returncode, said), (0, ""))

    def test_nothing_is_left(self) -> None:
        ident = f"reuse-{os.getpid()}"
        one = start(ident, "again")
        self.assertLessEqual(device_bytes(ident), KEPT)
        self.end(start(ident, "fresh"))  # while the one before lives
        witness = start(ident, "fresh")
        self.end(one)
        self.end(start(ident, "fresh"))
        self.end(witness)

    def test_who_ends_gives_all_back(self) -> None:
        ident = f"reuse-end-{os.getpid()}"
        witness = start(ident, "fresh")
        before = device_bytes(ident)
        self.end(start(ident, "again"))
        self.assertTrue(settles(ident, before), device_bytes(ident))
        self.end(witness)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
