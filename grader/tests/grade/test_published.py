# SPDX-License-Identifier: MIT
"""grader.grade.published: readers find the last edition that was published as a whole."""

import json
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.base.exits import LabError
from grader.grade import published
from grader.grade.database import NAME, Database, opened
from grader.grade.diff import changes, gains, read_results
from grader.grade.results import SCHEMA, pieces
from grader.grade.sheets import by_student

Json = dict[str, Any]
HEAD: Json = {"schema": SCHEMA, "seed": 7, "labs": [], "students": []}


def row(at: int, mark: float | None = 50.0) -> Json:
    more = {"late": {}, "questions": None, "sha256": "", "notes": [], "cases": [], "message": ""}
    names = {"student": f"s{at:04}", "lab": "lab01", "status": "partial"}
    return {**names, "mark": mark, "points": 50, "possible": 100, **more}


class Published(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def base(self) -> Database:
        context = opened(self.out)
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def test_the_same_as_json(self) -> None:
        """Byte for byte, however many rows there are and whatever stands in them."""
        base = self.base()
        for count in (0, 1, 64, 65, 200):
            rows = [{**row(at), "name": "a\nb\u2028\udc80\u00e9"} for at in range(count)]
            found = published.write(base, HEAD, iter(rows))
            whole = json.dumps({**HEAD, "rows": rows}, indent=1, ensure_ascii=False) + "\n"
            self.assertEqual("".join(pieces(found)), whole)
            published.publish(base, found)
            there = read_results(self.out)
            self.assertEqual(list(there["rows"]), rows)
            self.assertEqual({**there, "rows": []}, {**HEAD, "rows": []})
            self.assertEqual(
                [one["student"] for one in there["rows"][-2:]],
                [one["student"] for one in rows[-2:]],
            )

    def test_the_last_edition_that_is_whole(self) -> None:
        base = self.base()
        with self.assertRaisesRegex(LabError, "nothing is published"):
            read_results(self.out)
        (self.out / "old").mkdir()
        (self.out / "old" / "results.json").write_text(json.dumps({**HEAD, "rows": [row(3)]}))
        self.assertEqual(read_results(self.out / "old")["rows"], [row(3)])  # an earlier version's
        published.publish(base, published.write(base, HEAD, [row(1)]))

        def broken() -> Iterator[Json]:
            yield from (row(at, 0) for at in range(300))
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            published.write(base, HEAD, broken())
        self.assertEqual(read_results(self.out)["rows"][0], row(1))
        before = read_results(self.out / NAME)
        new = published.write(base, HEAD, [row(1, 70), row(2)])
        self.assertEqual(len(read_results(self.out)["rows"]), 1)  # not before it is published
        published.publish(base, new)
        self.assertEqual(len(read_results(self.out)["rows"]), 2)
        self.assertEqual(len(before["rows"]), 1)  # who reads the other one goes on
        self.assertEqual(
            base.all("SELECT student, mark FROM marks"), [("s0001", 70), ("s0002", 50)]
        )
        self.assertEqual(base.all("SELECT count(*) FROM rows"), [(3,)])
        self.assertEqual(changes(before, new)[0], "s0001 lab01: 50 (partial) -> 70 (partial)")
        self.assertEqual(changes(before, new)[1], "s0002 lab01: no row -> 50 (partial)")
        self.assertEqual([one["change"] for one in gains(before, new)], [20])

    def test_by_student(self) -> None:
        """In order, also where somebody has no row; rows that do not fit are an error."""
        students = [{"student": f"s{at:04}", "name": "", "handed_in": []} for at in range(4)]
        rows = [row(0), {**row(0), "lab": "lab02"}, row(2)]
        found = list(by_student({"students": students, "rows": rows}).items())
        self.assertEqual([list(labs) for _, labs in found], [["lab01", "lab02"], [], ["lab01"], []])
        with self.assertRaisesRegex(ValueError, "out of order"):
            list(by_student({"students": students, "rows": rows[::-1]}).items())

    def test_another_version(self) -> None:
        base = self.base()
        base.write("PRAGMA user_version = 9")
        with self.assertRaisesRegex(LabError, "another version"):
            base.make()


if __name__ == "__main__":
    unittest.main()
