# SPDX-License-Identifier: MIT
"""Litmus tests of PTX's memory model (litmus.cu) on two GPUs, compiled by vgpu-cc and, where it is
installed, by nvcc: what the model forbids is never seen, and docs/ptx.md lists what is, by default
and with VGPU_SCHEDULE=weak. PEERLAB_FULL=1: all outcomes of both compilers' programs are looked for
in weak order, else those of vgpu-cc's, and nvcc's program runs there fewer times."""

import os
import pathlib
import re
import unittest

from rig import CC, HERE, NVCC, Case, main

SOURCE = HERE / "litmus.cu"
PAGE = HERE.parent.parent / "docs" / "ptx.md"
TESTS, PLACES = 31, 3
FLAG = PAGE.parent / "book" / "code" / "flag.cu"
SEEDS = 40
FULL = os.environ.get("PEERLAB_FULL") == "1"
SCOPES = ("cta", "gpu", "sys")
ONLY_PTX = ("-gencode", "arch=compute_90,code=compute_90")


def outcomes(text: str) -> dict[str, set[str]]:
    """Of each test, what was seen: the same for every placement of the threads."""
    seen: dict[str, set[str]] = {}
    for line in text.splitlines():
        test, what = line.split(" ", 1)
        found = set(re.findall(r" (\d+) x", what))
        assert seen.setdefault(test, found) == found, line
    return seen


def section() -> str:
    """The page's part on the memory model."""
    return PAGE.read_text(encoding="utf-8").split("## The memory model")[1].split("\n## ")[0]


def listed(column: int) -> dict[str, set[str]]:
    """Of each program in the page's table, the outcomes in this column; -1: seen by default."""
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", section(), re.M)
    return {test: set(cells.split("|")[column].split()) for test, cells in rows}


def example() -> str:
    """The commands of the page that show VGPU_SCHEDULE=weak, with their output."""
    return section().split("```console\n")[1].split("```")[0]


def where_seen(text: str, outcome: str) -> set[str]:
    """The placements of the threads in which it was."""
    return set(re.findall(rf"^\w+ (\w+):.* {outcome} x", text, re.M))


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
        self.assertEqual(outcomes(done.stdout), listed(-1))

    def test_vgpu_cc(self) -> None:
        program = self.built(CC)
        self.check(program)
        self.check("env", "VGPU_SCHEDULE=1", program)
        done = self.run_command(program, 100, "mp_swapped")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count("FORBIDDEN"), PLACES)

    def weak(self, seed: int, *command: object) -> str:
        done = self.run_command("env", f"VGPU_SCHEDULE=weak:{seed}", *command)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check_weak(self, *program: object, rounds: int) -> None:
        """What is forbidden is not seen in weak order, either."""
        self.assertEqual(len(self.weak(1, *program, rounds).splitlines()), TESTS * PLACES)

    def look_for_weak(self, *program: object) -> None:
        """What the page lists is seen."""
        wanted = {test: found for test, found in listed(-2).items() if found}
        self.assertEqual(len(wanted), 15)
        for test, found in wanted.items():
            missing = {(outcome, scope) for outcome in found for scope in SCOPES}
            for seed in range(1, SEEDS):
                text = self.weak(seed, *program, 100, test)
                missing -= {one for one in missing if one[1] in where_seen(text, one[0])}
                if not missing:
                    break
            self.assertEqual(missing, set(), test)

    def test_weak(self) -> None:
        program = self.built(CC)
        self.check_weak(program, rounds=100 if FULL else 50)
        self.look_for_weak(program)
        done = self.run_command("env", "VGPU_SCHEDULE=weak", program, 100, "mp_swapped")
        self.assertEqual(done.stdout.count("FORBIDDEN"), PLACES)

    def test_flag(self) -> None:
        """The page's example: what it shows, and other seeds."""
        shown = re.findall(r"^\$ (.*)\n((?:[^$`].*\n)*)", example(), re.M)
        self.assertEqual(len(shown), 6)
        (self.folder / "flag.cu").write_bytes(FLAG.read_bytes())
        for command, output in shown:
            words = command.replace("vgpu-cc", str(CC)).split()
            done = self.run_command("env", *words)
            self.assertEqual(done.stdout, output, command + done.stderr)
        for seed in range(2, 6):
            self.assertIn("have arrived", self.weak(seed, "./flag"))
            done = self.run_command("env", f"VGPU_SCHEDULE=weak:{seed}", "./narrow")
            self.assertIn("some are old", done.stdout)

    @unittest.skipIf(NVCC is None, "there is no nvcc here")
    def test_nvcc(self) -> None:
        program = CC.parent / "vgpu-run", self.built(NVCC, *ONLY_PTX)
        self.check(*program)
        self.check_weak(*program, rounds=100 if FULL else 20)
        if FULL:
            self.look_for_weak(*program)


if __name__ == "__main__":
    main()
