# SPDX-License-Identifier: MIT
"""What the tests of vgpu-cc share: where things are, and how programs are run."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CC = pathlib.Path(sys.argv[1]).resolve()
FRONT = pathlib.Path(sys.argv[2]).resolve()
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
FULL = os.environ.get("PEERLAB_FULL") == "1"  # the longer drills, too
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def run(
    command: list, folder: pathlib.Path | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """The command's result; vgpu-cc writes temporary files below the folder only."""
    more = {"VGPU_NODE_ID": f"cc-{os.getpid()}", "VGPU_NODE": "single", **environment}
    if folder is not None:
        more.setdefault("TMPDIR", str(folder))
    environ = dict(os.environ, **more)
    if environment.get("VGPU_CXX") is None:
        environ.pop("VGPU_CXX", None)
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
    )


def cc(*arguments: object, folder: pathlib.Path, **environment: str) -> subprocess.CompletedProcess:
    return run([CC, *arguments], folder, **environment)


class Case(unittest.TestCase):
    """A test with an empty folder of its own, which nothing temporary is left in."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cc-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
