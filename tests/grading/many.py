# SPDX-License-Identifier: MIT
"""A class of many, with a stand-in for the grading of one (stand_in/sitecustomize.py): what is
tested is the work list, who collects, and the size of it all."""

import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from classroom import BUILD, ROOT, Classroom, ends, file_name

from grader.grade.database import NAME

SEED = 5


class Many(Classroom):
    """Subclasses say how many, and what words ./lab grade is given."""

    students = 300
    executor: tuple[str, ...] = ()
    seconds = "0.02"
    sync = "1"

    def setUp(self) -> None:
        super().setUp()
        self.log = self.folder / "graded.txt"
        self.kills = 0
        self.environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'tests' / 'grading' / 'stand_in'}:{ROOT}",
            "PEERLAB_BUILD": str(BUILD),
            "STAND_IN_LOG": str(self.log),
            "STAND_IN_SECONDS": self.seconds,
            "STAND_IN_LEASE": "4",
            "STAND_IN_SYNC": self.sync,
        }
        name = file_name("01")
        for at in range(self.students):
            path = self.folder / "class" / f"s{at:05}" / name
            path.parent.mkdir(parents=True)
            path.write_text(f"/* student {at} */\n" + "int x;\n" * 500)

    def start(self, out: str, *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-B", str(ROOT / "lab"), "--build", str(BUILD), "grade"]
        command += [str(self.folder / "class"), "--out", str(self.folder / out), "--no-build"]
        command += ["--unsafe-no-sandbox", "--seed", str(SEED), "--labs", "1", *words]
        with (self.folder / f"{out}.txt").open("ab") as said:
            return subprocess.Popen(command, env=self.environment, stdout=said, stderr=said)

    def said(self, out: str) -> str:
        return (self.folder / f"{out}.txt").read_text(errors="replace")

    def finish(self, process: "subprocess.Popen[bytes]", out: str) -> int:
        """Waits for it to end well: the most memory that it had, in bytes."""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, self.said(out))
        return used.ru_maxrss << 10

    def grade_here(self) -> int:
        memory = self.finish(self.start("here"), "here")
        self.log.unlink()
        return memory

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        self.kills += 1
        process.kill()
        process.wait(60)

    def wait_for(self, share: float) -> None:
        """Until this share of all is collected."""
        deadline = time.monotonic() + 600
        while ends(self.folder / "there") < share * self.students:
            self.assertLess(time.monotonic(), deadline, self.said("there"))
            time.sleep(0.05)

    def records(self) -> dict[str, float]:
        """When each was recorded, by cache key."""
        with closing(sqlite3.connect(self.folder / "there" / NAME)) as base:
            return dict(base.execute("SELECT cache, at FROM runs"))

    def assert_nothing_twice(self, early: dict[str, float]) -> None:
        """Of `early`, records that were there before: they stay. What was in work when its worker
        was killed is done again, and nothing else."""
        now = self.records()
        self.assertEqual({cache: now.get(cache) for cache in early}, early)
        graded = Counter(line.split()[1] for line in self.log.read_text().splitlines())
        self.assertEqual(len(graded), self.students)
        self.assertLessEqual(sum(graded.values()) - self.students, self.kills)

    def assert_shared(self, workers: int) -> None:
        """So many did a fair share each."""
        did = Counter(line.split()[0] for line in self.log.read_text().splitlines())
        fair = self.students / (workers + self.kills)
        self.assertGreaterEqual(sum(count > fair / 3 for count in did.values()), workers, did)

    def assert_same_bytes(self) -> None:
        here, there = self.folder / "here", self.folder / "there"
        for path in [here / "marks.csv", here / "cases.csv", *(here / "feedback").iterdir()]:
            other = there / path.relative_to(here)
            self.assertEqual(path.read_bytes(), other.read_bytes(), path.name)
        self.assertEqual(left(there / "work"), [])


def left(work: Path) -> list[str]:
    """Units and records that somebody has forgotten."""
    return [path.name for kind in ("open", "held", "done") for path in (work / kind).iterdir()]
