# SPDX-License-Identifier: MIT
"""`./lab solution 03`: shows the course's solution beside the learner's: after the tests pass, or
with `--yes`. It never writes into labs/."""

import difflib

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.looks import looks
from grader.commands import contents
from grader.commands.submit import student_file
from grader.course.project import Lab, Project
from grader.course.strip import as_read
from grader.learning import standing

_COLORS = {"+": "32", "-": "31"}


def command(project: Project, lab: Lab, *, yes: bool, diff: bool) -> ExitStatus:
    source = project.root / "solutions" / lab.folder
    if not source.is_dir():
        raise LabError(say("solution.handout"), ExitStatus.MISSING)
    known = standing.current(project)
    left = _left(project, lab, known)
    if left and not yes:
        raise LabError(say("solution.not-yet", lab=lab.number, left=left), ExitStatus.NOT_WRITTEN)
    name = student_file(project, lab)
    text = as_read((source / name).read_text(encoding="utf-8"))
    mine = project.labs_dir / lab.folder / name
    shown = _beside(mine.read_text(encoding="utf-8"), text) if diff and mine.is_file() else text
    print(say("solution.head", file=f"solutions/{lab.folder}/{name}"))
    print(f"\n{shown.rstrip()}")
    if lab.number not in known.solutions:
        known.solutions[lab.number] = standing.now()
        known.save()
    return ExitStatus.OK


def _left(project: Project, lab: Lab, known: standing.Standing) -> int:
    """How many parts of the lab do not pass yet."""
    (entry,) = (one for one in contents.entries(project, known) if one.lab == lab)
    return len(entry.todos) - entry.passed


def _beside(mine: str, text: str) -> str:
    names = say("solution.yours"), say("solution.ours")
    lines = difflib.unified_diff(mine.splitlines(), text.splitlines(), *names, lineterm="")
    return "\n".join(looks().paint(line, _COLORS.get(line[:1], "")) for line in lines)
