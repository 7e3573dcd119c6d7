# SPDX-License-Identifier: MIT
"""Litmus tests of PTX's memory model (litmus.cu) on two GPUs, compiled by vgpu-cc and, where it is
installed, by nvcc: what the model forbids is never seen, and docs/ptx.md lists what is."""

import pathlib
import re
import unittest

from rig import CC, HERE, NVCC, Case, main

SOURCE = HERE / "litmus.cu"
PAGE = HERE.parent.parent / "docs" / "ptx.md"
TESTS, PLACES = 12, 3
ONLY_PTX = ("-gencode", "arch=compute_90,code=compute_90")


def outcomes(text: str) -> dict[str, set[str]]:
    """Of each test, what was seen: the same for every placement of the threads."""
    seen: dict[str, set[str]] = {}
    for line in text.splitlines():
        test, what = line.split(" ", 1)
        found = set(re.findall(r" (\d+) x", what))
        assert seen.setdefault(test, found) == found, line
    return seen


def listed() -> dict[str, set[str]]:
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d ]+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    return {test: set(words.split()) for test, words in rows}


class Litmus(Case):
    def built(self, *compiler: object) -> pathlib.Path:
        program = self.folder / f"litmus-{pathlib.Path(str(compiler[0])).name}"
        done = self.run_command(*compiler, "-std=c++17", "-w", "-o", program, SOURCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return program

    def check(self, *command: object) -> None:
        done = self.run_command(*command, 100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("FORBIDDEN", done.stdout)
        self.assertEqual(len(done.stdout.splitlines()), TESTS * PLACES, done.stdout)
        self.assertEqual(outcomes(done.stdout), listed())

    def test_vgpu_cc(self) -> None:
        program = self.built(CC)
        self.check(program)
        self.check("env", "VGPU_SCHEDULE=1", program)
        done = self.run_command(program, 100, "mp_swapped")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count("FORBIDDEN"), PLACES)

    @unittest.skipIf(NVCC is None, "there is no nvcc here")
    def test_nvcc(self) -> None:
        self.check(CC.parent / "vgpu-run", self.built(NVCC, *ONLY_PTX))


if __name__ == "__main__":
    main()
