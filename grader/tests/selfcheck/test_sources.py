# SPDX-License-Identifier: MIT
"""grader.selfcheck: a sound checkout passes, each kind of damage is named."""

import contextlib
import io
import subprocess
import unittest

from grader.base.exits import LabError
from grader.course.mutants import Mutant, load, mutate
from grader.course.sync import sync
from grader.selfcheck import sources
from grader.selfcheck.report import Report
from grader.tests.fake import README, SOLUTION, FakeCheckout

MUTANTS = """\
from grader.course.mutants import Mutant
MUTANTS = [Mutant(name=f"m{n}", todo=1, find="2 * n", replace=f"{n} * n", rejected_by="twice",
                  why="wrong") for n in range(3, 11)]
"""


class Sources(FakeCheckout):
    def setUp(self) -> None:
        super().setUp()
        self.write("tests/mutants/lab01.py", MUTANTS)
        sync(self.project, [self.lab])
        self.git("init", "-q")
        self.git("add", ".")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

    def failures(self) -> dict[str, str]:
        report = Report()
        with contextlib.redirect_stdout(io.StringIO()), report.section("sources") as section:
            sources.check_generated(self.project, section)
            sources.check_taught(self.project, [self.lab], section)
            sources.check_mutants_fit(self.project, [self.lab], section)
        self.assertGreater(report.passed, 0)
        return dict(report.failures)

    def test_a_sound_checkout(self) -> None:
        self.assertEqual(self.failures(), {})

    def test_a_learners_edits_neither_fail_nor_are_touched(self) -> None:
        self.write("labs/01-tiny/tiny.c", "mine\n")
        self.assertEqual(self.failures(), {})
        self.assertEqual(self.read("labs/01-tiny/tiny.c"), "mine\n")

    def test_without_git_the_list_of_hashes_has_to_do(self) -> None:
        (self.root / ".git").rename(self.root / "git-gone")
        self.assertEqual(self.failures(), {})
        self.write("solutions/01-tiny/tiny.c", SOLUTION.replace("double n", "n, twice"))
        self.assertEqual(list(self.failures()), ["labs/01-tiny/tiny.c"])

    def test_labs_behind_solutions(self) -> None:
        self.write("solutions/01-tiny/tiny.c", SOLUTION.replace("double n", "n, twice"))
        found = self.failures()
        self.assertEqual(set(found), {"labs/01-tiny/tiny.c", "labs/.generated.json"})
        self.assertIn("./lab sync", found["labs/01-tiny/tiny.c"])

    def test_what_learners_must_not_have(self) -> None:
        for name, text in (
            ("leak.c", "// BEGIN SOLUTION\n"),
            ("tests/hidden.c", "int hidden;\n"),
            ("notes.txt", "no file of a lab\n"),
        ):
            with self.subTest(name):
                path = self.write(f"labs/01-tiny/{name}", text)
                self.assertEqual(self.failures(), {})
                self.git("add", ".")
                sync(self.project, [self.lab])
                self.git("add", ".")
                self.assertEqual(list(self.failures()), [f"labs/01-tiny/{name}"])
                self.git("rm", "-q", "--cached", f"labs/01-tiny/{name}")
                path.unlink()
                sync(self.project, [self.lab])
                self.git("add", ".")

    def test_a_todo_without_task(self) -> None:
        self.write("solutions/01-tiny/tiny.c", SOLUTION.replace("TODO(1)", "TODO(2)"))
        found = self.failures()
        self.assertIn("0 README tasks", found["01-tiny: TODO(2)"])
        self.assertIn("no TODO(1)", found["01-tiny: TODO(1)"])

    def test_a_missing_hint(self) -> None:
        self.write("labs/01-tiny/README.md", README.replace("Hint 3", "More"))
        self.assertEqual(self.failures()["01-tiny: TODO(1)"], "2 hints, expected 3")

    def test_mutants_missing_few_or_not_fitting(self) -> None:
        for text, reason in (
            (MUTANTS.replace("11", "10"), "7 mutants, expected at least 8"),
            (MUTANTS.replace("2 * n", "2*n"), "stands 0 times"),
            (MUTANTS.replace("range(3", "range(2"), "changes nothing"),
            (MUTANTS.replace("MUTANTS", "MUTANT_LIST"), "defines no MUTANTS"),
            (MUTANTS.replace('f"m{n}"', '"m"'), "used twice: m"),
        ):
            with self.subTest(reason):
                self.write("tests/mutants/lab01.py", text)
                self.assertIn(reason, " ".join(self.failures().values()))
        (self.root / "tests/mutants/lab01.py").unlink()
        self.assertIn("is missing", self.failures()["lab01 mutants"])


class Mutants(FakeCheckout):
    def mutant(self, **changes: str) -> Mutant:
        words = {"find": "b", "replace": "x", "rejected_by": "twice", "name": "m", "why": ""}
        return Mutant(todo=1, **{**words, **changes})

    def test_exactly_one_passage_is_replaced(self) -> None:
        self.assertEqual(mutate(self.mutant(), "abc", "f.c"), "axc")
        with self.assertRaisesRegex(LabError, "stands 2 times in f.c"):
            mutate(self.mutant(), "abcb", "f.c")

    def test_names_of_cases(self) -> None:
        for name, case in (
            ("twice", "twice"),
            ("solution01.twice", "twice"),
            ("lab01.hidden.twice", "hidden.twice"),
            ("hidden.twice", "hidden.twice"),
        ):
            self.assertEqual(self.mutant(rejected_by=name).case, case)

    def test_load_keeps_the_order(self) -> None:
        self.write("tests/mutants/lab01.py", MUTANTS)
        names = [mutant.name for mutant in load(self.project, self.lab)]
        self.assertEqual(names, [f"m{n}" for n in range(3, 11)])


class Reports(unittest.TestCase):
    def test_counts_and_names(self) -> None:
        report = Report()
        said = io.StringIO()
        with contextlib.redirect_stdout(said), report.section("things") as section:
            section.check("good", True)
            section.check("bad", False, "because\nof this")
        self.assertEqual(report.closing_line(), "selfcheck: 1 passed, 1 failed")
        self.assertFalse(report.ok)
        self.assertIn("FAILED  bad\n          because\n          of this\n", said.getvalue())

    def test_a_section_that_was_not_finished_is_not_ok(self) -> None:
        said = io.StringIO()
        with (
            contextlib.redirect_stdout(said),
            contextlib.suppress(LabError),
            Report().section("things") as section,
        ):
            section.check("good", True)
            raise LabError("ctest ran no test")
        self.assertRegex(said.getvalue(), r"1 passed +0 s  not finished\n")

    def test_nothing_checked_is_not_a_pass(self) -> None:
        self.assertFalse(Report().ok)


if __name__ == "__main__":
    unittest.main()
