# SPDX-License-Identifier: MIT
"""Misconceptions of students, as programs: mutants that test whether a message teaches.

tests/misconceptions/labNN.py holds `MISCONCEPTIONS`. They were written from the labs' pages,
headers and solutions, by an author who had not read the labs' tests: a test that was written beside
its mutant catches that mutant and proves little. (tests/mutants, the older list, is of that kind.)
"""

import re
import runpy
from dataclasses import dataclass

from grader.base.exits import LabError
from grader.course.project import Lab, Project


@dataclass(frozen=True)
class Misconception:
    """The solution's file with the passage `find`, which occurs there once, replaced. `belief` is
    what the student would say; a message names it if each pattern of `named` matches it."""

    name: str
    todo: int
    belief: str
    find: str
    replace: str
    named: tuple[str, ...]
    open: str = ""  # why no case catches it, if none does
    grave: str = ""  # the kind of grave mistake that it is (grave.py), by reading it

    def is_named(self, message: str) -> bool:
        return all(re.search(word, message, re.IGNORECASE) for word in self.named)


def load(project: Project, lab: Lab) -> list[Misconception]:
    """The misconceptions of a lab, in the order of their file; an error names what is wrong in
    it."""
    path = project.root / "tests" / "misconceptions" / f"{lab.name}.py"
    if not path.is_file():
        raise LabError(f"{path.relative_to(project.root)} is missing")
    found = runpy.run_path(str(path)).get("MISCONCEPTIONS")
    if not isinstance(found, list) or not all(isinstance(one, Misconception) for one in found):
        raise LabError(f"{path.relative_to(project.root)} defines no list of Misconception")
    return found
