# SPDX-License-Identifier: MIT
"""docs/instructors.md shows what really happens: its blocks are typed, and the output compared."""

import json
import os
import re
import shlex
import subprocess
import unittest
from collections.abc import Iterator
from typing import Any

from classroom import BUILD, ROOT, Classroom

PAGE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "docs" / "samples" / "class.json"  # what the book's class report is made from
WRITE = os.environ.get("PEERLAB_WRITE") == "1"
_ROW = ("student", "name", "lab", "status", "message", "mark", "late", "attempts", "times")
_CASE = ("case", "title", "todo", "points", "possible", "status", "hidden", "message", "skeleton")
_PROGRESS = r"graded \d+ of |solutions tried: "
_OTHERS = r"user \d+ was grading on this machine"  # of hostile.every_tier, perhaps
_WRAPPER = """\
#!/bin/sh
if [ "$1" = grade ]; then set -- "$@" --no-build; fi
exec "{root}/lab" --build "{build}" "$@"
"""


def commands() -> Iterator[tuple[str, str]]:
    """Each command of the page's blocks, and what stands below it."""
    for block in re.findall(r"<!-- run -->\n```console\n(.*?)```", PAGE, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


class Instructors(Classroom):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "lab").write_text(_WRAPPER.format(root=ROOT, build=BUILD))
        (self.folder / "lab").chmod(0o755)
        (self.folder / "tests").symlink_to(ROOT / "tests")

    def test_page(self) -> None:
        count = 0
        for command, output in commands():
            done = subprocess.run(
                shlex.split(command),
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
                env={**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8", "TZ": "UTC"},
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(plain(done.stdout + done.stderr), plain(output), command)
            count += 1
        self.assertGreaterEqual(count, 6)
        self.compare_sample()

    def compare_sample(self) -> None:
        now = reported(json.loads((self.folder / "marks" / "results.json").read_text()))
        for row in now["rows"]:
            nameless = [case["case"] for case in row["cases"] if not case["title"]]
            self.assertEqual(nameless, [], f"{row['student']}: what must hold is not told of these")
        if WRITE:
            SAMPLE.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n")
        told = "this class gets other results: PEERLAB_WRITE=1 writes the sample anew"
        self.assertEqual(steady(now), steady(json.loads(SAMPLE.read_text())), told)

    def test_options_exist(self) -> None:
        """Every option that the page names is one of ./lab grade's."""
        known = set(re.findall(r"--[a-z][a-z-]+", self.lab("grade", "--help")))
        others = {"--grader", "--partition", "--hints"}  # of ./lab start, sbatch, ./lab submit
        named = set(re.findall(r"--[a-z][a-z-]+", PAGE)) - others
        self.assertLessEqual(named, known)


def reported(results: dict[str, Any]) -> dict[str, Any]:
    """What the class report needs of results.json."""

    def row(one: dict[str, Any]) -> dict[str, Any]:
        cases = [{key: case[key] for key in _CASE} for case in one["cases"]]
        return {key: one[key] for key in _ROW} | {"cases": cases}

    head = ("lab", "title", "file", "points", "skeleton")
    labs = [{key: lab[key] for key in head} for lab in results["labs"]]
    top = {key: results[key] for key in ("course", "seed", "sandbox", "students")}
    return top | {"labs": labs, "rows": [row(one) for one in results["rows"]]}


def steady(results: dict[str, Any]) -> dict[str, Any]:
    """Without what is another machine's: compiler, sandbox, times."""
    changing = ("times", "attempts")
    rows = [{key: row[key] for key in row if key not in changing} for row in results["rows"]]
    same = {key: results[key] for key in ("seed", "labs", "students")}
    return {**same, "rows": rows}


def plain(text: str) -> list[str]:
    """Lines without blanks at their ends; the sandbox is whatever the machine gives. How far it has
    come is told on a slow one only, and who else is grading where somebody is."""
    lines = [re.sub(r"^sandbox: \w+$", "sandbox: ...", line.rstrip()) for line in text.splitlines()]
    return [line for line in lines if line and not re.match(f"{_PROGRESS}|{_OTHERS}", line)]


if __name__ == "__main__":
    unittest.main()
