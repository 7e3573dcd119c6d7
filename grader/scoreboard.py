# SPDX-License-Identifier: MIT
"""The scoreboard: labs by TODOs, points, and the next step to take."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from grader.ctest import Test
from grader.proc import capture
from grader.project import Lab, Project
from grader.records import SIGNS, Record, Verdict, from_json, read_record, worst


@dataclass(frozen=True)
class LabScore:
    """One line of the scoreboard: every case of a lab, run or not."""

    lab: Lab
    cases: tuple[Record, ...]

    @property
    def todos(self) -> dict[int, Verdict]:
        """The worst verdict of each TODO's cases; 0 stands for those of the whole lab."""
        numbers = sorted({case.todo for case in self.cases}, key=lambda n: (n == 0, n))
        return {
            number: worst(case.verdict for case in self.cases if case.todo == number)
            for number in numbers
        }

    @property
    def points(self) -> int:
        return sum(case.points for case in self.cases if case.verdict is Verdict.PASS)

    @property
    def points_possible(self) -> int:
        return sum(case.points for case in self.cases)


def scores(project: Project, tests: Iterable[Test]) -> list[LabScore]:
    """From the records of the last run; a case without a record was not run."""
    found = list(tests)
    lines = []
    for lab in project.labs():
        mine = [test for test in found if test.name.startswith(f"{lab.name}.")]
        if mine:
            known = {
                f"{lab.name}.{case.case}": case for case in listed_cases(Path(mine[0].command[0]))
            }
            lines.append(LabScore(lab, tuple(_latest(test, known.get(test.name)) for test in mine)))
    return lines


def listed_cases(verifier: Path) -> list[Record]:
    """The cases a verifier has; none when it was never built."""
    done = capture([verifier, "--list-json"])
    if not done.ok:
        return []
    unknown = {"verdict": Verdict.UNKNOWN.value, "test": ""}
    return [from_json({**entry, **unknown}) for entry in json.loads(done.output)]


def render(lines: list[LabScore], *, color: bool = False) -> str:
    """The board with a legend of the signs on it."""
    width = max((2 * len(line.todos) for line in lines), default=0)
    rows = []
    for line in lines:
        signs = " ".join(_paint(SIGNS[found][0], found, color) for found in line.todos.values())
        pad = " " * (width - 2 * len(line.todos))
        name = f"lab {line.lab.number}  {line.lab.title}"
        rows.append(f"  {name:<24}{signs}{pad}  {line.points:>4} of {line.points_possible} points")
    used = {found for line in lines for found in line.todos.values()}
    legend = "   ".join(
        f"{_paint(sign, verdict, color)} {words}"
        for verdict, (sign, words) in SIGNS.items()
        if verdict in used
    )
    hidden = "The points missing to 100 belong to hidden tests, which a grader runs."
    return "\n".join(
        [*rows, "", f"  one sign a TODO, the last for the whole lab: {legend}", f"  {hidden}"]
    )


def next_step(project: Project, lines: list[LabScore]) -> str:
    """What to do now in the first lab not finished: repair what failed, or write what is next."""
    for line in lines:
        for wanted in (Verdict.HARNESS_ERROR, Verdict.FAIL, Verdict.NOT_WRITTEN, Verdict.UNKNOWN):
            for case in sorted(line.cases, key=lambda case: (case.todo == 0, case.todo)):
                if case.verdict is wanted:
                    return _step(project, line.lab, case)
    if lines:
        return "Next: nothing is left to write here. Every lab passes."
    return "Next: there are no labs in this build. Run ./lab start."


def stale(project: Project, line: LabScore) -> bool:
    """Says whether a file of the lab was edited after its tests ran."""
    folder = project.labs_dir / line.lab.folder
    times = [path.stat().st_mtime for path in folder.glob("*.*") if ".bak" not in path.suffix]
    runs = [case.written for case in line.cases if case.written]
    return bool(times and runs) and max(times) > min(runs)


def _latest(test: Test, listed: Record | None) -> Record:
    recorded = read_record(test.results) if test.results else None
    if recorded:
        return recorded
    case = test.name.split(".", 1)[1]
    return replace(listed, test=test.name) if listed else Record(test.name, case, 0)


def _step(project: Project, lab: Lab, case: Record) -> str:
    number = lab.number
    if case.verdict is Verdict.HARNESS_ERROR:
        return f"Next: {case.test} could not judge: {case.message}\n      run    ./lab selfcheck"
    what = {
        Verdict.FAIL: f"repair {case.test}",
        Verdict.NOT_WRITTEN: f"write TODO({case.todo}) of lab {number}" if case.todo else "",
        Verdict.UNKNOWN: f"run {case.test}: it has not been run",
    }.get(case.verdict, "")
    place = f" in {case.where}" if case.where else ""
    lines = [f"Next: {what or f'write lab {number}'}{place}"]
    if case.verdict is Verdict.FAIL and case.message:
        lines.append(f"      said   {case.message.splitlines()[0]}")
    lines.append(f"      read   labs/{lab.folder}/README.md")
    lines.append(f"      check  ./lab test {number}")
    if case.todo:
        lines.append(f"      stuck  ./lab hint {number} {case.todo}")
    return "\n".join(lines)


def _paint(text: str, verdict: Verdict, color: bool) -> str:
    codes = {
        Verdict.PASS: "32",
        Verdict.FAIL: "31",
        Verdict.NOT_WRITTEN: "33",
        Verdict.CANNOT_RUN: "36",
        Verdict.HARNESS_ERROR: "35",
    }
    code = codes.get(verdict)
    return f"\033[{code}m{text}\033[0m" if color and code else text
