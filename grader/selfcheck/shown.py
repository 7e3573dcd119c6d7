# SPDX-License-Identifier: MIT
"""README.md shows what really happens: its blocks of output are compared with this run's.

A block is the fenced one after `<!-- output: NAME -->`. Of the selfcheck's only the sections are
compared, not their counts and seconds, which change with every new test and machine.
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
    checked = _titles("\n".join(report.lines))
    with report.section("README.md shows what happens") as section:
        start = block(readme, "start")
        board = board_of(project, skeletons)
        section.check("README.md: start", board in start, f"its board is not this one:\n{board}")
        missing = set(checked) - set(_titles(block(readme, "selfcheck")))
        reason = "it does not show the sections\n" + "\n".join(sorted(missing))
        section.check("README.md: selfcheck", not missing, reason)


def board_of(project: Project, skeletons: dict[Lab, list[Record]]) -> str:
    """The scoreboard and the next step of a checkout that nobody has edited."""
    lines = [
        LabScore(lab, tuple(as_learner(lab, record) for record in records))
        for lab, records in sorted(skeletons.items(), key=lambda entry: entry[0].folder)
    ]
    return f"{render(lines)}\n\n{next_step(project, lines)}"


def block(text: str, name: str) -> str:
    """The fenced block after the mark of that name; empty when it is not there."""
    found = re.search(rf"<!-- output: {name} -->\n```\w*\n(.*?)\n```", text, re.DOTALL)
    return found.group(1) if found else ""


def as_learner(lab: Lab, record: Record) -> Record:
    """A record of the generated skeleton, as if it had been the learner's file."""
    file, _, line = record.where.rpartition("/")[2].partition(":")
    name = re.sub(r"^solution", "lab", record.test)
    return replace(record, test=name, where=f"labs/{lab.folder}/{file}:{line}" if line else "")


def _titles(text: str) -> list[str]:
    """The titles of the sections in a selfcheck's output."""
    return re.findall(r"^(\S.*\S) +\d+ passed +\d+ s ", text, re.MULTILINE)
