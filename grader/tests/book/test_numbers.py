# SPDX-License-Identifier: MIT
"""grader.book.numbers: finds a number without a source, or with a source that has another value."""

import json
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from grader.book import numbers

CHAPTER = "# A\n\nOn H200s it took 12 ms. Half is 6 ms.\n"
MEASURED = {
    "chapter": "01-a.md",
    "number": "12 ms",
    "of": "it",
    "measured": "log",
    "find": "12\\.1",
}


class Numbers(unittest.TestCase):
    def setUp(self) -> None:
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "log.txt").write_text("took 12.1 ms\n", encoding="utf-8")

    def problems(self, *entries: dict[str, Any], text: str = CHAPTER) -> str:
        data = {"sources": {"log": {"file": "log.txt", "what": "a GPU"}}, "numbers": entries}
        (self.root / "docs/numbers.json").write_text(json.dumps(data), encoding="utf-8")
        chapter = self.root / "01-a.md"
        chapter.write_text(text, encoding="utf-8")
        return "\n".join(numbers.problems(self.root, [chapter]))

    def test_a_measured_number(self) -> None:
        self.assertEqual(self.problems(MEASURED), "")
        self.assertIn("log.txt has no 13", self.problems({**MEASURED, "find": "13"}))
        self.assertIn("no source other", self.problems({**MEASURED, "measured": "other"}))
        self.assertIn("does not stand there", self.problems(MEASURED, {**MEASURED, "number": "9"}))

    def test_a_number_without_a_source(self) -> None:
        self.assertIn("where is 12 ms from", self.problems())
        self.assertEqual(self.problems(text="# A\n\nHalf is 6 ms.\n"), "", "nobody measured that")

    def test_a_computed_number(self) -> None:
        half = {
            "chapter": "01-a.md",
            "number": "6 ms",
            "of": "half",
            "computed": "12 / 2",
            "gives": 6,
        }
        self.assertEqual(self.problems(MEASURED, half), "")
        self.assertIn("is 6, not 7", self.problems(MEASURED, {**half, "gives": 7}))
        with self.assertRaises(ValueError):
            numbers.compute("open('x')")

    def test_the_page_says_it(self) -> None:
        cited = {"chapter": "01-a.md", "number": "6 ms", "of": "half", "cited": "a paper"}
        self.problems(MEASURED, cited)
        shown = numbers.box(self.root, self.root / "01-a.md")
        self.assertIn("**12 ms**, it: measured, `log.txt` (a GPU)", shown)
        self.assertIn("**6 ms**, half: cited, a paper", shown)
        self.assertEqual(numbers.box(self.root, self.root / "02-b.md"), "")


if __name__ == "__main__":
    unittest.main()
