# SPDX-License-Identifier: MIT
"""A disk that is really full, below the results and below the work: each time a clear sentence and
no mark; with room again, the marks of an undisturbed run. A small tmpfs is the disk, so who may not
mount one (root, or root of a user namespace of its own) skips it."""

import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from classroom import PROJECT, Classroom, at_full_length, ends, skeleton, solution

from grader.base.exits import ExitStatus
from grader.course.mutants import load, mutate
from grader.grade.database import NAME

STUDENTS = 4
ROOM = 640 << 10  # for the pristine tree, and not for a build


def mount(folder: Path, size: str, how: str = "size") -> bool:
    words = ["mount", "-t", "tmpfs", "-o", f"{how}={size},mode=1777", "peerlab", folder]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode == 0


class Disk(Classroom):
    def setUp(self) -> None:
        super().setUp()
        self.folder.chmod(0o755)  # the sandbox's users go through it
        known = load(PROJECT, PROJECT.lab("01"))
        for at in range(STUDENTS):
            text = skeleton("01") if at == 0 else mutate(known[at], solution("01"), known[at].name)
            self.hand_in(f"s{at}", "01", f"{text}/* {at} */\n")

    def disk(self, name: str, size: str) -> Path:
        folder = self.folder / name
        folder.mkdir()
        self.assertTrue(mount(folder, size))
        self.addCleanup(subprocess.run, ["umount", "-l", folder], check=True)
        return folder

    def graded(self, out: str, status: int = ExitStatus.OK) -> str:
        words = ("--seed", "3", "--jobs", "1", "--labs", "1")
        return self.grade(self.folder / "class", *words, out=out, status=status)

    def test_no_room_for_results(self) -> None:
        self.graded("calm")
        whole = (self.folder / "calm" / NAME).stat().st_size
        small = self.disk("small", f"{whole * 2 // 3}")
        said = self.graded("small", ExitStatus.HARNESS_ERROR)
        self.assertIn("results.sqlite cannot be written: database or disk is full", said)
        self.assertIn("make room and run the same command again", said)
        self.assertGreater(ends(small), 0)
        self.assertTrue(mount(small, "64m", "remount,size"))
        said = self.graded("small")
        self.assertRegex(said, rf"{STUDENTS} submissions, [1-{STUDENTS - 1}] to grade")
        self.assert_same(self.results("small"), self.results("calm"))

    @at_full_length
    def test_no_room_for_work(self) -> None:
        self.graded("calm")
        (self.folder / "class").rename(self.folder / "others")
        self.hand_in("s0", "01", skeleton("01") + "/* 0 */\n")
        self.graded("tried")  # the course's solution, which is first, has had room
        (self.folder / "class" / "s0").rename(self.folder / "unused")
        (self.folder / "class").rmdir()
        (self.folder / "others").rename(self.folder / "class")
        work = self.disk("work", "128m")
        (work / "filler").write_bytes(bytes((128 << 20) - ROOM))
        with mock.patch.dict(os.environ, TMPDIR=str(work)):
            self.graded("tried", ExitStatus.HARNESS_ERROR)
            for student, row in self.rows("tried").items():
                found = (row["status"], row["mark"])
                if student == "s0":  # it was graded before
                    self.assertEqual(found, ("not written", 0))
                else:
                    self.assertEqual(found, ("infrastructure error", None), student)
                    self.assertRegex(row["message"], "is full|No space left")
            (work / "filler").unlink()
            self.graded("tried")
        self.assert_same(self.results("tried"), self.results("calm"))


if __name__ == "__main__":
    trial = Path(sys.argv[0]).resolve().parent
    may = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "peerlab", trial]
    if subprocess.run(may, capture_output=True, check=False).returncode != 0:
        print("nobody may mount a small disk here (it takes root): no disk was filled")
        sys.exit(77)
    unittest.main()
