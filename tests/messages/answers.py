# SPDX-License-Identifier: MIT
"""The wrong answers of tests/mutants and tests/misconceptions, and what a learner reads of each."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.base.exits import LabError
from grader.building.ctest import Test
from grader.building.variants import Variant, with_option
from grader.course import misconceptions, mutants
from grader.course.project import Lab, Project
from grader.selfcheck.misconceptions import read

SECONDS = 240.0  # of one test: the verifier ends a program that waits within seconds of its own
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


def waiting(folder: Path) -> str:
    """The processes with a program or a file of this folder, what each is and who started it."""
    lines = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            words = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            facts = dict(re.findall(r"^(State|PPid):\s*(.*)$", status.read_text(), re.MULTILINE))
        except OSError:  # it has ended meanwhile
            continue
        if str(folder) in words:
            lines.append(f"{status.parent.name}, {facts['State']}, of {facts['PPid']}: {words}")
    return "\n".join(lines) or "nothing of it runs any more"


def told(project: Project, answer: Answer, tests: dict[str, Test], at: Path) -> Told:
    """Builds it and runs its test, which gets its file, so that `where` is a line of it. LabError:
    it does not compile, or its test has no end; then the programs that still run are named."""
    folder = at / answer.lab.folder / answer.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variant = Variant(project, answer.lab, folder / answer.file.name)
    variant.source.write_text(answer.text, encoding="utf-8")
    test = tests[f"solution{answer.lab.number}.{answer.case}"]
    words = with_option(test.command, "--source", str(variant.source))
    done = variant.run(replace(test, command=words), variant.build_whole(), seconds=SECONDS)
    record = folder / "results" / f"{test.name}.json"
    if not record.is_file():
        raise LabError(f"{test.name} left no record: {done.message}\n{waiting(folder)}")
    found = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    shutil.rmtree(folder)
    return found
