# SPDX-License-Identifier: MIT
"""`./lab hint 03 2`: shows the folded hints of the lab's README one at a time, the next one at each
call. `./lab hint 03 2 1` shows the first again. `./lab hint 03.2` is understood, too."""

from grader.base.exits import ExitStatus, LabError
from grader.base.language import say
from grader.base.looks import looks
from grader.base.terminal import columns, show
from grader.building import install
from grader.course.project import Lab, Project
from grader.course.readme import Task, tasks
from grader.learning import standing


def command(project: Project, words: str, number: int, which: int) -> ExitStatus:
    """`words` is "03" or "03.2"; `number` 0 and `which` 0 mean that they were not given."""
    install.own_packages(project)
    name, dot, task = words.partition(".")
    lab = project.lab(name)
    if dot and task.isdigit() and not number:
        number = int(task)
    if not number:
        tasks_there = _numbers(_tasks(project, lab))
        raise LabError(say("hint.which", lab=lab.number, tasks=tasks_there), ExitStatus.USAGE)
    print(hint(project, lab, number, which or _next(project, lab, number)))
    return ExitStatus.OK


def hint(project: Project, lab: Lab, number: int, which: int) -> str:
    """Hint `which` (from 1) of task `number`, with a line on how to get the next."""
    task = _task(project, lab, number)
    values = {"lab": lab.number, "task": number, "which": which, "of": len(task.hints)}
    if not 1 <= which <= len(task.hints):
        raise LabError(say("hint.none", **values), ExitStatus.NO_MATCH)
    head = say("hint.head", title=task.title, **values)
    last = which == len(task.hints)
    tail = say("hint.last" if last else "hint.more", **{**values, "next": which + 1})
    text = task.hints[which - 1]
    if columns() and not looks().plain:
        text = show(text, looks())
    return f"{head}\n\n{text}\n\n{tail}"


def _next(project: Project, lab: Lab, number: int) -> int:
    """The hint after the one shown last, or the last one again; its number is stored."""
    known = standing.load(project)
    key = f"{lab.number}.{number}"
    count = len(_task(project, lab, number).hints)
    which = min(known.hints.get(key, 0) + 1, max(1, count))
    known.hints[key] = which
    known.save()
    return which


def _tasks(project: Project, lab: Lab) -> list[Task]:
    readme = project.labs_dir / lab.folder / "README.md"
    if readme.is_file():
        return tasks(readme.read_text(encoding="utf-8"))
    raise LabError(say("hint.no-readme", lab=lab.number), ExitStatus.NO_MATCH)


def _task(project: Project, lab: Lab, number: int) -> Task:
    found = _tasks(project, lab)
    for task in found:
        if task.number == number:
            return task
    raise LabError(
        say("hint.no-task", lab=lab.number, task=number, tasks=_numbers(found)),
        ExitStatus.NO_MATCH,
    )


def _numbers(found: list[Task]) -> str:
    return ", ".join(str(task.number) for task in found) or "-"
