# SPDX-License-Identifier: MIT
"""No points for nothing: every generated answer without work (corpus.py) gets 0 of a lab's points.

    PEERLAB_BUILD=build/vgpu python3 tests/points/test_points.py 04 [--all]

Without PEERLAB_FULL in the environment only the common ones are asked, which stand for their kind.
A case counts as in grading: not before those that it depends on. `--all` asks every case all the
same and lists which of them an answer without work passes.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]

import corpus  # noqa: E402

from grader.building.variants import Variant  # noqa: E402
from grader.course.project import Lab, Project  # noqa: E402
from grader.grade.rubric import Rubric, Rule, load  # noqa: E402

PROJECT = Project(ROOT, build=Path(os.environ["PEERLAB_BUILD"]).resolve())
WORDS = [word for word in sys.argv[1:] if word != "--all"]
ALL = "--all" in sys.argv
FULL = "PEERLAB_FULL" in os.environ
PASS, CASE_SECONDS = 0, 120
# Calls of one another that never end are stopped sooner than a learner's: what passes takes less.
ENVIRONMENT = os.environ if FULL else {**os.environ, "LAB_CPU_SECONDS": "2"}


class Desk:
    """One lab's answers, built."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.folder = lab, folder
        self.which = folder / "which"
        self.rubric: Rubric = load(PROJECT, lab)
        every = corpus.answers(PROJECT, lab)
        self.answers = [answer for answer in every if FULL or answer.common]
        text, name = corpus.source(PROJECT, lab, self.answers, self.which)
        (folder / name).write_text(text, encoding="utf-8")
        todos = sorted(set(corpus.declared(PROJECT, lab).functions.values()))
        self.runner = Variant(PROJECT, lab, folder / name).build_submission(todos)

    def passed(self, number: int) -> Iterator[Rule]:
        """What answer `number` passes, and has the right to be asked."""
        self.which.write_text(str(number), encoding="ascii")
        right: set[str] = set()
        waiting = list(self.rubric.rules)
        with ThreadPoolExecutor(2) as pool:
            while waiting:
                ready = [rule for rule in waiting if ALL or set(rule.depends) <= right]
                waiting = [rule for rule in waiting if rule not in ready]
                asked = dict(zip(ready, pool.map(self._is_right, ready), strict=True))
                right |= {rule.case for rule, passes in asked.items() if passes}
                yield from (rule for rule, passes in asked.items() if passes)
                if not any(asked.values()):
                    return

    def _is_right(self, rule: Rule) -> bool:
        hidden = rule.case.startswith("hidden.")
        program = PROJECT.build_dir / "bin" / f"{self.lab.name}-check{'-hidden' * hidden}"
        case = rule.case.removeprefix("hidden.")
        words = [str(program), "--runner", str(self.runner), "--case", case, "--orders", "0"]
        done = subprocess.run(
            words,
            capture_output=True,
            check=False,
            cwd=self.folder,
            env=ENVIRONMENT,
            timeout=CASE_SECONDS,
        )
        return done.returncode == PASS


class NoPoints(unittest.TestCase):
    def test_nothing(self) -> None:
        for number in WORDS or [lab.number for lab in PROJECT.labs()]:
            with tempfile.TemporaryDirectory(dir=PROJECT.build_dir / "labs") as folder:
                desk = Desk(PROJECT.lab(number), Path(folder))
                self._ask(desk)

    def _ask(self, desk: Desk) -> None:
        found = []
        for number, answer in enumerate(desk.answers):
            for rule in desk.passed(number):
                found.append(
                    f"{desk.lab.name}.{rule.case}, TODO({rule.todo}), {rule.points} points: "
                    f"{answer.name}"
                )
        print(f"{desk.lab.name}: {len(desk.answers)} answers without work, {len(found)} passes")
        self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
