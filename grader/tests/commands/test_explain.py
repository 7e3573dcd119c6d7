# SPDX-License-Identifier: MIT
"""commands.explain, course.diagnoses: the page of a code in the terminal is that of the docs."""

import contextlib
import io
import unittest

from grader.base.exits import ExitStatus, LabError
from grader.commands import explain
from grader.course.diagnoses import find, pages, parse, table
from grader.course.project import here

PAGE = """\
# 12 cudaErrorTwelve: twelve

## A program that gets it

```cuda
one();
two();
```

## How to fix it

```diff
 one();
-two();
+three();
```
"""


class Pages(unittest.TestCase):
    def said(self, code: str) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            self.assertEqual(explain.command(here(), code), ExitStatus.OK)
        return said.getvalue()

    def test_every_finding_has_a_page_and_cases(self) -> None:
        known = {page.code for page in pages(here())}
        folder = here().root / "tests" / "findings"
        cases = "".join(path.read_text("utf-8") for path in folder.rglob("*.[ch]u*"))
        cases += "".join(path.read_text("utf-8") for path in folder.glob("test_*.py"))
        for code in table(here()):
            with self.subTest(code):
                self.assertTrue(code in known, f"docs/diagnoses/{code}.md is missing")
                self.assertTrue(code in cases, f"no program of tests/findings names {code}")

    def test_a_code_in_every_spelling(self) -> None:
        pages = {
            find(here(), word).code
            for word in ("700", "cudaErrorIllegalAddress", "CUDAERRORILLEGALADDRESS", "[700].")
        }
        self.assertEqual(pages, {"700"})
        self.assertEqual(find(here(), "illegaladdress").code, "700")
        self.assertEqual(find(here(), "Crash").code, "crash")

    def test_the_terminal_says_every_word_of_the_page(self) -> None:
        for page in pages(here()):
            with self.subTest(page.code):
                said = self.said(page.code).replace("**", "").replace("`", "").split()
                text = page.text.replace("**", "").replace("`", "").replace("](", "] (")
                words = [w for w in text.split() if w.strip("#[]()") and "](" not in w]
                missing = [w for w in words if w not in said and not w.startswith(("cuda", "["))]
                missing = [w for w in missing if w not in ("#", "##", "c", "diff") and "]" not in w]
                self.assertEqual(missing, [])

    def test_all_of_them(self) -> None:
        said = self.said("")
        for page in pages(here()):
            self.assertIn(f"  {page.code} ", said)

    def test_an_unknown_code_names_those_like_it(self) -> None:
        with self.assertRaisesRegex(LabError, "Did you mean: .*cudaErrorNoDevice") as caught:
            find(here(), "cudaErrorNoDevize")
        self.assertEqual(caught.exception.status, ExitStatus.NO_MATCH)

    def test_the_diff_of_a_page(self) -> None:
        page = parse(PAGE)
        self.assertEqual((page.code, page.name, page.title), ("12", "cudaErrorTwelve", "twelve"))
        self.assertEqual(page.mended, "one();\nthree();\n")
        with self.assertRaisesRegex(ValueError, "0 times"):
            _ = parse(PAGE.replace("-two", "-six")).mended
        with self.assertRaises(ValueError):
            parse("no page\n")


if __name__ == "__main__":
    unittest.main()
