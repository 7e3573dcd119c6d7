# SPDX-License-Identifier: MIT
"""grader.grade.tasks, skeleton and classcharts: what the class report says of each task."""

import unittest
from collections import Counter
from typing import Any
from xml.etree import ElementTree

from grader.grade import classcharts, classreport, page
from grader.grade.skeleton import Places
from grader.grade.tasks import hours_between, suspicions, tasks
from grader.tests.export.test_export import case, row
from grader.tests.fake import SKELETON, with_charts
from grader.tests.grade.test_pages import Tags, results

Json = dict[str, Any]
GPUS = "{} GPUs, expected 4: 'hgx'"


def attempt(at: str, *solved: int) -> Json:
    return {"sha256": "ab", "submitted": at, "points": 1, "solved": list(solved)}


def student(name: str, *cases: Json, **more: object) -> Json:
    return row(*cases, **{"student": name, "hints": None, "attempts": [], **more})


def wrong(gpus: int, name: str = "one") -> Json:
    return case(name, "fail", 20, message=GPUS.format(gpus), skeleton=8)


class Tasks(unittest.TestCase):
    def test_who_solved_it_when(self) -> None:
        right = case("one", "pass", 20)
        days = ["2026-11-01T10:00:00Z", "2026-11-01T12:00:00Z", "2026-11-03T12:00:00Z"]
        (found,) = tasks(
            [
                student("ada", right, attempts=[attempt(days[0], 1)], hints={"1": 3}),
                student("bob", right, attempts=[attempt(days[0]), attempt(days[1], 1)], hints={}),
                student("cyd", wrong(1), attempts=[attempt(one) for one in days]),
                student("dan", right),  # of a grader that noted no attempts
                student("eve", case("one", "not written", 20)),
            ]
        )
        self.assertEqual((found.students, found.written, found.solved), (5, 4, 3))
        self.assertEqual((found.first, found.hours), (Counter({1: 1, 2: 1}), (2.0,)))
        self.assertEqual((found.points, found.possible, found.hints), (60, 100, (3, 0)))
        self.assertEqual(classcharts._shares(found), [2, 1, 0, 1, 1])

    def test_time_between(self) -> None:
        days = ["2026-11-03T12:00:00Z", "2026-11-01T10:00:00Z", None, "2026-11-01T12:00:00Z"]
        one = student("ada", attempts=[attempt(at) for at in days])
        self.assertEqual(hours_between([one, student("bob")]), [2, 48])

    def test_the_same_but_for_numbers_is_one_finding(self) -> None:
        rows = [student("a", wrong(1)), student("b", wrong(0)), student("c", wrong(0))]
        rows += [student("d", case("one", "crash", 20)), student("e", case("two", "not run", 5))]
        (found,) = tasks(rows)
        first, second = found.findings
        self.assertEqual((first.count, first.said, first.line), (3, GPUS.format(0), 8))
        self.assertEqual(second.count, 1)

    def test_many_for_the_same_reason(self) -> None:
        rows = [student(str(at), wrong(at)) for at in range(3)]
        rows += [student(f"r{at}", case("one", "pass", 20)) for at in range(6)]
        (found,) = tasks(rows)
        ((count, said),) = suspicions(found)
        self.assertEqual(count, 3)
        self.assertTrue(said.startswith("lose 20 points for the same reason in one: "))
        (found,) = tasks([*rows, student("r", case("one", "pass", 20))])
        self.assertEqual(suspicions(found), [])  # 3 of 10
        (found,) = tasks(rows[:2])
        self.assertEqual(suspicions(found), [])  # two are no class

    def test_other_faults(self) -> None:
        hidden = case("hidden.a", "fail", 5, message="odd", skeleton=8)
        rows = [
            student(str(at), case("one", "pass", 20), hidden, hints={"1": 3}) for at in range(3)
        ]
        (found,) = tasks(rows)
        words = " ".join(said for _, said in suspicions(found))
        for said in ("the public tests do not show it", "no student solved it", "asked for all"):
            self.assertIn(said, words)

    @with_charts
    def test_charts_are_pictures_and_nothing_else(self) -> None:
        """What the library adds besides would run, ask the network, or be another every day."""
        found = tasks([student("ada", wrong(1)), student("bob", case("one", "pass", 20))])
        charts = [classcharts.marks([0, 55, 100], 100), classcharts.gaps([0.1, 30])]
        for chart in [*charts, classcharts.solved(found)]:
            root = ElementTree.fromstring(chart.svg)
            names = [one.tag.rpartition("}")[2] for one in root.iter()]
            self.assertLessEqual(set(names), {"svg", "title", "desc", "g", "rect", "path", "text"})
            self.assertEqual((root.get("role"), names[1:3]), ("img", ["title", "desc"]))
            self.assertEqual((root[0].text, names.count("desc")), (chart.title, 1))
            self.assertNotRegex(chart.svg, r"<!--|href|url\(|style=|id=|\d{4}-\d\d-\d\d")
        self.assertIn("<desc>0 1, 50 1, 90-100 1</desc>", charts[0].svg)
        self.assertEqual(charts[0], classcharts.marks([0, 55, 100], 100))
        self.assertIn("task 1: 1st attempt 1, not solved 1", classcharts.solved(found).svg)

    @with_charts
    def test_report(self) -> None:
        rows = [
            student(str(at), wrong(at), attempts=[attempt("2026-11-01T10:00:00Z")])
            for at in range(4)
        ]
        found = results(*rows)
        found["labs"] = [{**found["labs"][0], "file": "tiny.c", "skeleton": SKELETON.splitlines()}]
        web = page.webpage("class", classreport.report(found, lambda lab, name: ["it forgets"]))
        tags = Tags(web)
        self.assertEqual((tags.outside, tags.open, "script" in tags.tags), ([], [], False))
        for words in (
            "Where the course itself may be at fault",
            '<td class="n" data-head="students">4 of 4</td>',
            "tiny.c:8  TODO(1);",
            "it forgets",
            "0 of 4",
        ):
            self.assertIn(words, web)


class Lines(unittest.TestCase):
    def test_the_nearest_line_of_the_skeleton(self) -> None:
        places = Places(SKELETON)
        theirs = SKELETON.replace("    (void)n;\n    TODO(1);\n", "    int m = n;\n    return m;\n")
        mine = ["// a comment", "", *theirs.splitlines()]
        for line, wanted in ((6, 4), (9, 6), (10, 6), (1, 6), (999, 6)):
            with self.subTest(line=line):
                self.assertEqual(places.line(mine, f"labs/01-tiny/tiny.c:{line}", 1), wanted)
        self.assertIsNone(places.line(mine, "", 0))
        self.assertIsNone(Places("").line(mine, "tiny.c:3", 2))


if __name__ == "__main__":
    unittest.main()
