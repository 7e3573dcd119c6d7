# SPDX-License-Identifier: MIT
"""Every sentence of each lab's contract has a test that looks at it, and an answer that breaks it
and that this test rejects; and every test of a task looks at some sentence.

That the mutants and misconceptions named here are rejected by their cases is what the selfcheck
proves.
"""

import csv
import dataclasses
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.course import contract, mutants
from grader.course.contract import Row
from grader.course.project import Lab, here

PROJECT = here()
LABS = [lab for lab in PROJECT.labs() if contract.path(PROJECT, lab).is_file()]


def cases(lab: Lab) -> dict[str, int]:
    """Each case's TODO."""
    path = PROJECT.solutions_dir / lab.folder / "tests" / "rubric.json"
    found = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["case"]: int(case["todo"]) for case in found}


def rejected(lab: Lab) -> dict[str, set[str]]:
    """The cases that reject each mutant and misconception."""
    found: dict[str, set[str]] = {}
    for mutant in mutants.load(PROJECT, lab):
        found.setdefault(mutant.name, set()).add(mutant.case)
    with (PROJECT.root / "tests/misconceptions/report.csv").open(encoding="utf-8") as report:
        for row in csv.DictReader(report):
            if row["lab"] == lab.name:
                found.setdefault(row["name"], set()).add(row["test"])
    return found


def wrong(
    rows: list[Row], sentences: list[Row], todos: dict[str, int], by: dict[str, set[str]]
) -> list[str]:
    """What does not fit: `todos` of the lab's cases, `by` the case that rejects each mutant."""
    found = []
    if [row.id for row in rows] != [row.id for row in sentences] or [row.key for row in rows] != [
        row.key for row in sentences
    ]:
        said, told = {row.key for row in rows}, {row.key for row in sentences}
        found += [f"no row: {key}" for key in told - said]
        found += [f"not in the contract any more: {key}" for key in said - told]
        found += ["contract.tsv: table.py NN --write brings it up to date"]
    for row in rows:
        found += _wrong_row(row, todos, by)
    named = {case for row in rows for case in row.tests}
    found += [
        f"case {case} looks at no sentence"
        for case, todo in todos.items()
        if todo and case not in named
    ]
    return found


def _wrong_row(row: Row, todos: dict[str, int], by: dict[str, set[str]]) -> list[str]:
    if not row.tested:
        return [] if len(row.mutants) > 2 else [f"{row.id}: no test, and no reason"]
    found = [] if row.tests else [f"{row.id}: no test"]
    found += [] if row.mutants else [f"{row.id}: no mutant breaks it"]
    found += [f"{row.id}: there is no case {case}" for case in row.tests if case not in todos]
    for name in row.mutants:
        if name not in by:
            found.append(f"{row.id}: there is no mutant {name}")
        elif not by[name] & set(row.tests):
            found.append(
                f"{row.id}: mutant {name} is rejected by {by[name]}; its tests are {row.tests}"
            )
    return found


class Contract(unittest.TestCase):
    def test_every_sentence_has_a_test_and_a_mutant(self) -> None:
        for lab in LABS:
            with self.subTest(lab=lab.name):
                rows = contract.load(PROJECT, lab)
                found = wrong(rows, contract.sentences(PROJECT, lab), cases(lab), rejected(lab))
                self.assertEqual(found, [], "\n".join(found))

    def test_what_does_not_fit_is_found(self) -> None:
        good = Row("f.1", "It adds.", ("adds",), ("subtracts",))
        todos, by = {"adds": 1}, {"subtracts": {"adds"}}
        self.assertEqual(wrong([good], [good], todos, by), [])
        for change in (
            {"sentence": "It multiplies."},
            {"tests": ()},
            {"tests": ("adds", "fast")},
            {"mutants": ()},
            {"mutants": ("divides",)},
            {"tests": ("-",)},
        ):
            with self.subTest(**change):
                bad = dataclasses.replace(good, **change)
                self.assertNotEqual(wrong([bad], [good], todos, by), [])
        self.assertNotEqual(wrong([good], [good], {**todos, "more": 1}, by), [])
        self.assertNotEqual(wrong([good], [good], todos, {"subtracts": {"other"}}), [])

    def test_sentences_are_read_whole(self) -> None:
        lab = next(lab for lab in LABS if lab.number == "01")
        rows = {row.id: row.sentence for row in contract.sentences(PROJECT, lab)}
        self.assertEqual(rows["rules.2"], "On an error the outputs keep what they held.")
        self.assertEqual(rows["inv_mem.3"], "LAB_EINVAL: a pointer is null.")
        self.assertEqual(rows["inv_by_bus.before"], "*device holds anything")
        self.assertNotIn("inv_print_table.1", rows)


if __name__ == "__main__":
    unittest.main()
