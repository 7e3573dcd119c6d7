# SPDX-License-Identifier: MIT
"""`./lab list`: every lab with its level, its length in lines, and the learner's progress. It needs
no build: tasks are read from the labs, progress from grader.learning.standing.

`./lab status` is the other board: every TODO by its sign, as of the last run, and the next step.
"""

import json
import re
from dataclasses import dataclass

from grader.base.language import say
from grader.base.looks import looks
from grader.building.records import Verdict, worst
from grader.course.project import Lab, Project
from grader.learning.standing import Standing, edited_since

_HEAD = re.compile(r"\*\*(Level|You write)\*\* ([^·\n]+)")
_BAR = 10


@dataclass(frozen=True)
class Entry:
    lab: Lab
    level: str
    lines: str
    todos: dict[int, Verdict]  # the worst of its public tests; TODO 0 is the whole lab
    points: int
    points_possible: int
    edited: bool  # after these marks

    @property
    def passed(self) -> int:
        return sum(verdict is Verdict.PASS for verdict in self.todos.values())


def entries(project: Project, standing: Standing) -> list[Entry]:
    return [_entry(project, lab, standing) for lab in project.labs()]


def render(found: list[Entry]) -> str:
    rows = [_row(entry) for entry in found]
    points = sum(entry.points for entry in found)
    possible = sum(entry.points_possible for entry in found)
    return "\n".join([*rows, say("list.total", points=points, possible=possible)])


def _entry(project: Project, lab: Lab, standing: Standing) -> Entry:
    folder = project.solutions_dir / lab.folder
    head = _read(project, lab)
    verdicts: dict[int, list[Verdict]] = {}
    records = []
    points = possible = 0
    for case in json.loads((folder / "tests" / "rubric.json").read_text(encoding="utf-8"))["cases"]:
        if case["case"].startswith("hidden."):
            continue
        record = standing.latest(f"{lab.name}.{case['case']}")
        records += [record] if record else []
        verdict = record.verdict if record else Verdict.UNKNOWN
        verdicts.setdefault(int(case["todo"]), []).append(verdict)
        possible += int(case["points"])
        points += int(case["points"]) if verdict is Verdict.PASS else 0
    todos = {number: worst(verdicts[number]) for number in verdicts}
    edited = edited_since(project, lab, records)
    level, lines = head.get("Level", ""), head.get("You write", "")
    return Entry(lab, level, lines, todos, points, possible, edited)


def _read(project: Project, lab: Lab) -> dict[str, str]:
    """The README's line under the title: Level, You write."""
    text = (project.labs_dir / lab.folder / "README.md").read_text(encoding="utf-8")
    return {name: value.strip() for name, value in _HEAD.findall(text)}


def _row(entry: Entry) -> str:
    values = {
        "lab": entry.lab.number,
        "title": entry.lab.title,
        "passed": entry.passed,
        "tasks": len(entry.todos),
        "points": entry.points,
        "possible": entry.points_possible,
        "level": entry.level,
        "lines": entry.lines,
        "edited": f", {say('board.edited')}" if entry.edited else "",
    }
    if looks().plain:
        return say("list.row-plain", **values)
    full = round(_BAR * entry.passed / max(1, len(entry.todos)))
    bar = looks().paint("●" * full, "2" if entry.edited else "32") + "○" * (_BAR - full)
    return say("list.row", bar=bar, **values)
