# SPDX-License-Identifier: MIT
"""Checks the blocks of output in README.md and docs/testing.md against this run's.

A block is the fenced one after `<!-- output: NAME -->`. Of the selfcheck's only the titles of the
sections are compared, not counts and seconds, which change with every new test and machine.
"""

import re
from dataclasses import replace

from grader.building.records import Record
from grader.course.project import Lab, Project
from grader.learning.scoreboard import LabScore, next_step, render
from grader.selfcheck.report import Section


def check_shown(
    project: Project, skeletons: dict[Lab, list[Record]], wanted: list[str], section: Section
) -> None:
    """`skeletons`: the results of every skeleton's public tests; `wanted`: the sections' titles."""
    readme = (project.root / "README.md").read_text(encoding="utf-8")
    start = block(readme, "start")
    board = board_of(project, skeletons)
    section.check("README.md: start", ends_in(start, board), f"its board is not this one:\n{board}")
    testing = (project.root / "docs/testing.md").read_text(encoding="utf-8")
    shown = titles(block(testing, "selfcheck"))
    reason = "it shows the sections\n{}\nand there are\n{}".format(*map("\n".join, (shown, wanted)))
    section.check("docs/testing.md: selfcheck", shown == wanted, reason)


def ends_in(shown: str, board: str) -> bool:
    """Whether the board stands at the end; a line "..." stands for some of its lines."""
    _, first, rest = shown.partition(board.partition("\n")[0])
    lines = (first + rest).splitlines()
    pattern = "".join("(?:.*\n)+" if line == "..." else re.escape(line) + "\n" for line in lines)
    return bool(first) and re.fullmatch(pattern, board + "\n") is not None


def board_of(project: Project, skeletons: dict[Lab, list[Record]]) -> str:
    """The scoreboard and the next step of an unedited checkout."""
    lines = [
        LabScore(lab, tuple(as_learner(lab, record) for record in records))
        for lab, records in sorted(skeletons.items(), key=lambda entry: entry[0].folder)
    ]
    return f"{render(lines)}\n\n{next_step(project, lines)}"


def block(text: str, name: str) -> str:
    """The fenced block after the mark of that name; empty if there is none."""
    found = re.search(rf"<!-- output: {name} -->\n```\w*\n(.*?)\n```", text, re.DOTALL)
    return found.group(1) if found else ""


def as_learner(lab: Lab, record: Record) -> Record:
    """A record of the generated skeleton, as if it had been the learner's file."""
    file, _, line = record.where.rpartition("/")[2].partition(":")
    name = re.sub(r"^solution", "lab", record.test)
    return replace(record, test=name, where=f"labs/{lab.folder}/{file}:{line}" if line else "")


def titles(text: str) -> list[str]:
    """The titles of the sections in a selfcheck's output."""
    return re.findall(r"^(\S.*\S) +\d+ passed +\d+ s ", text, re.MULTILINE)
