# SPDX-License-Identifier: MIT
"""Checks that need no build: labs/ is what solutions/ generate, and every TODO is taught."""

import re

from grader.committed import committed_files
from grader.exits import LabError
from grader.mutants import Mutant, load, mutate, student_files
from grader.project import Lab, Project
from grader.readme import Task, tasks
from grader.selfcheck.report import Report, Section
from grader.sync import MANIFEST, digest, generate_all, manifest_text, read_manifest

HINTS_A_TASK = 3
MUTANTS_A_LAB = 8
_TODO = re.compile(r"\bTODO\((\d+)\)")


def check_generated(project: Project, report: Report) -> None:
    """The committed labs/ equals what solutions/ generate. A learner's files are not looked at."""
    with report.section("labs/ as committed is what solutions/ generate") as section:
        wanted = generate_all(project)
        committed = committed_files(project.root, "labs")
        if committed is None:  # no git here: the committed list of hashes has to do
            hashes = read_manifest(project)
            have = {path: hashes.get(path) == digest(wanted[path]) for path in wanted}
        else:
            manifest = manifest_text({path: digest(wanted[path]) for path in wanted})
            wanted[MANIFEST] = manifest.encode()
            have = {path: committed.get(path) == wanted[path] for path in wanted}
            for path in sorted(set(committed) - set(wanted)):
                if "/" in path:
                    section.check(f"labs/{path}", False, "committed, but nothing generates it")
        for path, same in sorted(have.items()):
            section.check(f"labs/{path}", same, "not as generated: ./lab sync, then commit labs/")


def check_taught(project: Project, labs: list[Lab], report: Report) -> None:
    """Every TODO has its task in the README, and every task three hints."""
    with report.section("every TODO has a README task and three hints") as section:
        for lab in labs:
            folder = project.solutions_dir / lab.folder
            readme = folder / "README.md"
            found = tasks(readme.read_text(encoding="utf-8")) if readme.is_file() else []
            numbers = todo_numbers(project, lab)
            section.check(f"{lab.folder}: TODOs", bool(numbers), "no TODO(n) in its student files")
            for number in sorted(numbers | {task.number for task in found}):
                _check_task(section, lab, number, number in numbers, found)


def check_mutants_fit(project: Project, labs: list[Lab], report: Report) -> None:
    """Every lab has its mutants, and each still fits the solution it changes."""
    with report.section("mutants fit their solutions") as section:
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
