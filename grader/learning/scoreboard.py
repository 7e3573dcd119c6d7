# SPDX-License-Identifier: MIT
"""The scoreboard: labs by TODOs, points, and the next step to take."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from grader.base.language import say
from grader.base.looks import looks
from grader.base.proc import capture
from grader.building.ctest import Test
from grader.building.records import (
    COLORS,
    SIGNS,
    Record,
    Verdict,
    from_json,
    read_record,
    words,
    worst,
)
from grader.course.grave import CAP, named, ordered
from grader.course.project import Lab, Project
from grader.learning.standing import Standing, edited_since, load


@dataclass(frozen=True)
class LabScore:
    """One line of the scoreboard: every case of a lab, run or not."""

    lab: Lab
    cases: tuple[Record, ...]
    edited: bool = False  # a file of the lab is newer than these marks

    @property
    def todos(self) -> dict[int, Verdict]:
        """The worst verdict of each TODO's cases; key 0 stands for those of the whole lab."""
        numbers = sorted({case.todo for case in self.cases}, key=lambda n: (n == 0, n))
        return {
            number: worst(case.verdict for case in self.cases if case.todo == number)
            for number in numbers
        }

    @property
    def grave(self) -> list[str]:
        """The kinds of grave mistakes that failed cases tell."""
        return ordered(case.grave for case in self.cases if case.verdict is Verdict.FAIL)

    @property
    def points(self) -> int:
        return sum(case.points for case in self.cases if case.verdict is Verdict.PASS)

    @property
    def points_possible(self) -> int:
        return sum(case.points for case in self.cases)


def scores(project: Project, tests: Iterable[Test]) -> list[LabScore]:
    """From the records of the last run; a case without a record was not run."""
    found = list(tests)
    standing = load(project)
    lines = []
    for lab in project.labs():
        mine = [test for test in found if test.name.startswith(f"{lab.name}.")]
        if mine:
            program = mine[0].command[:1]  # ctest lists no cases before a build
            listed = listed_cases(Path(program[0])) if program else []
            known = {f"{lab.name}.{case.case}": case for case in listed}
            cases = tuple(_latest(test, known.get(test.name), standing) for test in mine)
            lines.append(LabScore(lab, cases, edited_since(project, lab, cases)))
    return lines


def listed_cases(verifier: Path) -> list[Record]:
    """The cases of a verifier; none if it was never built."""
    done = capture([verifier, "--list-json"])
    if not done.ok:
        return []
    unknown = {"verdict": Verdict.UNKNOWN.value, "test": ""}
    return [from_json({**entry, **unknown}) for entry in json.loads(done.output)]


def render(lines: list[LabScore]) -> str:
    """The board with a legend of its signs; plain, one sentence per lab. Marks older than an edit
    are dimmed, and words say so."""
    notes = [f"  {say('board.hidden')}"]
    for line in lines:
        if line.grave:
            words_ = {"lab": line.lab.number, "what": named(line.grave), "most": f"{CAP:g}"}
            notes.append(f"  {say('board.grave', **words_)}")
    if any(line.edited for line in lines):
        notes.insert(0, f"  {say('board.old', mark=say('board.edited'))}")
    if looks().plain:
        return "\n".join([*(_sentence(line) for line in lines), "", *notes])
    width = max((2 * len(line.todos) for line in lines), default=0)
    used = {found for line in lines for found in line.todos.values()}
    legend = "   ".join(
        f"{_sign(verdict)} {words(verdict)}" for verdict in SIGNS if verdict in used
    )
    rows = [_row(line, width) for line in lines]
    return "\n".join([*rows, "", f"  {say('board.legend', legend=legend)}", *notes])


def _row(line: LabScore, width: int) -> str:
    sign = SIGNS.__getitem__ if line.edited else _sign
    signs = " ".join(sign(found) for found in line.todos.values())
    pad = " " * (width - 2 * len(line.todos))
    name = say("board.lab", lab=line.lab.number, title=line.lab.title)
    points = say("board.points", points=f"{line.points:>4}", possible=line.points_possible)
    row = f"  {name:<24}{signs}{pad}  {points}"
    return looks().paint(f"{row}  {say('board.edited')}", "2") if line.edited else row


def _sentence(line: LabScore) -> str:
    """ "lab 03  p2p copy: 12 of 86 points. TODO 1 passed, TODO 2 failed, whole lab not run"."""
    name = say("board.lab", lab=line.lab.number, title=line.lab.title)
    points = say("board.points", points=line.points, possible=line.points_possible)
    todos = [
        f"{f'TODO {number}' if number else say('whole-lab')} {words(found)}"
        for number, found in line.todos.items()
    ]
    edited = f", {say('board.edited')}" if line.edited else ""
    return f"  {name}{edited}: {points}. {', '.join(todos)}"


def _sign(verdict: Verdict) -> str:
    return looks().paint(SIGNS[verdict], COLORS[verdict])


def next_step(project: Project, lines: list[LabScore]) -> str:
    """What to do now in the first lab not finished: test what was edited, repair what failed, or
    write what is next."""
    for line in lines:
        if line.edited:
            what = say("next.test", lab=line.lab.number)
            return f"{say('next', what=what)}\n{say('next.check', lab=line.lab.number)}"
        for wanted in (Verdict.HARNESS_ERROR, Verdict.FAIL, Verdict.NOT_WRITTEN, Verdict.UNKNOWN):
            for case in sorted(line.cases, key=lambda case: (case.todo == 0, case.todo)):
                if case.verdict is wanted:
                    return _step(project, line.lab, case)
    if lines:
        return say("next.nothing")
    return say("next.no-labs")


def _latest(test: Test, listed: Record | None, standing: Standing) -> Record:
    """The last run's record; else the one stored before this build; else "not run"."""
    recorded = read_record(test.results) if test.results else None
    recorded = recorded or standing.latest(test.name)
    if recorded:
        return recorded
    case = test.name.split(".", 1)[1]
    return replace(listed, test=test.name) if listed else Record(test.name, case, 0)


def _step(project: Project, lab: Lab, case: Record) -> str:
    number = lab.number
    if case.verdict is Verdict.HARNESS_ERROR:
        return say("next.harness-error", test=case.test, message=case.message)
    what = {
        Verdict.FAIL: say("next.repair", test=case.test),
        Verdict.NOT_WRITTEN: say("next.todo", todo=case.todo, lab=number) if case.todo else "",
        Verdict.UNKNOWN: say("next.not-run", test=case.test),
    }.get(case.verdict, "") or say("next.lab", lab=number)
    lines = [say("next.in", what=what, place=case.where) if case.where else say("next", what=what)]
    if case.verdict is Verdict.FAIL and case.message:
        lines.append(say("next.said", said=case.message.splitlines()[0]))
    lines.append(say("next.read", path=f"labs/{lab.folder}/README.md"))
    lines.append(say("next.check", lab=number))
    if case.todo:
        lines.append(say("next.stuck", lab=number, todo=case.todo))
    return "\n".join(lines)
