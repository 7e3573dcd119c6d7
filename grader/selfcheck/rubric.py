# SPDX-License-Identifier: MIT
"""Checks that the points of a lab's cases, hidden ones too, add up to 100 and match its rubric."""

import json
from pathlib import Path

from grader.base.exits import LabError
from grader.building.ctest import Test
from grader.course.project import Lab, Project
from grader.grade.rubric import load
from grader.learning.scoreboard import listed_cases
from grader.selfcheck.report import Section

POINTS_A_LAB = 100
Points = dict[str, tuple[int, int]]  # case, "hidden." in front of hidden ones: TODO and points


def check_rubrics(project: Project, tests: list[Test], labs: list[Lab], section: Section) -> None:
    for lab in labs:
        found = points_of(lab, tests)
        total = sum(points for _, points in found.values())
        reason = f"its cases have {total} points, expected {POINTS_A_LAB}"
        section.check(f"{lab.name} points", total == POINTS_A_LAB, reason)
        shown = rubric(project.solutions_dir / lab.folder / "tests" / "rubric.json")
        wrong = sorted(
            f"{case}: tests say {found.get(case)}, the rubric {shown.get(case)}"
            for case in found.keys() | shown.keys()
            if found.get(case) != shown.get(case)
        )
        reason = "(TODO, points) of\n" + "\n".join(wrong)
        section.check(f"{lab.name} rubric.json", not wrong, reason)
        if shown:
            section.check(f"{lab.name} rubric.toml", *_refined(project, lab, shown))


def _refined(project: Project, lab: Lab, shown: Points) -> tuple[bool, str]:
    """Checks that grading's additions to the rubric are valid, and leave the points unchanged."""
    try:
        total = load(project, lab).possible
    except LabError as error:
        return False, str(error)
    before = sum(points for _, points in shown.values())
    return total == before, f"with it there are {total} points, expected {before}"


def points_of(lab: Lab, tests: list[Test]) -> Points:
    """As the verifiers list them."""
    mine = [test for test in tests if test.name.startswith(f"solution{lab.number}.")]
    verifiers = {test.command[0]: "hidden." if ".hidden." in test.name else "" for test in mine}
    return {
        prefix + case.case: (case.todo, case.points)
        for verifier, prefix in verifiers.items()
        for case in listed_cases(Path(verifier))
    }


def rubric(path: Path) -> Points:
    """From rubric.json; empty without one."""
    if not path.is_file():
        return {}
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["case"]: (case["todo"], case["points"]) for case in cases}
