# SPDX-License-Identifier: MIT
"""grader.selfcheck.pages: compares a lab's README and the first lab's page with tests' output;
outdated lists, failures and answers are found."""

import contextlib
import io
from unittest import mock

from grader.building import ctest
from grader.building.records import Record, Verdict
from grader.selfcheck import pages
from grader.selfcheck.programs import Programs
from grader.selfcheck.report import Report
from grader.tests.fake_build import FakeBuild

README = """\
```
1/3 Test #7: build.lab01 ...........   Passed    0.55 sec
2/3 Test #3: lab01.twice ...........   Passed    0.01 sec
3/3 Test #8: written.lab01 .........   Passed    0.01 sec
```

```
fail  lab01.twice  TODO(1)  twice doubles
  what   twice(3) is 9
         and so on
         ...
  why    a rule
```
"""
FIRST = """\
```c
int inv_count(int *n)
{
    a();
    if (x)
        return 1;
}
```

```c
    if (y)
        b();
    else if (x)
```
"""


class Shown(FakeBuild):
    def setUp(self) -> None:
        super().setUp()
        tests = [
            ctest.Test(f"solution01.{case}", (), frozenset()) for case in ("twice", "hidden.x")
        ]
        self.programs = Programs(self.project, Report(), 1)
        self.programs.tests = tests
        self.told("twice(3) is 9\nand so on\nmore\nmuch more")

    def told(self, message: str) -> None:
        record = Record("solution01.twice", "twice", 1, verdict=Verdict.FAIL, message=message)
        self.programs.rejected = {self.lab: [record]}

    def failures(self, readme: str = README) -> list[str]:
        self.write("labs/01-tiny/README.md", readme)
        report = self.programs.report
        with (
            contextlib.redirect_stdout(io.StringIO()),
            mock.patch.object(pages, "_check_first"),
            report.section("pages") as section,
        ):
            pages.check_pages(self.programs, section, [self.lab])
        return [name for name, _ in self.programs.report.failures]

    def test_what_is_shown_is_what_happened(self) -> None:
        self.assertEqual(self.failures(), [])
        self.assertEqual(self.programs.report.passed, 2)

    def test_a_test_that_is_gone(self) -> None:
        found = self.failures(README.replace("lab01.twice ..", "lab01.thrice .."))
        self.assertEqual(found, ["01-tiny/README.md: ctest"])
        self.assertEqual(len(self.failures(README.replace("3/3", "3/4"))), 2)

    def test_a_failure_that_no_mistake_gives(self) -> None:
        self.told("twice(3) is 8\nand so on\nmore")
        self.assertEqual(self.failures(), ["01-tiny/README.md: the failure of twice"])

    def test_the_clock_may_move(self) -> None:
        self.told("twice(3) is 9 at 4.5 us\nand so on\nmore")
        readme = README.replace("twice(3) is 9", "twice(3) is 9 at 6.1 us")
        self.assertEqual(self.failures(readme), [])

    def test_the_second_answer_goes_into_the_first(self) -> None:
        first, change = pages.ANSWER.search(FIRST + "\n").groups()  # type: ignore[union-attr]
        whole = pages._repaired(first, change)
        self.assertIn(
            "    a();\n    if (y)\n        b();\n    else if (x)\n        return 1;", whole
        )
        self.assertEqual(pages._repaired(first, "    else if (z)\n"), "")
