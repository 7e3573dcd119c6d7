# SPDX-License-Identifier: MIT
"""A class whose students hand in solutions, skeletons, mutants and mistakes. Where the grader's
packages are not, which a learner does not need, a test says so and is skipped."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from grader.base.exits import LabError
from grader.building.install import GRADER, lacking, own_packages
from grader.course.mutants import load, mutate, student_files
from grader.course.project import Project
from grader.course.sync import generate
from grader.grade import proof
from grader.grade.database import NAME, Database
from grader.grade.journal import write_whole
from grader.grade.results import without_times

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["PEERLAB_BUILD"])
PROJECT = Project(ROOT, build=BUILD)
CANNOT_RUN = 77
FULL = "PEERLAB_FULL" in os.environ
at_full_length = unittest.skipUnless(FULL, "PEERLAB_FULL is not set")
SEED = "7"
PROVED = BUILD / "selfcheck" / "proved"  # runs of solutions, each under its cache key


def need_packages() -> None:
    own_packages(PROJECT)
    if missing := lacking(GRADER):
        said = f"the Python packages {', '.join(missing)} are not here"
        print(f"{said}: ./lab start --grader installs them")
        sys.exit(CANNOT_RUN)


need_packages()


def file_name(number: str) -> str:
    return student_files(PROJECT.solutions_dir / PROJECT.lab(number).folder)[0].name


def solution(number: str) -> str:
    lab = PROJECT.lab(number)
    return (PROJECT.solutions_dir / lab.folder / file_name(number)).read_text(encoding="utf-8")


def skeleton(number: str) -> str:
    lab = PROJECT.lab(number)
    return generate(PROJECT, lab)[f"{lab.folder}/{file_name(number)}"].decode()


def mutant(number: str, name: str) -> str:
    (found,) = [one for one in load(PROJECT, PROJECT.lab(number)) if one.name == name]
    return mutate(found, solution(number), name)


def with_line(number: str, function: str, line: str) -> str:
    """The solution with a line at the beginning of one of its functions."""
    pattern = rf"(\nint {function}\([^)]*\)\n{{\n)"
    text, count = re.subn(pattern, lambda m: m[1] + line + "\n", solution(number))
    assert count == 1, function
    return "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <unistd.h>\n" + text


def ends(out: Path) -> int:
    """How many runs an output folder has, while they come, too."""
    path = out / NAME
    if not path.exists() or not path.stat().st_size:
        return 0
    base = Database(path)
    try:
        ((count,),) = base.all("SELECT count(*) FROM runs")
    except LabError:  # it is being made
        return 0
    finally:
        base.close()
    return int(count)


def take_proved(out: Path) -> None:
    """A new output folder in which the solutions are proved, as far as another test has proved them
    with the same seed, sandbox and build: otherwise half of what these tests compute is that."""
    out.mkdir(parents=True)
    (out / NAME).touch()
    base = Database(out / NAME)
    base.make()
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in PROVED.glob("*.json")]
    base.write_all("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", rows)
    base.close()


def keep_proved(out: Path) -> None:
    if not (out / NAME).exists():
        return
    PROVED.mkdir(parents=True, exist_ok=True)
    base = Database(out / NAME)
    for row in base.all("SELECT * FROM runs WHERE submission LIKE ?", f"%{proof.NAME}"):
        write_whole(PROVED / f"{row[0]}.json", json.dumps(row))
    base.close()


class Classroom(unittest.TestCase):
    """`self.folder` is empty at the start of every test, and gone at its end."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="peerlab-class-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def hand_in(self, student: str, number: str, text: str, folder: str = "class") -> Path:
        target = self.folder / folder / student / file_name(number)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def lab(self, *words: object, status: int | None = 0) -> str:
        """`./lab WORDS`: what it said."""
        command = [sys.executable, str(ROOT / "lab"), "--build", str(BUILD)]
        done = subprocess.run(
            [*command, *map(str, words)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=800,
            env={**os.environ, "COLUMNS": "100", "PEERLAB_BUILD": str(BUILD)},
        )
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def grade(self, *words: object, out: str = "out", status: int | None = 0) -> str:
        where = self.folder / out
        flags = ["--no-build"]
        if not where.exists():
            take_proved(where)
            flags += [] if "--seed" in words else ["--seed", SEED]
        said = self.lab("grade", *words, "--out", where, *flags, status=status)
        keep_proved(where)
        return said

    def assert_same(self, one: dict[str, Any], other: dict[str, Any]) -> None:
        """But for the times. What is short is compared first: a row's status, its message."""
        one, other = without_times(one), without_times(other)
        for row, twin in zip(one["rows"], other["rows"], strict=True):
            for key in (key for key in row if key != "cases"):
                self.assertEqual(row[key], twin[key], f"{row['student']}: {key}")
        self.assertEqual(one, other)

    def results(self, out: str = "out") -> dict[str, Any]:
        return json.loads((self.folder / out / "results.json").read_text(encoding="utf-8"))

    def rows(self, out: str = "out") -> dict[str, dict[str, Any]]:
        """By student, where each has one lab."""
        return {row["student"]: row for row in self.results(out)["rows"]}
