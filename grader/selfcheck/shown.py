# SPDX-License-Identifier: MIT
"""README.md shows what really happens: its blocks of output are compared with this run's.

A block is the fenced one after `<!-- output: NAME -->`. Numbers that differ from one machine to
the next, or with every new test, are not compared: only that there are numbers.
"""

import re
from dataclasses import replace

from grader.project import Lab, Project
from grader.records import Record
from grader.scoreboard import LabScore, next_step, render
from grader.selfcheck.report import Report


def check_shown(project: Project, skeletons: dict[Lab, list[Record]], report: Report) -> None:
    """`skeletons`: how the public tests of every skeleton ended."""
    readme = (project.root / "README.md").read_text(encoding="utf-8")
    checked = _without_numbers("\n".join(report.lines))
    with report.section("README.md shows what happens") as section:
        start = block(readme, "start")
        board = board_of(project, skeletons)
        section.check("README.md: start", board in start, f"its board is not this one:\n{board}")
        shown = _without_numbers(block(readme, "selfcheck"))
        reason = f"it does not show these sections:\n{checked}"
        section.check("README.md: selfcheck", checked in shown, reason)


def board_of(project: Project, skeletons: dict[Lab, list[Record]]) -> str:
    """The scoreboard and the next step of a checkout that nobody has edited."""
    lines = [
        LabScore(lab, tuple(_as_learner(lab, record) for record in records))
        for lab, records in sorted(skeletons.items(), key=lambda entry: entry[0].folder)
    ]
    return f"{render(lines)}\n\n{next_step(project, lines)}"


def block(text: str, name: str) -> str:
    """The fenced block after the mark of that name; empty when it is not there."""
    found = re.search(rf"<!-- output: {name} -->\n```\w*\n(.*?)\n```", text, re.DOTALL)
    return found.group(1) if found else ""


def _as_learner(lab: Lab, record: Record) -> Record:
    """A record of the generated skeleton, as if it had been the learner's file."""
    file, _, line = record.where.rpartition("/")[2].partition(":")
    name = re.sub(r"^solution", "lab", record.test)
    return replace(record, test=name, where=f"labs/{lab.folder}/{file}:{line}" if line else "")


def _without_numbers(text: str) -> str:
    return re.sub(r" *\d+", " N", text)
