# SPDX-License-Identifier: MIT
"""Before anybody's mark: the course's own solutions, graded as submissions are, get full marks.

Where they do not, the machine, the sandbox or the course is broken, and every mark would be wrong.
"""

from collections.abc import Callable

from grader.base.exits import ExitStatus, LabError
from grader.grade.batch import Batch
from grader.grade.course import Course, GradedLab
from grader.grade.marks import judge
from grader.grade.model import Run, Status, Submission

ATTEMPTS = 2
NAME = " the course's solution"  # no student's: it begins with a blank


def prove(
    batch: Batch,
    course: Course,
    labs: list[GradedLab],
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """LabError unless every lab's solution passes; what was proved once is not run again. `told`
    hears the name of each lab that was run."""
    tasks = [batch.task(lab, solution(course, lab)) for lab in labs]
    done = batch.journal.runs

    def is_open(submission: Submission) -> bool:
        (task,) = [task for task in tasks if task.submission is submission]
        run = done.get(task.cache)
        return not run or judge(submission, run, task.lab.rubric).status is not Status.PASS

    for _ in range(ATTEMPTS):
        broken = batch.run(batch.to_do(tasks, is_open), lambda task, _: told(task.lab.lab.name))
    for task in tasks:
        run = broken.get(task.cache) or done[task.cache]
        graded = judge(task.submission, run, task.lab.rubric)
        if graded.status is not Status.PASS:
            raise LabError(
                f"{task.lab.lab.name}: the course's own solution does not get full marks here, so "
                f"nothing was graded.\n{_why(run)}\n./lab doctor and ./lab selfcheck say more.",
                ExitStatus.HARNESS_ERROR,
            )


def solution(course: Course, lab: GradedLab) -> Submission:
    path = course.project.solutions_dir / lab.lab.folder / lab.file
    return Submission(NAME, "", lab.lab, lab.file, path.read_bytes())


def _why(run: Run) -> str:
    if run.broken or not run.compiled:
        return (run.broken or run.compiler_output)[:2000]
    failed = next(case for case in run.cases if case.status is not Status.PASS)
    return f"{failed.case}: {failed.status.value}: {failed.message}"
