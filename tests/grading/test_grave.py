# SPDX-License-Identifier: MIT
"""Grave mistakes cap a lab (docs/grading.md): every wrong answer of tests/mutants and
tests/misconceptions that says `grave` is graded, CI takes a few, and no solution is capped."""

import csv
import unittest
from collections.abc import Iterator
from dataclasses import dataclass

from classroom import FULL, PROJECT, Classroom, solution

from grader.course import misconceptions, mutants
from grader.course.grave import CAP, KINDS

FEW = ("02", "05")  # labs that take least, and have an answer of each kind
BY_LUCK = "shared_cleared_too_early"  # a race with which every result is right


@dataclass(frozen=True)
class Answer:
    lab: str
    name: str
    kind: str
    text: str

    @property
    def student(self) -> str:
        return f"{self.name}-{self.lab}"  # "03-..." would be a lab


def answers() -> Iterator[Answer]:
    for lab in PROJECT.labs():
        for one in (*mutants.load(PROJECT, lab), *misconceptions.load(PROJECT, lab)):
            if one.grave:
                right = solution(lab.number)
                assert right.count(one.find) == 1, one.name
                wrong = right.replace(one.find, one.replace)
                yield Answer(lab.number, one.name, one.grave, wrong)


class Grave(Classroom):
    def test_every_kind_is_known(self) -> None:
        self.assertEqual({one.kind for one in answers()}, set(KINDS))

    def test_answers_are_capped_and_solutions_are_not(self) -> None:
        chosen = list(answers())
        if not FULL:
            first = {one.kind: one for one in reversed(chosen) if one.lab in FEW}
            first["race"] = next(one for one in chosen if one.name == BY_LUCK)
            chosen = list(first.values())
        for one in chosen:
            self.hand_in(one.student, one.lab, one.text)
        labs = [lab.number for lab in PROJECT.labs()] if FULL else ["02"]
        for lab in labs:
            self.hand_in(f"right-{lab}", lab, solution(lab))
        self.grade(self.folder / "class")
        rows = self.rows()
        for lab in labs:
            right = rows[f"right-{lab}"]
            self.assertEqual((right["mark"], right["grave"]), (100, None), lab)
        self.judge(chosen, rows)
        self.seen_by_a_finding(rows[f"{BY_LUCK}-04"])
        self.without_a_cap(chosen)

    def judge(self, chosen: list[Answer], rows: dict[str, dict]) -> None:
        """An answer that loses more than 15 points by its tests may lose them before anything grave
        is seen. A race may be seen by the bytes that it loses."""
        wrong = []
        for one in chosen:
            row = rows[one.student]
            kinds = row["grave"]["kinds"] if row["grave"] else []
            fits = one.kind in kinds or (one.kind == "race" and "lost data" in kinds)
            fits = fits or row["points"] <= CAP
            print(f"{one.student}: {one.kind}, {kinds}, {row['points']} -> {row['mark']}")
            if not fits or row["mark"] > CAP:
                failed = [
                    f"  {case['case']}: {case['status']}, {case['grave'] or '-'}: {case['message']}"
                    for case in row["cases"]
                    if case["status"] not in ("pass", "not run")
                ]
                wrong += [f"{one.student}: {one.kind}, {kinds}, {row['mark']}", *failed]
        self.assertEqual(wrong, [], "\n".join(wrong))

    def seen_by_a_finding(self, row: dict) -> None:
        """Nothing but the node's finding can tell this race."""
        (case,) = (case for case in row["cases"] if case["status"] == "fail")
        self.assertEqual((case["case"], case["grave"]), ("shared", "race"))
        self.assertRegex(case["message"], r"by luck.* kernels\.(shared|warp)-race")

    def without_a_cap(self, chosen: list[Answer]) -> None:
        """Marks are what the tests are worth, no test runs again, and both runs say why."""
        said = self.grade(self.folder / "class", "--grave-cap", "100", "--preview")
        self.assertIn("0 to grade", said)
        with (self.folder / "out" / "preview.csv").open(encoding="utf-8") as lines:
            changed = {line["student"]: line for line in csv.DictReader(lines)}
        for one in chosen:
            row = self.rows()[one.student]
            if row["grave"] and row["grave"]["points"]:
                self.assertEqual(float(changed[one.student]["after"]), row["points"])
                self.assertIn("its cap is off", changed[one.student]["why"])
                (page,) = (self.folder / "out" / "feedback").glob(f"{one.student}*.md")
                self.assertIn("gets at most 85 of 100 points", page.read_text())


if __name__ == "__main__":
    unittest.main()
