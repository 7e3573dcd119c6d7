# SPDX-License-Identifier: MIT
"""docs/results.md describes every field that there is, and no other."""

import json
import re
import unittest
from typing import Any

try:
    import jsonschema
except ModuleNotFoundError:
    jsonschema = None
from classroom import ROOT, Classroom, mutant, skeleton

from grader.grade.model import Status
from grader.grade.results import SCHEMA
from grader.selfcheck.lacking import needs

PAGE = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")


def described(section: str) -> set[str]:
    """The names in the first column of a section's table."""
    text = PAGE.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def inner(section: str, field: str) -> set[str]:
    """The names that the line of a field has in its second column."""
    text = PAGE.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    line = next(line for line in text.splitlines() if line.startswith(f"| `{field}`"))
    return set(re.findall(r"`([a-z_]+)`", line.split("|", 2)[2]))


class Results(Classroom):
    def test_every_field(self) -> None:
        self.hand_in("ada", "01", mutant("01", "count_no_gpu_is_an_error"))
        self.hand_in("bob", "01", skeleton("01"))
        questions = self.folder / "q.csv"
        questions.write_text("student,lab,points,comment\nada,1,1,ok\n")
        requests = self.folder / "r.csv"
        requests.write_text("student,lab,asked,why\nada,1,2026-11-20T12:00Z,mine is right\n")
        groups = self.folder / "g.csv"
        groups.write_text("student,partner\nada,cyd\n")
        (self.folder / "class" / "cyd").mkdir()
        words = ("--questions", questions, "--requests", requests, "--groups", groups)
        self.grade(self.folder / "class", *words)
        found = self.results()
        self.assertEqual(found["schema"], SCHEMA)
        self.check(found, "The file", late=found["late"], course=found["course"])
        self.check(found["labs"][0], "`labs`", cases=found["labs"][0]["cases"][0])
        for row in found["rows"]:
            nested: dict[str, Any] = {key: row[key] for key in ("late", "times")}
            for field in ("questions", "group", "request"):
                if row[field]:
                    nested[field] = row[field]
            self.check(row, "`rows`", **nested)
            for case in row["cases"]:
                self.check(case, "`cases` of a row")

    def check(self, found: dict[str, Any], section: str, **nested: dict[str, Any]) -> None:
        self.assertEqual(set(found), described(section))
        for field, value in nested.items():
            self.assertEqual(set(value), inner(section, field), field)

    @needs(jsonschema, "no jsonschema (pip)")
    def test_schema(self) -> None:
        """The published schema takes what is written, and nothing that is not."""
        self.hand_in("ada", "01", mutant("01", "count_no_gpu_is_an_error"))
        self.hand_in("bob", "01", "int x\n")
        roster = self.folder / "roster.csv"
        roster.write_text("student\nada\nbob\ncyd\n")
        self.grade(self.folder / "class", "--students", roster)
        found = self.results()
        schema = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(
            set(schema["$defs"]["status"]["enum"]), {status.value for status in Status}
        )
        jsonschema.Draft202012Validator.check_schema(schema)
        check = jsonschema.Draft202012Validator(schema)
        check.validate(found)
        row = found["rows"][0]
        for wrong in (
            {"mark": None},
            {"mark": "75"},
            {"status": "good"},
            {"more": 1},
            {"student": ""},
        ):
            with self.assertRaises(jsonschema.ValidationError, msg=str(wrong)):
                check.validate({**found, "rows": [{**row, **wrong}]})
        for wrong in ({"schema": "peerlab/results/v2"}, {"sandbox": "none"}, {"seed": None}):
            with self.assertRaises(jsonschema.ValidationError, msg=str(wrong)):
                check.validate({**found, **wrong})

    def test_every_status(self) -> None:
        self.assertEqual({status.value for status in Status}, described("Statuses"))


if __name__ == "__main__":
    unittest.main()
