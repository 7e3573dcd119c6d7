# SPDX-License-Identifier: MIT
"""`./lab hint 03 2 [n]`: one folded hint of the lab's README at a time."""

from grader.exits import ExitStatus, LabError
from grader.project import Lab, Project
from grader.readme import Task, tasks


def hint(project: Project, lab: Lab, number: int, which: int) -> str:
    """Hint `which` (from 1) of task `number`, with a line that says how to get the next."""
    task = _task(project, lab, number)
    if not 1 <= which <= len(task.hints):
        raise LabError(
            f"Task {number} of lab {lab.number} has {len(task.hints)} hints; "
            f"there is no hint {which}.",
            ExitStatus.NO_MATCH,
        )
    head = f"Lab {lab.number}, task {number}: {task.title}  (hint {which} of {len(task.hints)})"
    tail = "That was the last hint. The README names what to read."
    if which < len(task.hints):
        tail = f"Stuck still? ./lab hint {lab.number} {number} {which + 1}"
    return f"{head}\n\n{task.hints[which - 1]}\n\n{tail}"


def _task(project: Project, lab: Lab, number: int) -> Task:
    """From the learner's README, or the solution's where that one is gone."""
    for folder in (project.labs_dir, project.solutions_dir):
        readme = folder / lab.folder / "README.md"
        if readme.is_file():
            found = tasks(readme.read_text(encoding="utf-8"))
            for task in found:
                if task.number == number:
                    return task
            have = ", ".join(str(task.number) for task in found) or "none"
            raise LabError(
                f"Lab {lab.number} has no task {number}. Tasks: {have}.", ExitStatus.NO_MATCH
            )
    raise LabError(f"Lab {lab.number} has no README.md.", ExitStatus.NO_MATCH)
