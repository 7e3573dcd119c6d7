# SPDX-License-Identifier: MIT
"""Checks each misconception: which test catches it, whether its message names it, and whether it
needs an order of events that real GPUs show only now and then.

The answers are kept as data, tests/misconceptions/report.csv, and docs/misconceptions.md has them
by lab. The selfcheck repeats a sample, or with --full all of them. tests/misconceptions/report.py
writes both anew.
"""

import csv
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path

from grader.base.exits import LabError
from grader.building.ctest import Test
from grader.building.records import Record, Verdict
from grader.building.variants import Variant
from grader.course.misconceptions import Misconception, load
from grader.course.mutants import student_files
from grader.course.project import Lab, Project
from grader.selfcheck.programs import Found, Programs
from grader.selfcheck.report import Section

SEEDS = range(1, 5)  # of VGPU_SCHEDULE, for mistakes that a case's default run does not catch
EVERY = 14  # CI checks one in this many
ANOTHER_ORDER = (
    "in another order of what nothing orders"  # begins a message in harness/verifier/orders.c
)
MISSED = ""


@dataclass(frozen=True)
class Row:
    """The result of one: `test` is a case of its TODO or of the whole lab, "" if none caught it;
    `order` is "usual", "another" if only another order of unordered events shows it, or "seed N" if
    only that order does."""

    lab: str
    todo: str
    name: str
    test: str = MISSED
    order: str = ""
    named: str = "no"


@dataclass(frozen=True)
class Judged:
    row: Row
    message: str


def judge(project: Project, lab: Lab, one: Misconception, tests: list[Test], at: Path) -> Judged:
    """Builds the program and runs the cases of its TODO, the public ones first, and those of the
    whole lab, until one names it. LabError: it does not apply or does not compile."""
    variant = _variant(project, lab, one, at)
    runner = variant.build_whole()
    prefix = f"solution{lab.number}."
    cases = _cases([test for test in tests if test.name.startswith(prefix)], one.todo)
    first: Judged | None = None
    for order, record in _failures(variant, runner, cases):
        told = "\n".join((record.message, record.explained, record.said, record.why))
        named = "yes" if one.is_named(told) else "no"
        row = Row(lab.name, str(one.todo), one.name, record.test.removeprefix(prefix), order, named)
        if named == "yes":
            return Judged(row, told)
        first = first or Judged(row, told)
    return first or Judged(Row(lab.name, str(one.todo), one.name), "no test failed")


def _failures(variant: Variant, runner: Path, cases: list[Test]) -> Iterator[tuple[str, Record]]:
    """Failing cases in their default run, which includes one other order; only if there are none,
    those of more orders."""
    any_failed = False
    for test in cases:
        record = variant.run(test, runner)
        if record.verdict is Verdict.FAIL:
            any_failed = True
            yield "another" if record.message.startswith(ANOTHER_ORDER) else "usual", record
    for seed in SEEDS:
        for test in [] if any_failed else cases:
            record = variant.run(test, runner, {"VGPU_SCHEDULE": str(seed)})
            if record.verdict is Verdict.FAIL:
                any_failed = True
                yield f"seed {seed}", record


def _variant(project: Project, lab: Lab, one: Misconception, at: Path) -> Variant:
    (path,) = student_files(project.solutions_dir / lab.folder)
    text = path.read_text(encoding="utf-8")
    if text.count(one.find) != 1:
        raise LabError(f"{one.name}: its `find` does not stand once in {path.name}")
    folder = at / lab.folder / one.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    variant = Variant(project, lab, folder / path.name)
    variant.source.write_text(text.replace(one.find, one.replace), encoding="utf-8")
    return variant


def _cases(tests: list[Test], todo: int) -> list[Test]:
    """Those of the TODO, and then those of the whole lab."""
    own = [test for test in tests if f"todo{todo}" in test.labels]
    return own + [test for test in tests if "todo0" in test.labels]


def report_path(project: Project) -> Path:
    return project.root / "tests" / "misconceptions" / "report.csv"


def read(project: Project) -> list[Row]:
    path = report_path(project)
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def write(project: Project, rows: Iterable[Row]) -> None:
    with report_path(project).open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(row) for row in rows)


def table(rows: list[Row]) -> str:
    """By lab: how many there are, are caught, are named, and need another order."""
    lines = [
        "| lab | misconceptions | caught | named | caught only in another order |",
        "|---|--:|--:|--:|--:|",
    ]
    labs = sorted({row.lab for row in rows})
    groups = [(lab[3:], [row for row in rows if row.lab == lab]) for lab in labs]
    for name, some in [*groups, ("all", rows)]:
        caught = [row for row in some if row.test != MISSED]
        named = sum(row.named == "yes" for row in caught)
        other = sum(row.order != "usual" for row in caught)
        lines.append(f"| {name} | {len(some)} | {len(caught)} | {named} | {other} |")
    return "\n".join(lines) + "\n"


def missed(project: Project, rows: list[Row]) -> str:
    """Those that no case catches, with the reason."""
    lacking = {(row.lab, row.name) for row in rows if row.test == MISSED}
    lines = [
        f"- lab {lab.number}, task {one.todo}, *{one.belief}*: {one.open}"
        for lab in project.labs()
        for one in load(project, lab)
        if (lab.name, one.name) in lacking
    ]
    return "\n".join(lines or ["None."]) + "\n"


def written_page(project: Project, rows: list[Row], text: str) -> str:
    """The page with the table and the list of these rows between its marks."""
    for mark, inside in (("misconceptions", table(rows)), ("missed", missed(project, rows))):
        before, _, rest = text.partition(f"<!-- {mark} -->\n")
        _, end, after = rest.partition(f"<!-- /{mark} -->")
        text = f"{before}<!-- {mark} -->\n{inside}{end}{after}"
    return text


def page_path(project: Project) -> Path:
    return project.root / "docs" / "misconceptions.md"


def check_sample(programs: Programs, section: Section, labs: list[Lab]) -> None:
    """Compares a sample with the stored report."""
    _check(programs, section, labs, EVERY)


def check_all_of_them(programs: Programs, section: Section, labs: list[Lab]) -> None:
    _check(programs, section, labs, 1)


def _check(programs: Programs, section: Section, labs: list[Lab], every: int) -> None:
    project = programs.project
    want = {(row.lab, row.name): row for row in read(project)}
    everyone = [
        (lab, one) for lab in labs for one in load(project, lab) if (lab.name, one.name) in want
    ]
    at = programs.scratch / "misconceptions"
    again = partial(_again, project, programs.tests, at, want)
    programs.check_all(section, [partial(again, lab, one) for lab, one in everyone[::every]])


def _again(
    project: Project,
    tests: list[Test],
    at: Path,
    want: dict[tuple[str, str], Row],
    lab: Lab,
    one: Misconception,
) -> list[Found]:
    name = f"{lab.name} misconception {one.name}"
    try:
        judged = judge(project, lab, one, tests, at)
    except LabError as error:
        return [(name, False, str(error))]
    kept = want.get((lab.name, one.name))
    reason = f"{judged.row}, in the report {kept}\n{judged.message}"
    return [(name, kept is not None and alike(judged.row, kept), reason)]


def alike(now: Row, kept: Row) -> bool:
    """A run includes the default order and one other. Where several processes race, either may fail
    first."""
    either = ("usual", "another")
    if now.order in either and kept.order in either:
        now = replace(now, order=kept.order)
    return now == kept
