# SPDX-License-Identifier: MIT
"""The first test of each task, without which its others earn nothing, runs on at least two kinds of
node, so that an answer that knows the usual machine by heart does not pass.

    PEERLAB_BUILD=build/vgpu python3 tests/points/test_shapes.py [--all]
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from grader.course.project import Lab, Project  # noqa: E402
from grader.grade.rubric import load  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())
ALL = "--all" in sys.argv
CASE_SECONDS = 300


def openers(lab: Lab) -> list[str]:
    """The cases that open the others of their task."""
    rules = load(PROJECT, lab).rules
    return [rule.case for rule in rules if ALL or (rule.todo and not rule.depends)]


def nodes(lab: Lab, case: str) -> list[str]:
    """On which the solution was asked."""
    hidden = case.startswith("hidden.")
    program = PROJECT.build_dir / "bin" / f"{lab.name}-check{'-hidden' * hidden}"
    runner = PROJECT.build_dir / "runners" / f"solution{lab.number}-run"
    with tempfile.TemporaryDirectory() as folder:
        words = [str(program), "--runner", str(runner), "--case", case.removeprefix("hidden.")]
        words += ["--orders", "0", "--as", "x", "--results", folder]
        subprocess.run(words, capture_output=True, check=False, timeout=CASE_SECONDS)
        (record,) = Path(folder).glob("*.json")
        found: list[str] = json.loads(record.read_text(encoding="utf-8"))["nodes"]
    return sorted(set(found))


class Shapes(unittest.TestCase):
    def test_two_kinds_of_node(self) -> None:
        for lab in PROJECT.labs():
            for case in openers(lab):
                with self.subTest(f"{lab.name}.{case}"):
                    found = nodes(lab, case)
                    print(f"{lab.name}.{case}: {', '.join(found)}")
                    self.assertGreaterEqual(len(found), 2, found)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
