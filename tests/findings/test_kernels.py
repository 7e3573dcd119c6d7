# SPDX-License-Identifier: MIT
"""What kernels do wrong: each WRONG case of kernels/*.cu is named with its lines, in every order in
which the threads may run; RIGHT ones, which look alike, are left alone. With PEERLAB_FULL=1 in
several orders."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(sys.argv.pop(1))
HERE = pathlib.Path(__file__).parent / "kernels"
ORDERS = 4 if "PEERLAB_FULL" in os.environ else 1
SCHEDULES = tuple({"VGPU_SCHEDULE": str(order)} if order else {} for order in range(ORDERS))
AT_LEAST = 5  # of each kind, for each diagnosis
# What ends a kernel is said without a finding.
FAULTS = {"702": "the kernel makes no progress", "716": "a misaligned "}

CODE = re.compile(r"\[([a-z.-]+); \./lab explain \1\]")


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        timeout=120,
    )


def marked_lines(source: pathlib.Path) -> dict[str, set[int]]:
    """The numbers of the lines that end with "//! name", by name: no others may be told."""
    lines: dict[str, set[int]] = {}
    for number, line in enumerate(source.read_text().splitlines(), 1):
        if "//!" in line:
            for name in line.split("//!")[1].split():
                lines.setdefault(name, set()).add(number)
    return lines


class Kernels(unittest.TestCase):
    """One test a file: made below."""

    def check(self, source: pathlib.Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / source.stem
            built = run(BIN / "vgpu-cc", "-g", "-O2", "-o", program, source)
            self.assertEqual((built.returncode, built.stderr), (0, ""))
            cases = [line.split() for line in run(program).stdout.splitlines()]
            right = [name for name, code in cases if code == "-"]
            self.assertGreaterEqual(len(right), AT_LEAST, "near misses")
            self.assertGreaterEqual(len(cases) - len(right), AT_LEAST, "mistakes")
            for schedule in SCHEDULES:
                for name, code in cases:
                    with self.subTest(case=name, **schedule):
                        self.one(program, name, code, marked_lines(source), schedule)

    def one(
        self,
        program: pathlib.Path,
        name: str,
        code: str,
        marked: dict[str, set[int]],
        schedule: dict[str, str],
    ) -> None:
        done = run(
            program,
            name,
            VGPU_CHECK="kernels",
            VGPU_KERNEL_SECONDS="1",
            VGPU_NODE_ID=f"kernels-{os.getpid()}",
            **schedule,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        if code == "-":
            self.assertEqual(done.stderr, "")
            return
        fault = FAULTS.get(code)
        self.assertIn(fault or "", done.stderr)
        self.assertEqual(set(CODE.findall(done.stderr)), set() if fault else {code}, done.stderr)
        accesses = re.sub(r"\(allocated at \S+\)", "", done.stderr)
        told = {int(n) for n in re.findall(rf"[ ,]{program.name}\.cu:(\d+)", accesses)}
        if name in marked:
            self.assertTrue(told and told <= marked[name], done.stderr)
            self.assertIn("bytes", done.stderr)
        else:
            self.assertIn(f"{program.name}.cu:", done.stderr)


def add_tests() -> None:
    for source in sorted(HERE.glob("*.cu")):
        setattr(Kernels, f"test_{source.stem}", lambda self, s=source: self.check(s))


add_tests()

if __name__ == "__main__":
    unittest.main(verbosity=2)
