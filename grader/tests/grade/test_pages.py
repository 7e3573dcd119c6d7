# SPDX-License-Identifier: MIT
"""grader.grade.feedback, classreport, page and sheets: nobody's text becomes markup."""

import csv
import io
import unittest
from html.parser import HTMLParser
from typing import Any

from grader.grade import classreport, feedback, page, sheets
from grader.tests.export.test_export import BROKEN, GRAVE, NASTY, SOME, case, row
from grader.tests.fake import with_charts

Json = dict[str, Any]
LABS = {"lab01": {"lab": "lab01", "title": "tiny", "points": 100}}
EVIL = "<script>alert(1)</script>\n```\n# not a heading\n=cmd()|x"


class Tags(HTMLParser):
    """The tags of a page, and where it would go to the network."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br", "line", "rect"):
            self.open.append(tag)
        self.outside += [str(value) for key, value in attrs if key in ("src", "href", "action")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag


def results(*rows: Json) -> Json:
    return {
        "labs": [LABS["lab01"]],
        "course": {"course": "v1", "compiler": "cc"},
        "seed": 1,
        "sandbox": "bare",
        "students": students(*rows),
        "rows": [timed(one) for one in rows],
    }


def students(*rows: Json) -> list[Json]:
    labs: dict[tuple[str, str], list[str]] = {}
    for one in rows:
        labs.setdefault((one["student"], one["name"]), []).append(one["lab"])
    return [{"student": who, "name": name, "handed_in": of} for (who, name), of in labs.items()]


def timed(one: Json) -> Json:
    times = {"seconds": 1.0, "cpu_seconds": 2.0, "virtual_seconds": 0.5, "submitted": None}
    return {"file": "tiny.c", "sha256": "ab", **one, "times": times}


class Feedback(unittest.TestCase):
    def pages(self, *rows: Json) -> tuple[str, str]:
        blocks = feedback.pages(rows[0]["name"], [timed(one) for one in rows], LABS)
        return page.markdown(blocks), page.webpage("feedback", blocks)

    def test_hidden_tests_stay_hidden(self) -> None:
        for text in self.pages(SOME):
            self.assertNotIn("SECRET", text)
            self.assertNotIn("hidden.b", text)
            self.assertIn("2 hidden tests, details withheld: 1 passed", text)
            self.assertIn("odd sizes", text)
            self.assertIn("Any size.", text)
            self.assertNotIn("All public tests passed", text)

    def test_a_grave_mistake_and_its_cap(self) -> None:
        text, _ = self.pages(GRAVE)
        self.assertIn("85 of 100 points", text)
        said = "found a data race: a lab with such a mistake gets at most 85 of 100 points (11 "
        self.assertIn(said, text.replace("\\", ""))
        few = {**GRAVE, "points": 80, "grave": {**GRAVE["grave"], "points": 0.0}}
        self.assertIn("(the tests give no more anyway)", self.pages(few)[0].replace("\\", ""))
        late = {"days": 1, "slip": 0, "percent": 10, "points": 8.5}
        self.assertIn("8.5 of 85 points off", self.pages({**GRAVE, "late": late})[0])

    def test_public_ones_all_pass(self) -> None:
        for text in self.pages(row(case("one", "pass", 50), case("hidden.b", "fail", 50))):
            self.assertIn("All public tests passed.", text)

    def test_no_markup_of_theirs(self) -> None:
        hostile = case("one", "fail", 50, message=EVIL, said=EVIL, where=EVIL, why=EVIL)
        markdown, web = self.pages(row(hostile, name=EVIL, notes=[EVIL], message=EVIL))
        self.assertNotIn("script", Tags(web).tags)
        self.assertIn("````text\n<script>", markdown)
        outside = "".join(markdown.split("````")[::2])
        self.assertNotIn("<script>", outside)
        self.assertNotIn("\n# not a heading", outside)

    def test_our_fault(self) -> None:
        for text in self.pages(BROKEN):
            self.assertIn("No mark yet", text)
            self.assertNotIn("0 of 100", text)

    def test_compile_errors(self) -> None:
        wrong = row(status="compile error", compiler="x.c:1:2: error\n  1 | mine\n", mark=0)
        for text in self.pages(wrong):
            self.assertIn("  1 | mine", text)


class ClassReport(unittest.TestCase):
    @with_charts
    def test_it(self) -> None:
        found = results(SOME, {**BROKEN, "student": "bob"}, {**SOME, "student": NASTY, "mark": 90})
        blocks = classreport.report(found, lambda lab, name: [f"{lab} {name} forgets"])
        web = page.webpage("class", blocks)
        tags = Tags(web)
        self.assertEqual(tags.outside, [])
        self.assertEqual(tags.open, [])
        self.assertNotIn("script", tags.tags)
        self.assertGreater(tags.tags.count("rect"), 10)
        for words in ("2 marks: mean 70", "lab01 two forgets", "no mark", "disk full", "not run"):
            self.assertIn(words, web) if words != "not run" else None

    def test_nobody(self) -> None:
        web = page.webpage("class", classreport.report(results(BROKEN), lambda *_: []))
        self.assertIn("No marks.", web)


class Sheets(unittest.TestCase):
    def test_no_formula(self) -> None:
        hostile = {**SOME, "student": '=HYPERLINK("x")', "name": "+1,\n2"}
        text = sheets.wide(results(hostile))
        (line,) = csv.DictReader(io.StringIO(text))
        self.assertEqual(line["student"], '\'=HYPERLINK("x")')
        self.assertEqual(line["name"], "'+1, 2")

    def test_what_a_grave_mistake_takes_off(self) -> None:
        head, ada = csv.reader(io.StringIO(sheets.wide(results(GRAVE))))
        found = dict(zip(head, ada, strict=True))
        self.assertEqual((found["lab01"], found["lab01 points"]), ("85.0", "96"))
        self.assertEqual(found["lab01 grave"], "11.0")

    def test_no_mark_is_empty(self) -> None:
        (line,) = csv.DictReader(io.StringIO(sheets.wide(results(BROKEN))))
        self.assertEqual((line["lab01"], line["total"]), ("", ""))
        self.assertEqual(line["lab01 status"], "infrastructure error")


if __name__ == "__main__":
    unittest.main()
