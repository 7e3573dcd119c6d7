# SPDX-License-Identifier: MIT
"""grader.export.pairs: the page of what JPlag found alike.

The result below is in the form of those that JPlag 6.2 writes; tests/grading/test_jplag.py has
JPlag itself write one.
"""

import contextlib
import io
import json
import re
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Any

from grader.base.exits import LabError
from grader.commands.cli import main
from grader.export import pairs
from grader.tests.fake import SKELETON
from grader.tests.grade.test_pages import Tags

EVIL = '    return n + n; // <script>alert("x")</script>\u202e'
ADA = SKELETON.replace("    (void)n;\n    TODO(1);", f"    int m = n;\n{EVIL}")
BOB = SKELETON.replace("    (void)n;\n    TODO(1);", f"    int k = n;\n\n{EVIL}")
CYD = SKELETON.replace("    (void)n;\n    TODO(1);", "    return 2 * n;")
FILES = {"ada": ADA, "bob": BOB, "cyd-1": CYD}


def spot(line: int) -> dict[str, int]:
    return {"line": line, "column": 1, "tokenListIndex": 0}


def match(first: tuple[int, int], second: tuple[int, int]) -> dict[str, Any]:
    ends = zip(
        ("startInFirst", "endInFirst", "startInSecond", "endInSecond"),
        (*first, *second),
        strict=True,
    )
    names = {"firstFileName": "ada/tiny.c", "secondFileName": "bob/tiny.c"}
    return {**names, **{key: spot(line) for key, line in ends}, "lengthOfFirst": 9}


def comparison(first: str, second: str, average: float, *matches: dict[str, Any]) -> str:
    ids = {"firstSubmissionId": first, "secondSubmissionId": second}
    return json.dumps({**ids, "similarities": {"AVG": average}, "matches": matches})


def result() -> dict[str, str]:
    both = [("ada", "cyd-1"), ("ada", "bob")]
    names: dict[str, dict[str, str]] = {one: {} for one in FILES}
    for first, second in both:
        names[first][second] = names[second][first] = f"{first}-{second}.json"
    listed = [{"firstSubmission": a, "secondSubmission": b, "similarities": {}} for a, b in both]
    return {
        "topComparisons.json": json.dumps(listed),
        "submissionMappings.json": json.dumps({"submissionIdsToComparisonFileName": names}),
        "ada-bob.json": comparison("ada", "bob", 0.4, match((4, 8), (4, 9))),
        "ada-cyd-1.json": comparison("ada", "cyd-1", 0.9, match((1, 6), (1, 6))),
        **{f"files/{who}/tiny.c": text for who, text in FILES.items()},
    }


class Pairs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "lab01"
        (self.folder / "base").mkdir(parents=True)
        (self.folder / "base" / "tiny.c").write_text(SKELETON)
        (self.folder.parent / "students.json").write_text('{"cyd-1": "cyd <&> co"}')

    def put(self, files: dict[str, str]) -> None:
        with zipfile.ZipFile(self.folder / "result.jplag", "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)

    def test_pairs_are_in_the_order_of_what_was_written(self) -> None:
        """JPlag has the pair that shares the skeleton's lines first; that counts for nothing."""
        self.put(result())
        page, (first, second), left_out = pairs.write(self.folder, 30)
        self.assertEqual(left_out, [])
        self.assertEqual((first.second.who, round(first.alike, 2)), ("bob", 1.0))
        self.assertEqual((second.second.who, second.alike), ("cyd <&> co", 0.0))
        web = page.read_text(encoding="utf-8")
        tags = Tags(web)
        self.assertEqual((tags.open, "script" in tags.tags), ([], False))
        self.assertTrue(all(place.startswith("#pair") for place in tags.outside))
        self.assertNotIn("\u202e", web)
        self.assertIn("<span><i>   7</i>     int m = n;</span>", web)
        self.assertIn('<span class="grey"><i>   4</i> int twice(int n)</span>', web)
        self.assertIn("cyd &lt;&amp;&gt; co", web)
        order = re.findall(r'<h2 id="pair\d">(.*?)</h2>', web)
        self.assertEqual(order, ["ada and bob", "ada and cyd &lt;&amp;&gt; co"])

    def test_who_is_compared_with_nobody_is_named(self) -> None:
        for name in (*FILES, "d<e"):
            (self.folder / "submissions" / name).mkdir(parents=True)
        self.put(result())
        page, _, left_out = pairs.write(self.folder, 30)
        self.assertEqual(left_out, ["d<e"])
        self.assertIn("or they are too short: d&lt;e.", page.read_text(encoding="utf-8"))

    def test_typed(self) -> None:
        self.put(result())
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(main(["pairs", str(self.folder), "--most", "1"]), 0)
        self.assertEqual(said.getvalue(), f"100%  ada, bob\n{self.folder / 'pairs.html'}\n")

    def test_what_is_no_result(self) -> None:
        with self.assertRaisesRegex(LabError, "result.jplag is not there: JPLAG="):
            pairs.write(self.folder, 30)
        for files, says in (
            ({"overview.json": "{}"}, "JPlag 6.1 or before"),
            ({"x": ""}, "it holds no submissionMappings.json"),
            ({**result(), "ada-bob.json": "[]"}, "cannot be read as a result of JPlag 6"),
            ({**result(), "topComparisons.json": "{"}, "run .*run.sh again"),
        ):
            self.put(files)
            with self.assertRaisesRegex(LabError, says):
                pairs.write(self.folder, 30)
        (self.folder / "result.jplag").write_text("no zip")
        with self.assertRaisesRegex(LabError, "cannot be read"):
            pairs.write(self.folder, 30)
        self.assertFalse((self.folder / "pairs.html").exists())


if __name__ == "__main__":
    unittest.main()
