# SPDX-License-Identifier: MIT
"""50 times killed at random moments and resumed: the same marks as undisturbed, no process left."""

import os
import random
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from classroom import BUILD, PROJECT, ROOT, Classroom, ends, skeleton, solution

from grader.course.mutants import load, mutate
from grader.grade.database import NAME

STUDENTS, KILLS = 30, 50


class Drills(Classroom):
    def hand_in_many(self) -> None:
        known = load(PROJECT, PROJECT.lab("01"))
        for at in range(STUDENTS):
            text = solution("01") if at % 3 else skeleton("01")
            if at % 3 == 1:
                mutant = known[at % len(known)]
                text = mutate(mutant, text, mutant.name)
            self.hand_in(f"s{at:02}", "01", f"{text}/* {at} */\n")

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, str(ROOT / "lab"), "--build", str(BUILD), "grade"]
        command += [str(self.folder / "class"), "--no-build", "--seed", "3", *words]
        env = {**os.environ, "TMPDIR": str(self.temporary)}
        return subprocess.Popen(
            command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    @property
    def temporary(self) -> Path:
        self.folder.chmod(0o755)  # the sandbox's users go through it
        path = self.folder / "t"
        path.mkdir(exist_ok=True, mode=0o755)
        return path

    def left_running(self) -> list[str]:
        """Processes that still work on a submission of ours."""
        found = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if f"{self.temporary}/lab-" in words:
                found.append(words)
        return found

    def test_kill_nine(self) -> None:
        self.hand_in_many()
        began = time.monotonic()
        self.assertEqual(self.start("--out", str(self.folder / "calm")).wait(900), 0)
        seconds = time.monotonic() - began
        chance = random.Random(8)
        for _ in range(KILLS):
            process = self.start("--out", str(self.folder / "storm"))
            time.sleep(chance.uniform(0.3, max(0.6, 1.5 * seconds / KILLS)))
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        with mock.patch.dict(os.environ, TMPDIR=str(self.temporary)):
            self.grade(self.folder / "class", "--seed", "3", out="storm")
        calm, storm = self.results("calm"), self.results("storm")
        self.assertEqual(len(calm["rows"]), STUDENTS)
        self.assert_same(calm, storm)
        deadline = (
            time.monotonic() + 120
        )  # killed in the middle of making a namespace: that is slow
        while self.left_running() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(self.left_running(), [])
        self.assertEqual(list(self.temporary.glob("lab-*")), [])
        self.assertEqual(list(self.temporary.glob("peerlab-*")), [])

    def test_interrupted(self) -> None:
        """Ctrl-C keeps what is done; the next run goes on from there."""
        self.hand_in_many()
        out = self.folder / "out"
        process = self.start("--out", str(out), "--jobs", "1")
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and (out / NAME).exists() is False:
            time.sleep(0.05)
        while time.monotonic() < deadline and self.ends(out) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(120), 130)
        done = self.ends(out)
        self.assertGreaterEqual(done, 2)
        self.assertLess(done, STUDENTS)
        said = self.grade(self.folder / "class", "--seed", "3")
        self.assertIn(f"{STUDENTS} submissions, {STUDENTS + 1 - done} to grade", said)
        self.assertEqual(len(self.rows()), STUDENTS)

    def ends(self, out: Path) -> int:
        """The solution, graded first, counts too."""
        return ends(out)


if __name__ == "__main__":
    unittest.main()
