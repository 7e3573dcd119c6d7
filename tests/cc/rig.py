# SPDX-License-Identifier: MIT
"""What the tests of vgpu-cc share: where things are, and how programs are run."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CC = pathlib.Path(sys.argv[1]).resolve()
REWRITE = pathlib.Path(sys.argv[2]).resolve()
# What is said where .cu files are compiled and -ccbin is not a Clang.
CCBIN_NOTE = (
    "vgpu-cc: note: Clang compiles .cu files; "
    "-ccbin names the compiler of C++ files and of the link\n"
)
FULL = os.environ.get("PEERLAB_FULL") == "1"  # the longer drills, too
INSTALLED = [name for name in ("g++", "clang++") if shutil.which(name)]
COMPILERS = INSTALLED if FULL else INSTALLED[:1]
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


ERROR = re.compile(r"^(\S+?):(\d+):(\d+): error: (.*)$")
MARK = re.compile(r"//([!?])(\d*) (.*)$")


def plain(text: str) -> str:
    return text.translate({0x2018: "'", 0x2019: "'"})


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

    def check_marked_lines(self, path: pathlib.Path, **environment: str) -> None:
        """The marked lines have their errors, no others have one, and nothing is left.

        code  //!14 text    an error at column 14 of this line whose message starts with the text
        code  //! text      the same, at any column
        code  //? text      an error with that text somewhere, and the line is named in what is said
        """
        done = cc("-c", path, "-o", self.folder / "x.o", folder=self.folder, **environment)
        said = plain(done.stderr)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.names(), set(), "an object or a temporary file was left")
        found = [match.groups() for match in map(ERROR.match, said.splitlines()) if match]
        here = [
            (int(line), int(column), text)
            for file, line, column, text in found
            if file == str(path)
        ]
        marked = set()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for sign, column, text in MARK.findall(line):
                marked.add(number)
                if sign == "?":
                    self.assertIn(text, said)
                    self.assertIn(f"{path}:{number}:", said)
                    continue
                fitting = [
                    at
                    for at in here
                    if at[0] == number and text in at[2] and at[1] == int(column or at[1])
                ]
                self.assertTrue(
                    fitting, f"line {number}: no error '{text}' at column {column}; said:\n{said}"
                )
        self.assertEqual({line for line, _, _ in here} - marked, set(), said)


def main() -> None:
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
