# SPDX-License-Identifier: MIT
"""grader.grade.cells: whatever stands in a cell, and however the table is split, nothing runs."""

import csv
import io
import random
import re
import unicodedata
import unittest

from grader.grade import sheets
from grader.grade.cells import SEPARATORS, cell, table
from grader.tests.export.test_export import case, row
from grader.tests.grade.test_pages import results

FORMULAS = (
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(1)",
    "|calc",
    "\uff1d1+1",
    "\ufe661",
    "\uff0b1",
    "\uff201",
    "\u22121",
)
ODD = (
    *FORMULAS,
    *SEPARATORS,
    *"\"'",
    " ",
    "\u00a0",
    "\u3000",
    "\n",
    "\r",
    "\x1b[31m",
    "\x00",
    "\x85",
)
ODD += ("\u202e", "\u200f", "\u2028", "\ufeff", "\ud800", "a", "\u00e9", "\u5c71", "1")
RUNS = {"=", "+", "-", "@", "|", "\u2212"}
TRIES = 5_000


def pieces(line: str) -> list[str]:
    """The cells that a line may become: by each separator, with and without regard for quotes."""
    found = re.split(f"[{SEPARATORS}]", line)
    for separator in SEPARATORS:
        found += line.split(separator)
        found += next(csv.reader(io.StringIO(line), delimiter=separator), [])
    return found


def runs(piece: str) -> bool:
    begin = piece.lstrip(' \t"')[:1]
    return bool(begin) and (begin in RUNS or unicodedata.normalize("NFKC", begin)[:1] in RUNS)


class Cells(unittest.TestCase):
    def test_no_text_runs_however_the_table_is_split(self) -> None:
        chance = random.Random(35)
        for _ in range(TRIES):
            text = "".join(chance.choices(ODD, k=chance.randrange(1, 9)))
            written = table([["student", text, 3, "end"]])
            self.assertEqual(written.count("\n"), 1, ascii(text))
            line = written.removesuffix("\r\n")
            self.assertTrue(all(c.isprintable() for c in line), ascii(text))
            self.assertEqual(next(csv.reader([line])), ["student", cell(text), "3", "end"])
            for piece in pieces(line):
                self.assertFalse(runs(piece), f"{text!a} became {line!a}: {piece!a}")

    def test_what_is_harmless_stays(self) -> None:
        for text in (
            "Ada Lovelace",
            "\u5c71\u7530 \u592a\u90ce",
            "got 3, want 4",
            "a-b@c.org",
            "x = y",
        ):
            self.assertEqual(cell(text), text)
        self.assertEqual(table([["a", None, -1.5, True]]), "a,,-1.5,True\r\n")

    def test_every_table_of_the_results_goes_through_it(self) -> None:
        """Names and messages as somebody handed them in, in marks.csv and cases.csv."""
        names = ["\x1b[31mred", "\u202etxt.exe", " =1+1", "|calc", "\uff1d1+1", "x;=1+1"]
        rows = [
            {**row(case("split", "fail", 30, message=f"got {name}")), "student": name, "name": name}
            for name in names
        ]
        for text in (sheets.wide(results(*rows)), sheets.long(results(*rows))):
            for line in text.split("\r\n"):
                self.assertTrue(all(c.isprintable() for c in line), ascii(line))
                for piece in pieces(line):
                    self.assertFalse(runs(piece), f"{line!a}: {piece!a}")


if __name__ == "__main__":
    unittest.main()
