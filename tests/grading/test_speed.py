# SPDX-License-Identifier: MIT
"""200 submissions of lab 03 (a mix of solution, skeleton, mutants and mistakes): under 8 minutes on
two cores, under 10 seconds again, under 1 GiB of memory. So with PEERLAB_FULL in the environment;
else six, whose time is printed beside the goal and not judged: it says as much of the machine."""

import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from classroom import BUILD, FULL, PROJECT, ROOT, Classroom, skeleton, solution

from grader.course.mutants import load, mutate

STUDENTS = 200 if FULL else 6
CORE_SECONDS = 4.8 * STUDENTS
AGAIN_SECONDS = 10.0
MEMORY = 1 << 30


def tree(root: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = path.read_text(errors="replace").rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(rest[1]), []).append(int(path.parent.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def memory(pid: int) -> int:
    """Its share of what is in memory, in bytes."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    lines = [line.split() for line in text.splitlines() if line.startswith("Pss:")]
    return sum(int(line[1]) << 10 for line in lines)


class Speed(Classroom):
    def hand_in_all(self) -> None:
        known = load(PROJECT, PROJECT.lab("03"))
        right, blank = solution("03"), skeleton("03")
        for at in range(STUDENTS):
            mutant = known[at % len(known)]
            wrong = mutate(mutant, right, mutant.name)
            text = (right, blank, right.replace("{", "{ oops", 1), wrong)[min(at % 10, 3)]
            self.hand_in(f"s{at:03}", "03", f"{text}/* {at} */\n")

    def timed(self) -> tuple[float, int, float]:
        """Wall seconds, peak memory, and CPU seconds of grading the class."""
        command = [sys.executable, str(ROOT / "lab"), "--build", str(BUILD), "grade"]
        command += [str(self.folder / "class"), "--out", str(self.folder / "out"), "--no-build"]
        began, most = time.monotonic(), 0
        process = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.DEVNULL)
        while process.poll() is None:
            most = max(most, sum(memory(pid) for pid in tree(process.pid)))
            time.sleep(0.3)
        self.assertEqual(process.returncode, 0)
        cpu = sum(row["times"]["cpu_seconds"] for row in self.results()["rows"])
        return time.monotonic() - began, most, cpu

    def test_it(self) -> None:
        self.hand_in_all()
        before = os.times()
        seconds, most, _ = self.timed()
        after = os.times()
        used = sum(after[2:4]) - sum(before[2:4])
        again, _, _ = self.timed()
        print(
            f"{STUDENTS} submissions: {seconds:.0f} s, {used:.0f} core-seconds (goal "
            f"{CORE_SECONDS:.0f}), {most >> 20} MiB; again {again:.1f} s",
            flush=True,
        )
        rows = self.rows()
        self.assertEqual(len(rows), STUDENTS)
        self.assertNotIn(None, [row["mark"] for row in rows.values()])
        self.assertLess(most, MEMORY)
        if FULL:
            self.assertLess(used, CORE_SECONDS)
            self.assertLess(again, AGAIN_SECONDS)


if __name__ == "__main__":
    unittest.main()
