# SPDX-License-Identifier: MIT
"""Host threads that wait for each other pass on the later clock: test_carry.py VGPU_CC SOURCE,
where SOURCE is carry.cu. Compiled by each compiler that is installed, and with the sanitizers that
stand before the same functions as we do."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

VGPU_CC, SOURCE = sys.argv[1:3]
HOSTS = [name for name in ("g++", "clang++") if shutil.which(name)]


def build(folder: str, host: str, *flags: str) -> Path:
    program = Path(folder, f"carry-{host}{''.join(flags)}".replace("=", "-"))
    words = [VGPU_CC, "-ccbin", host, "-O1", *flags, "-o", str(program), SOURCE]
    subprocess.run(words, check=True, timeout=300)
    return program


def run(program: Path, case: str) -> dict[str, list[int]]:
    """What the clocks said, by place."""
    more = {"VGPU_NODE": "hgx-h200-4", "VGPU_NODE_ID": f"carry-{os.getpid()}"}
    done = subprocess.run(
        [program, case],
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{program} {case}: {done.returncode}\n{done.stderr}"
    assert not done.stderr, done.stderr  # not said to depend on the operating system
    found: dict[str, list[int]] = {}
    for line in done.stdout.splitlines():
        where, clock = line.rsplit(" ", 1)
        found.setdefault(where, []).append(int(clock))
    return found


class Carry(unittest.TestCase):
    program: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.programs = {
            host: build(cls.folder.name, host, "-Xcompiler", "-fopenmp,-pthread") for host in HOSTS
        }

    def join(self, program: Path, case: str) -> dict[str, list[int]]:
        found = run(program, case)
        self.assertEqual(found["begun"], found["created"])
        if "ended" in found:
            self.assertEqual(found["joined"], found["ended"])
        return found

    def test_join(self) -> None:
        for program in self.programs.values():
            for case in ("join", "join_c11", "join_tried"):
                found = self.join(program, case)
                self.assertGreater(found["joined"][0], found["begun"][0] + 1e8, case)

    def test_a_thread_that_asked_for_nothing(self) -> None:
        for program in self.programs.values():
            found = self.join(program, "join_idle")
            self.assertEqual(found["joined"], found["created"])

    def test_barrier(self) -> None:
        for program in self.programs.values():
            found = run(program, "barrier")
            before = 0
            for number in range(4):
                clocks = found[f"round{number}"]
                self.assertEqual(len(clocks), 3)
                self.assertEqual(len(set(clocks)), 1, clocks)
                self.assertGreater(clocks[0], before)
                before = clocks[0]

    def test_openmp(self) -> None:
        for program in self.programs.values():
            found = run(program, "openmp")
            for place in ("begun", "static", "dynamic", "sections"):
                self.assertEqual(len(found[place]), 3, place)
                self.assertEqual(len(set(found[place])), 1, f"{place}: {found[place]}")
            self.assertEqual(found["begun"][0], found["created"][0])
            self.assertEqual(found["over"][0], found["sections"][0])
            self.assertEqual(min(found["begun2"]), found["created2"][0])
            self.assertEqual(found["over2"][0], max(found["ended2"]))

    def test_built_in_other_ways(self) -> None:
        """The sanitizers stand before these functions; a static program has no library."""
        for host in HOSTS:
            for flags in ("-fsanitize=address", "-fsanitize=thread", "-static"):
                program = build(self.folder.name, host, "-Xcompiler", f"-pthread,{flags}")
                self.join(program, "join")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
