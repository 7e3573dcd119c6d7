# SPDX-License-Identifier: MIT
"""The files of an output folder: all generated from results.sqlite, each replaced atomically.

results.json           everything, for other programs (docs/results.md)
marks.csv  cases.csv   wide and long
report.html            the class, on one page
feedback/STUDENT.md and .html
leaderboard.html       for the class, without names; leaderboard.csv has them
withheld.json          of whom nothing may be told yet, by lab, and until when
export/FORMAT/STUDENT/ for other systems, export/FORMAT/LAB.csv for gradebooks
jplag/labNN/           for JPlag
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.base.exits import LabError
from grader.course import mutants
from grader.course.project import Project
from grader.export import imports, jplag, write_all
from grader.grade import cells, classreport, feedback, page, sheets, term
from grader.grade.course import GradedLab
from grader.grade.journal import write_whole
from grader.grade.model import Submission
from grader.grade.names import file_name
from grader.leaderboard.board import Board, lines
from grader.leaderboard.page import blocks as leaderboard_blocks

Json = dict[str, Any]
Key = tuple[str, str]  # names of a student and a lab
WITHHELD = "withheld.json"


def write(
    project: Project,
    results: Json,
    out: Path,
    exports: list[str],
    held: Mapping[Key, float],
    named: Mapping[str, str],
    roster: Mapping[str, Mapping[str, str]],
) -> None:
    """Writes all files but results.json itself, which the caller writes afterwards: who finds new
    results finds also what of them is withheld. `held`: withheld feedback, by student and lab, and
    until when. `named`: what students are called on the leaderboard, which is written before."""
    write_whole(out / WITHHELD, json.dumps(_by_lab(results, held), indent=1) + "\n")
    write_whole(out / "marks.csv", sheets.wide(results))
    write_whole(out / "cases.csv", sheets.long(results))
    known = Mistakes(project)
    write_whole(out / "report.html", classreport.webpage(results, known))
    labs = {lab["lab"]: lab for lab in results["labs"]}
    called = sheets.names(results)
    for student, rows in sheets.by_student(results).items():
        wait = {lab: term.shown(held[student, lab]) for lab in rows if (student, lab) in held}
        blocks = feedback.pages(called[student] or student, list(rows.values()), labs, wait)
        if student in named:
            blocks.append(page.Paragraph(f"On the leaderboard you are {named[student]}."))
        name = file_name(student)
        write_whole(out / "feedback" / f"{name}.md", page.markdown(blocks))
        write_whole(out / "feedback" / f"{name}.html", page.webpage("Feedback", blocks))
    write_all(results, exports, out / "export", os.environ)
    imports.write(results, exports, out / "export", roster, held)


def write_leaderboard(board: Board, names: Mapping[str, str], out: Path) -> None:
    blocks = leaderboard_blocks(board, names.__getitem__)
    write_whole(out / "leaderboard.html", page.webpage("Leaderboard", blocks))
    write_whole(out / "leaderboard.csv", cells.table(lines(board, names.__getitem__)))


def _by_lab(results: Json, held: Mapping[Key, float]) -> dict[str, dict[str, float]]:
    """A lab of which nothing is withheld has an entry, too."""
    found: dict[str, dict[str, float]] = {lab["lab"]: {} for lab in results["labs"]}
    for (student, lab), until in held.items():
        found[lab][student] = until
    return found


def write_jplag(
    project: Project, labs: list[GradedLab], submissions: list[Submission], out: Path
) -> None:
    names: dict[str, str] = {}
    for lab in labs:
        mine = [one for one in submissions if one.lab == lab.lab]
        names |= jplag.write(project, lab, mine, out / "jplag")
    text = json.dumps(names, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    write_whole(out / "jplag" / "students.json", text)


class Mistakes:
    """For each case, the known mistakes that make it fail: the mutants that it rejects."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.found: dict[str, dict[str, list[str]]] = {}

    def __call__(self, lab: str, case: str) -> list[str]:
        if lab not in self.found:
            self.found[lab] = self._load(lab)
        return self.found[lab].get(case, [])

    def _load(self, lab: str) -> dict[str, list[str]]:
        try:
            known = mutants.load(self.project, self.project.lab(lab))
        except LabError:
            return {}  # a course without mutants still has marks
        found: dict[str, list[str]] = {}
        for mutant in known:
            found.setdefault(mutant.case, []).append(mutant.why)
        return found
