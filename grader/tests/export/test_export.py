# SPDX-License-Identifier: MIT
"""grader.export: each format against its system's documentation."""

import importlib.util
import json
import re
import unittest
import xml.etree.ElementTree as ElementTree
from typing import Any

from grader.base.exits import LabError
from grader.commands.instructor import EXPORTS
from grader.course.project import here
from grader.export import FORMATS, formats, imports, parts
from grader.grade.names import file_name
from grader.selfcheck.lacking import needs

Json = dict[str, Any]
HEAD: Json = {"schema": "peerlab/results/v1", "course": {}, "seed": 1, "sandbox": "bare"}
NASTY = "<b>]]>\x1b[0m\x00\u202e&amp; \ud800"


def case(name: str, status: str, possible: int, **more: object) -> Json:
    points = possible if status == "pass" else 0
    texts = dict.fromkeys(("why", "where", "next", "explained", "said", "feedback"), "")
    return {
        "case": name,
        "status": status,
        "points": points,
        "possible": possible,
        "todo": 1,
        "hidden": name.startswith("hidden."),
        "category": "odd sizes",
        "promises": ["Any size."] if name.startswith("hidden.") and status != "pass" else [],
        "title": "it holds",
        "message": "SECRET" if name.startswith("hidden.") else NASTY,
        **texts,
        **more,
    }


def row(*cases: Json, mark: float | None = 50.0, **more: object) -> Json:
    return {
        "student": "ada",
        "name": "Ada",
        "lab": "lab01",
        "status": "partial",
        "message": "",
        "points": 50,
        "possible": 100,
        "mark": mark,
        "grave": None,
        "late": {"days": 0, "percent": 0, "points": 0},
        "questions": None,
        "notes": [],
        "compiler": "",
        "cases": list(cases),
        "times": {"seconds": 1.5, "submitted": "2026-11-20T12:00:00Z"},
        **more,
    }


SOME = row(
    case("one", "pass", 50),
    case("two", "fail", 30),
    case("three", "not run", 0),
    case("hidden.a", "pass", 10),
    case("hidden.b", "crash", 10),
    notes=["line ends were changed"],
)
BROKEN = row(mark=None, status="infrastructure error", message="disk full")
NO_COMPILE = row(mark=0.0, status="compile error", compiler="x.c:1: error", message="no")


def written(name: str, *rows: Json, **env: str) -> str:
    text = FORMATS[name].write(HEAD, list(rows), env)
    assert text is not None
    return text


GRAVE = row(
    case("one", "pass", 96),
    case("hidden.a", "fail", 4),
    mark=85.0,
    points=96,
    grave={"kinds": ["race"], "at_most": 85.0, "points": 11.0},
)


class Common(unittest.TestCase):
    def test_no_word_is_cut(self) -> None:
        (long,) = parts.tests([row(case("one", "fail", 50, message="a-long-word " * 1000))])
        self.assertLessEqual(len(long.text), parts.LONGEST)
        self.assertTrue(long.text.endswith("a-long-word [cut here]"), long.text[-40:])

    def test_a_grave_mistake_is_told_with_its_points(self) -> None:
        """Where points of tests stand, too: they are more than the mark."""
        said = "found a data race: a lab with such a mistake gets at most 85 of 100 points"
        for name in ("gradescope", "prairielearn", "coderunner"):
            self.assertIn(said, written(name, GRAVE), name)
        self.assertEqual(json.loads(written("gradescope", GRAVE))["score"], 85)
        self.assertEqual(parts.comment(GRAVE), "partial, a data race: 11 points off")

    def test_no_mark_is_no_zero(self) -> None:
        """A format expresses "no mark", or exports nothing."""
        said = {"prairielearn": '"gradable": false', "junit": "<error"}
        for name, form in FORMATS.items():
            text = form.write(HEAD, [BROKEN], {})
            if name in said:
                self.assertIn(said[name], text or "", name)
            else:
                self.assertIsNone(text, name)

    def test_the_manual_and_the_help_have_every_format(self) -> None:
        manual = (here().root / "docs" / "instructors.md").read_text(encoding="utf-8")
        for name in [*FORMATS, *imports.FORMS]:
            self.assertRegex(EXPORTS, rf"\b{name}[,;]", name)
            self.assertRegex(manual, rf"`(--export )?{name}`", name)

    def test_hidden_tests_stay_hidden(self) -> None:
        for name in FORMATS:
            text = written(name, SOME)
            self.assertNotIn("SECRET", text, name)
            self.assertNotIn("hidden.a", text, name)
            self.assertIn("2 hidden tests, details withheld", text, name)
            self.assertIn("odd sizes", text, name)
            self.assertIn("Any size.", text, name)

    def test_no_time_is_told(self) -> None:
        """That of a hidden test would tell what it asks: a submission can sleep for as long as a
        number of the test says, and each millisecond would be read."""
        for name in FORMATS:
            told = {
                written(name, {**SOME, "times": {**SOME["times"], "seconds": seconds}})
                for seconds in (1.5, 2.525)
            }
            self.assertEqual(len(told), 1, name)

    def test_formats(self) -> None:
        self.assertEqual(formats(["junit,autolab"]), ["junit", "autolab"])
        self.assertEqual(formats(["all"]), [*FORMATS, *imports.FORMS])
        with self.assertRaisesRegex(LabError, "known are"):
            formats(["xlsx"])

    def test_file_names(self) -> None:
        odd = ["..", "a/b", "A", "a", "", "-x", "\ud800", "x" * 300, "a b", "a-b", "=1", "\n"]
        names = [file_name(student) for student in odd]
        self.assertEqual(len(set(names)), len(odd))
        for name in names:
            self.assertRegex(name, r"^[a-z0-9][a-z0-9_.@-]{0,59}$")


class Gradescope(unittest.TestCase):
    """Autograder specifications: results.json."""

    TOP = frozenset(
        {
            *("score", "output", "output_format", "test_output_format"),
            *("test_name_format", "visibility", "stdout_visibility", "extra_data", "tests"),
            "leaderboard",
        }
    )
    TEST = frozenset(
        {
            *("score", "max_score", "status", "name", "name_format", "number", "output"),
            *("output_format", "tags", "visibility", "extra_data"),
        }
    )
    VISIBILITY = ("hidden", "after_due_date", "after_published", "visible")
    FORMATS = ("text", "html", "simple_format", "md", "ansi")

    def check(self, found: Json) -> None:
        self.assertLessEqual(found.keys(), self.TOP)
        self.assertIsInstance(found["score"], float)
        self.assertIn(found["visibility"], self.VISIBILITY)
        self.assertIn(found["stdout_visibility"], self.VISIBILITY)
        self.assertIn(found["output_format"], self.FORMATS)
        self.assertIsInstance(found["extra_data"], dict)
        for test in found["tests"]:
            self.assertLessEqual(test.keys(), self.TEST)
            self.assertIn(test["status"], ("passed", "failed"))
            self.assertIsInstance(test["score"], (int, float))
            self.assertLessEqual(test["score"], test["max_score"])
            self.assertIsInstance(test["number"], str)
            self.assertTrue(all(isinstance(tag, str) for tag in test["tags"]))
            self.assertIn(test["visibility"], self.VISIBILITY)

    def test_it(self) -> None:
        found = json.loads(written("gradescope", SOME))
        self.check(found)
        self.assertEqual(found["score"], 50)
        self.assertEqual(sum(test["max_score"] for test in found["tests"]), 100)
        self.assertNotIn("hidden", {test["visibility"] for test in found["tests"]})
        wrong = json.loads(written("gradescope", NO_COMPILE))
        self.check(wrong)
        self.assertIn("x.c:1: error", wrong["tests"][0]["output"])

    def test_the_check_checks(self) -> None:
        for change in ({"score": "50"}, {"visibility": "nobody"}, {"grade": 1}):
            found = {**json.loads(written("gradescope", SOME)), **change}
            with self.assertRaises(AssertionError):
                self.check(found)


class Classroom50(unittest.TestCase):
    """classroom50/result/v1."""

    TEXTS = "schema classroom assignment assignment_type owner submission commit release review"

    def test_it(self) -> None:
        env = {"CLASSROOM": "c", "ASSIGNMENT": "a", "OWNER": "ada", "COMMIT_URL": "https://x/1"}
        found = json.loads(written("classroom50", {**SOME, "mark": 49.5}, **env))
        for key in self.TEXTS.split():
            self.assertIsInstance(found[key], str, key)
        self.assertEqual(found["schema"], "classroom50/result/v1")
        self.assertEqual((found["owner"], found["review"]), ("ada", "https://x/1"))
        self.assertTrue(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["datetime"]))
        self.assertIs(type(found["score"]), int)
        self.assertEqual((found["score"], found["max-score"]), (50, 100))
        for test in found["tests"]:
            self.assertLessEqual({"test-name", "passed", "score", "max-score"}, test.keys())
            self.assertIs(type(test["passed"]), bool)
            self.assertIs(type(test["score"]), int)
            self.assertIs(type(test["max-score"]), int)


class PrairieLearn(unittest.TestCase):
    """External grading: results.json."""

    def test_it(self) -> None:
        found = json.loads(written("prairielearn", SOME))
        self.assertIs(found["gradable"], True)
        self.assertEqual(found["score"], 0.5)
        for test in found["tests"]:
            self.assertLessEqual(
                test.keys(), {"name", "description", "points", "max_points", "message", "output"}
            )
            self.assertIsInstance(test["points"], (int, float))
            self.assertIsInstance(test["max_points"], (int, float))

    def test_extra_points_are_no_more_than_all(self) -> None:
        found = json.loads(written("prairielearn", {**SOME, "mark": 120.0}))
        self.assertEqual(found["score"], 1)

    def test_size(self) -> None:
        cases = [case(f"c{n}", "fail", 0, message="\u20ac" * 4000) for n in range(300)]
        text = written("prairielearn", row(*cases))
        self.assertLess(len(text.encode()), 1 << 20)
        self.assertEqual(len(json.loads(text)["tests"]), 300)


class Autolab(unittest.TestCase):
    """The last line of standard output, and the formatted feedback before it."""

    def test_it(self) -> None:
        text = written("autolab", SOME, {**SOME, "lab": "lab02", "mark": 7.5})
        shown, last = text.splitlines()
        scores = json.loads(last)
        self.assertEqual(scores, {"scores": {"lab01": 50, "lab02": 7.5}, "scoreboard": [57.5]})
        stages = json.loads(shown)
        self.assertEqual(stages["_presentation"], "semantic")
        self.assertEqual(stages["stages"], ["lab01", "lab02"])
        for stage in stages["stages"]:
            for entry in stages[stage].values():
                self.assertIs(type(entry["passed"]), bool)
                self.assertIsInstance(entry.get("hint", ""), str)


class CodeRunner(unittest.TestCase):
    """What the template of a question prints: one JSON object, with a table."""

    def test_it(self) -> None:
        text = written("coderunner", SOME, {**SOME, "lab": "lab02", "mark": 7.5})
        shown = json.loads(text)
        self.assertEqual(shown["fraction"], 57.5 / 200)
        self.assertEqual(shown["prologuehtml"], "<p>57.5 of 200 points</p>")
        head, *lines = shown["testresults"]
        self.assertEqual(head[0], "iscorrect")
        self.assertEqual({len(line) for line in lines}, {len(head)})
        self.assertEqual([line[0] for line in lines], [1, 0, 0, 0] * 2)
        self.assertIn("<b>]]>", lines[1][3])
        self.assertIn("<p>lab01: line ends were changed</p>", shown["epiloguehtml"])
        self.assertNotRegex(text, r"(?i)\\ud[89a-f]")

    def test_what_students_write_is_no_html(self) -> None:
        shown = json.loads(written("coderunner", {**SOME, "notes": [NASTY]}))
        self.assertIn("&lt;b&gt;]]&gt;", shown["epiloguehtml"])


class JUnit(unittest.TestCase):
    def test_it(self) -> None:
        root = ElementTree.fromstring(written("junit", SOME).encode())
        (suite,) = root
        self.assertEqual(root.tag, "testsuites")
        kinds = [child.tag for test in suite for child in test]
        self.assertEqual(sorted(kinds), ["failure", "failure", "skipped"])
        counts = {key: int(suite.get(key, "")) for key in ("tests", "failures", "skipped")}
        self.assertEqual(counts, {"tests": 4, "failures": 2, "skipped": 1})
        self.assertIn("]]>", suite[1][0].text or "")
        self.assertTrue(all(test.get("classname") == "lab01" for test in suite))

    @needs(importlib.util.find_spec("junitparser"), "no junitparser (pip)")
    def test_others_read_it(self) -> None:
        """An independent parser reads what was written."""
        import junitparser

        read = junitparser.JUnitXml.fromstring(written("junit", SOME, NO_COMPILE, BROKEN).encode())
        results = [
            type(result).__name__ for suite in read for test in suite for result in test.result
        ]
        self.assertEqual(results, ["Failure", "Skipped", "Failure", "Failure", "Error"])
        self.assertEqual((read.tests, read.failures, read.errors, read.skipped), (6, 3, 1, 1))


if __name__ == "__main__":
    unittest.main()
