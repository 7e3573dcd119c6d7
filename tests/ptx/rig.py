# SPDX-License-Identifier: MIT
"""What the tests of PTX share: vgpu-cc, and a program that runs a module's kernel."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CC = pathlib.Path(sys.argv[1]).resolve()
RUN = pathlib.Path(sys.argv[2]).resolve()
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"


class Case(unittest.TestCase):
    """A test with a folder of its own, where PTX that was compiled is kept, too."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ptx-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_command(self, *command: object, words: str = "") -> subprocess.CompletedProcess:
        environment = dict(os.environ, TMPDIR=str(self.folder))
        environment["CUDA_CACHE_PATH"] = str(self.folder / "cache")
        return subprocess.run(
            [str(part) for part in command],
            cwd=self.folder,
            env=environment,
            input=words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=300,
        )

    def write(self, name: str, text: str | bytes) -> pathlib.Path:
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def launch(
        self, module: pathlib.Path, kernel: str, count: int, words: list[int], threads: int = 1
    ) -> list[int]:
        """The words that the kernel has written, of one block."""
        text = "\n".join(f"{word & 0xFFFFFFFF:x}" for word in words)
        done = self.run_command(RUN, module, kernel, 1, threads, count, words=text)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [line for line in done.stdout.splitlines() if len(line) == 8]
        return [int(line, 16) for line in lines[-count:]]

    def refused(self, text: str) -> str:
        """What vgpu-cc says of PTX that it must not take."""
        done = self.run_command(CC, "-fatbin", self.write("bad.ptx", text), "-o", "bad.fatbin")
        self.assertNotEqual(done.returncode, 0)
        self.assertFalse((self.folder / "bad.fatbin").exists())
        return done.stderr


def main() -> None:
    unittest.main(argv=sys.argv[:1])
