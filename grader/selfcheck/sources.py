# SPDX-License-Identifier: MIT
"""Checks that need no build: labs/ has what solutions/ generate and nothing else of them, and every
TODO is taught."""

import re

from grader.base.exits import LabError
from grader.course.committed import committed_files
from grader.course.mutants import Mutant, load, mutate, student_files
from grader.course.project import Lab, Project
from grader.course.readme import Task, tasks
from grader.course.sync import (
    MANIFEST,
    digest,
    generate_all,
    is_given,
    is_secret,
    manifest_text,
    read_manifest,
)
from grader.selfcheck.report import Section

HINTS_A_TASK = 3
MUTANTS_A_LAB = 8
_TODO = re.compile(r"\bTODO\((\d+)\)")


def check_generated(project: Project, section: Section) -> None:
    """Of the committed labs/, what solutions/ generate is as generated, and nothing else has an
    answer or a hidden test. A learner's edits are not read."""
    wanted = generate_all(project)
    committed = committed_files(project.root, "labs")
    if committed is None:  # without git, compares the committed list of hashes instead
        hashes = read_manifest(project)
        have = {path: hashes.get(path) == digest(wanted[path]) for path in wanted}
    else:
        given = {
            path: text for path, text in committed.items() if path not in wanted and "/" in path
        }
        for path, text in sorted(given.items()):
            handed_out = is_given(path) and not is_secret(path, text)
            section.check(f"labs/{path}", handed_out, "committed, but not for learners")
        listed = {
            path: digest(text)
            for path, text in (given | wanted).items()
            if path in wanted or is_given(path)
        }
        wanted[MANIFEST] = manifest_text(listed).encode()
        have = {path: committed.get(path) == wanted[path] for path in wanted}
    for path, same in sorted(have.items()):
        section.check(f"labs/{path}", same, "not as generated: ./lab sync, then commit labs/")


def check_taught(project: Project, labs: list[Lab], section: Section) -> None:
    """Every TODO has its task in the README, and every task three hints."""
    for lab in labs:
        readme = project.labs_dir / lab.folder / "README.md"
        found = tasks(readme.read_text(encoding="utf-8")) if readme.is_file() else []
        numbers = todo_numbers(project, lab)
        section.check(f"{lab.folder}: TODOs", bool(numbers), "no TODO(n) in its student files")
        for number in sorted(numbers | {task.number for task in found}):
            _check_task(section, lab, number, number in numbers, found)


def check_mutants_fit(project: Project, labs: list[Lab], section: Section) -> None:
    """Every lab has its mutants, and each still fits the solution it changes."""
    for lab in labs:
        try:
            mutants = load(project, lab)
        except LabError as error:
            section.check(f"{lab.name} mutants", False, str(error))
            continue
        enough = len(mutants) >= MUTANTS_A_LAB
        section.check(
            f"{lab.name} mutants",
            enough,
            f"{len(mutants)} mutants, expected at least {MUTANTS_A_LAB}",
        )
        for mutant in mutants:
            try:
                mutated_source(project, lab, mutant)
                section.check(f"{lab.name} {mutant.name}", True)
            except LabError as error:
                section.check(f"{lab.name} {mutant.name}", False, str(error))


def todo_numbers(project: Project, lab: Lab) -> set[int]:
    """The TODOs of a lab: numbers in its student files, taken from the solution."""
    files = student_files(project.solutions_dir / lab.folder)
    return {
        int(number) for path in files for number in _TODO.findall(path.read_text(encoding="utf-8"))
    }


def mutated_source(project: Project, lab: Lab, mutant: Mutant) -> tuple[str, str]:
    """The name of the file that a mutant changes, and its text with the mistake in it."""
    files = student_files(project.solutions_dir / lab.folder)
    if mutant.file:
        files = [path for path in files if path.name == mutant.file]
    if len(files) != 1:
        names = ", ".join(path.name for path in student_files(project.solutions_dir / lab.folder))
        raise LabError(f"mutant {mutant.name}: its `file` must be one of {names}")
    return files[0].name, mutate(mutant, files[0].read_text(encoding="utf-8"), files[0].name)


def _check_task(
    section: Section, lab: Lab, number: int, in_source: bool, found: list[Task]
) -> None:
    name = f"{lab.folder}: TODO({number})"
    matching = [task for task in found if task.number == number]
    if not in_source:
        section.check(name, False, f"README task {number} has no TODO({number}) in the skeleton")
    elif len(matching) != 1:
        section.check(name, False, f"{len(matching)} README tasks with this number, expected one")
    else:
        hints = len(matching[0].hints)
        section.check(name, hints == HINTS_A_TASK, f"{hints} hints, expected {HINTS_A_TASK}")
