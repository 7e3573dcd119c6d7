# SPDX-License-Identifier: MIT
"""The wrong answers of tests/mutants and tests/misconceptions, and what a learner reads of each."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.building.ctest import Test
from grader.building.variants import Variant
from grader.course import misconceptions, mutants
from grader.course.project import Lab, Project
from grader.selfcheck.misconceptions import read

Told = dict[str, Any]  # a record as harness/verifier/record.c writes it


@dataclass(frozen=True)
class Answer:
    lab: Lab
    name: str
    file: Path  # of the solution, which it takes the place of
    text: str
    case: str  # the test that rejects it: "split", "hidden.split"

    @property
    def label(self) -> str:
        return f"{self.lab.name}.{self.name}"


def answers(project: Project) -> Iterator[Answer]:
    """All of them that a test rejects, in the order of the files."""
    caught = {(row.lab, row.name): row.test for row in read(project)}
    for lab in project.labs():
        (file,) = mutants.student_files(project.solutions_dir / lab.folder)
        text = file.read_text(encoding="utf-8")
        for one in mutants.load(project, lab):
            yield Answer(lab, one.name, file, mutants.mutate(one, text, file.name), one.case)
        for belief in misconceptions.load(project, lab):
            case = caught.get((lab.name, belief.name), "")
            if case:
                wrong = text.replace(belief.find, belief.replace)
                yield Answer(lab, belief.name, file, wrong, case)


def told(project: Project, answer: Answer, tests: dict[str, Test], at: Path) -> Told:
    """Builds it and runs its test. LabError: it does not compile."""
    folder = at / answer.lab.folder / answer.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variant = Variant(project, answer.lab, folder / answer.file.name)
    variant.source.write_text(answer.text, encoding="utf-8")
    test = tests[f"solution{answer.lab.number}.{answer.case}"]
    variant.run(test, variant.build_whole())
    record = folder / "results" / f"{test.name}.json"
    found = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    shutil.rmtree(folder)
    return found
