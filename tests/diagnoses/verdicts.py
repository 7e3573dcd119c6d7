# SPDX-License-Identifier: MIT
"""How a test of a lab may end, besides passing, and the programs that the pages about it show: each
is TODO(1) of lab 01, put into the skeleton, built and judged as a mutant is."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from grader.base.exits import LabError
from grader.building import ctest
from grader.building.records import Record, Verdict
from grader.building.variants import Variant
from grader.course.project import Project
from grader.course.sync import generate

LAB, FILE = "01", "enumerate.c"
STUB = re.compile(r"^int inv_count\(int \*n\)\n\{.*?^\}\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Ending:
    """How the page's program ends: the verdict and a piece of its message."""

    verdict: Verdict
    message: str


VERDICTS: dict[str, Ending | None] = {  # None: no program of a student's can get it
    "fail": Ending(Verdict.FAIL, "gave 5 GPUs, this machine has 4"),
    "crash": Ending(Verdict.FAIL, "was ended by signal 11"),
    "timeout": Ending(Verdict.FAIL, "your program hung"),
    "exit": Ending(Verdict.FAIL, "was ended by exit(1)"),
    "output": Ending(Verdict.FAIL, "printed more than"),
    "not-written": Ending(Verdict.NOT_WRITTEN, "TODO(1)"),
    "does-not-compile": Ending(Verdict.UNKNOWN, "error: expected"),
    "cannot-run": None,
    "harness-error": None,
}


def judge(project: Project, folder: Path, name: str, function: str) -> Record:
    """What lab01.count says of the skeleton with this function in it. A file that does not compile
    is a record of UNKNOWN with what the compiler said."""
    lab = project.lab(LAB)
    place = folder / f"{name}-v"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    skeleton = generate(project, lab)[f"{lab.folder}/{FILE}"].decode("utf-8")
    includes = "".join(re.findall(r"^#include .*\n", function, re.MULTILINE))
    text, times = STUB.subn(lambda _: function, skeleton)
    assert times == 1, "the skeleton of inv_count is not found"
    source = place / FILE
    source.write_text(includes + text, encoding="utf-8")
    variant = Variant(project, lab, source)
    test = next(t for t in ctest.tests(project, r"^solution01\.count$"))
    try:
        return variant.run(test, variant.build_parts([1]))
    except LabError as error:
        return Record(test.name, "count", 1, verdict=Verdict.UNKNOWN, message=str(error))


def problem(project: Project, folder: Path, code: str, wrong: str, mended: str) -> str:
    """What is not as the page says, "" where all is."""
    ending = VERDICTS[code]
    if ending is None:
        return "its page must show no program" if wrong or mended else ""
    found = judge(project, folder, code, wrong)
    if found.verdict is not ending.verdict or ending.message not in found.message:
        return f"the program ends as {found.verdict.value}: {found.message}"
    found = judge(project, folder, f"{code}-mended", mended)
    if found.verdict is not Verdict.PASS:
        return f"mended: {found.verdict.value} {found.message}"
    return ""
