# SPDX-License-Identifier: MIT
"""./lab debug with a real gdb and the reference's code: a breakpoint in a kernel is hit, `bt` shows
the line of the source, and the test goes on to its verdict. Exit status 77 without gdb.

    test_debugger.py ROOT BUILD
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
SOURCE = ROOT / "solutions" / "04-reduction" / "reduction.cu"
SECONDS = 120


def debug(*words: str) -> tuple[int, str]:
    command = [sys.executable, ROOT / "lab", "--build", BUILD, "debug", *words, "--solution"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def line_of(text: str) -> int:
    """The line of a source that begins so."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if text in line and "__global__" in line]
    return number


class Debugger(unittest.TestCase):
    def test_it_stops_in_a_kernel_at_its_line(self) -> None:
        status, said = debug("04", "shared", "-x", "bt")
        self.assertEqual(status, 0, said)
        stopped = re.search(r"^#0 .*\bshared_kernel.* at .*/reduction\.cu:(\d+)$", said, re.M)
        self.assertIsNotNone(stopped, said)
        first = range(5)  # its first statement stands behind its declarations
        self.assertIn(int(stopped[1]) - line_of(" shared_kernel("), first, said)
        self.assertIn("pass  solution04.shared", said)

    def test_another_gpus_kernels_and_a_step(self) -> None:
        status, said = debug("04.scale", "--gpu", "1", "-x", "next", "-x", "bt")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"(?m)^#0 .* at .*/reduction\.cu:\d+$")
        self.assertIn("pass  solution04.scale", said)

    def test_functions_of_the_host(self) -> None:
        status, said = debug("01", "count", "-x", "bt")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"(?m)^#0 +inv_count .* at .*/enumerate\.c:\d+$")
        self.assertRegex(said, r"(?m)^#\d+ .*main \(")
        self.assertIn("pass  solution01.count", said)

    def test_a_gpu_without_a_kernel_and_a_test_that_is_not_there(self) -> None:
        status, said = debug("04", "shared", "--gpu", "3", "-x", "bt")
        self.assertEqual(status, 6, said)
        self.assertIn("GPU 3 was given no kernel", said)
        status, said = debug("04", "nonsense")
        self.assertEqual(status, 6, said)
        status, said = debug("04")
        self.assertEqual(status, 2, said)
        self.assertIn("solution04.shared", said)


if __name__ == "__main__":
    if shutil.which("gdb") is None:
        print("no gdb here (apt-get install gdb)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
