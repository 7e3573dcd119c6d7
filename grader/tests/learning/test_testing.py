# SPDX-License-Identifier: MIT
"""grader.building.build, ctest and testing, on a small tree that CMake really configures."""

import contextlib
import io
import os
import re
import unittest
from dataclasses import replace
from unittest import mock

from grader.base.exits import ExitStatus, LabError
from grader.building import build, ctest
from grader.building.records import Record, Verdict
from grader.course import diagnoses
from grader.learning import report, testing
from grader.tests.fake_build import FakeBuild

MORE = "add_test(NAME unit.more COMMAND ${CMAKE_COMMAND} -E true)\n"


class Unconfigured(FakeBuild):
    def test_nothing_is_built_yet(self) -> None:
        for call in (
            lambda: testing.command(self.project, "01"),
            lambda: ctest.tests(self.project),
            lambda: build.build(self.project),
        ):
            with self.assertRaisesRegex(LabError, "./lab start") as caught:
                call()
            self.assertEqual(caught.exception.status, ExitStatus.NOT_CONFIGURED)


class Testing(FakeBuild):
    def setUp(self) -> None:
        super().setUp()
        self.configure()

    def typed(self, what: str = "", *, verbose: bool = False) -> tuple[ExitStatus, str]:
        said = io.StringIO()
        self.dots = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(self.dots):
            status = testing.command(self.project, what, verbose=verbose)
        return status, said.getvalue()

    def on_terminal(self, what: str, columns: int) -> str:
        with (
            mock.patch.object(report, "columns", return_value=columns),
            mock.patch.object(testing, "columns", return_value=columns),
            mock.patch("grader.base.terminal.columns", return_value=columns),
        ):
            return self.typed(what)[1]

    def test_the_list_of_tests_is_kept_until_cmake_runs(self) -> None:
        listing = mock.patch("grader.building.ctest.capture", wraps=ctest.capture)
        before = ctest.tests(self.project, "^lab01")
        with listing as asked:
            self.assertEqual(ctest.tests(self.project, "^lab01"), before)
            self.assertEqual(ctest.tests(self.project, "^lab01[.]a")[0].name, "lab01.again")
        self.assertEqual(asked.call_count, 0)
        self.write("CMakeLists.txt", (self.root / "CMakeLists.txt").read_text() + MORE)
        build.configure(self.project, again=True)
        self.assertIn("unit.more", {test.name for test in ctest.tests(self.project)})

    def test_configuring_twice_does_nothing(self) -> None:
        self.assertFalse(build.configure(self.project))

    def test_only_the_learners_tests_run_and_the_worst_verdict_counts(self) -> None:
        status, said = self.typed()
        self.assertEqual(status, ExitStatus.FAILED)
        self.assertNotIn("solution01", said)
        self.assertIn("not written yet: labs/01-tiny/tiny.c:8", said)
        self.assertIn("fail lab01.whole in full", said)
        self.assertNotIn("pass lab01.again in full", said)
        self.assertIn("1 passed, 1 failed, 1 not written yet: 20 of 100 points", said)

    def test_a_file_that_was_put_back_with_its_old_time_is_built(self) -> None:
        kept = self.write("kept.c", "")
        os.utime(kept, (1, 1))
        self.typed()
        self.typed()
        before = self.linked()
        kept.replace(self.root / "labs/01-tiny/tiny.c")
        self.typed()
        self.assertEqual(self.linked(), 2 * before)
        self.typed()
        self.assertEqual(self.linked(), 2 * before)

    def linked(self) -> int:
        return len((self.root / "linked").read_text(encoding="utf-8").splitlines())

    def test_one_case(self) -> None:
        status, said = self.typed("01.again", verbose=True)
        self.assertEqual(status, ExitStatus.OK)
        self.assertIn("pass lab01.again in full", said)
        self.assertIn("\n1 passed: 20 of 20 points\n", said)

    def test_the_beginning_of_a_name_selects_all_that_begin_so(self) -> None:
        self.assertIn("● lab01.again", self.typed("01.ag")[1])
        names = ("lab01.part", "lab01.parts", "lab01.partly")
        listed = [ctest.Test(name, (), frozenset()) for name in names]
        for what, wanted in (("1.pa", names), ("1.part", names[:1]), ("1.partl", names[2:])):
            with self.subTest(what), mock.patch.object(ctest, "tests", return_value=listed):
                found = testing.matching(self.project, testing.chosen(self.project, what)[1])
                self.assertEqual(tuple(test.name for test in found), wanted)

    def test_off_a_terminal_a_dot_a_case_beside_the_results(self) -> None:
        said = self.typed("01")[1]
        self.assertEqual(self.dots.getvalue(), "...\n")
        self.assertTrue(said.startswith("○ lab01.twice"), said)

    def test_on_a_terminal_a_line_a_case_as_they_end_and_how_many(self) -> None:
        said = self.on_terminal("01", 100)
        self.assertEqual(self.dots.getvalue(), "")
        self.assertRegex(said, r"^\r\x1b\[K  building +\d+%.*\r\x1b\[K")
        self.assertRegex(said, r"  [12] of 3\r\x1b\[K")
        before = r"(?:\r\x1b\[K|  \d of 3|  building +\d+%)*"
        lines = re.findall(rf"(?m)^{before}[●✗○] (lab01\.\w+) ", said)
        self.assertEqual(lines, ["lab01.twice", "lab01.again", "lab01.whole"])
        self.assertNotRegex(said.rsplit("\n\n", 1)[1], r"of 3\b")

    def test_on_a_narrow_terminal_lines_are_folded(self) -> None:
        said = re.sub(r"  \d of 3|  building +\d+%|\r\x1b\[K", "", self.on_terminal("01", 60))
        self.assertLessEqual(max(map(len, said.splitlines())), 60)
        self.assertIn("written yet:\n", said)

    def test_a_lab_that_is_passed_leads_to_what_comes_next(self) -> None:
        self.assertNotIn("Next:", self.typed("01")[1])
        self.verdict(twice="pass", whole="pass")
        self.assertNotIn("Next:", self.typed("01.again")[1])
        said = self.typed("01")[1]
        self.assertIn("Every test of lab 01 passes.\nNext: nothing is left", said)

    def test_the_first_failure_only_unless_asked(self) -> None:
        self.verdict(twice="fail")
        said = self.typed("01")[1]
        self.assertIn("fail lab01.twice in full", said)
        self.assertNotIn("fail lab01.whole in full", said)
        self.assertIn("-v shows the other 1", said)
        self.assertIn("fail lab01.whole in full", self.typed("01", verbose=True)[1])

    def test_a_failure_leads_to_the_page_of_what_it_names(self) -> None:
        page = diagnoses.parse("# 700 cudaErrorIllegalAddress: an address\n")
        crash = diagnoses.parse("# crash: a signal\n")
        record = Record("lab01.a", "a", 1, verdict=Verdict.FAIL)
        for text, ending, code in (
            ("returned cudaErrorIllegalAddress", "", "700"),
            ("error 700 (x)", "crash", "700"),
            ("signal 11", "crash", "crash"),
            ("2 and 3", "", None),
        ):
            with self.subTest(text):
                outcome = report.Outcome(replace(record, ending=ending), text)
                said = report.tell([outcome], known=[page, crash])
                self.assertEqual(f"./lab explain {code}  (" in said, code is not None)

    def test_every_verdict_has_its_status(self) -> None:
        for verdict, status in (
            ("pass", ExitStatus.OK),
            ("fail", ExitStatus.FAILED),
            ("not written", ExitStatus.NOT_WRITTEN),
            ("harness error", ExitStatus.HARNESS_ERROR),
            ("cannot run", ExitStatus.CANNOT_RUN),
            ("died", ExitStatus.HARNESS_ERROR),
        ):
            with self.subTest(verdict):
                self.verdict(again=verdict)
                self.assertEqual(self.typed("1.again")[0], status)

    def test_a_pattern_that_matches_nothing(self) -> None:
        for what in ("01.nonsense", "07", "nonsense"):
            with self.subTest(what), self.assertRaises(LabError) as caught:
                self.typed(what)
            self.assertEqual(caught.exception.status, ExitStatus.NO_MATCH)
        with self.assertRaisesRegex(LabError, "lab01.again, lab01.twice"):
            self.typed("01.nonsense")

    def test_a_file_that_does_not_compile_ends_it(self) -> None:
        error = "echo 'labs/01-tiny/tiny.c:3:1: error: no' >&2; exit 1"
        self.write("compiles", error)
        with self.assertRaisesRegex(LabError, "labs/01-tiny/tiny.c does not compile yet") as caught:
            self.typed("01")
        self.assertEqual(caught.exception.status, ExitStatus.BUILD_FAILED)
        self.write("compiles", error.replace("labs", "harness"))
        with self.assertRaisesRegex(LabError, "not because of your files"):
            self.typed("01")

    def test_a_deleted_file_is_named(self) -> None:
        self.write("labs/.generated.json", '{"01-tiny/tiny.c": "0"}')
        (self.root / "labs/01-tiny/tiny.c").unlink()
        with self.assertRaisesRegex(LabError, r"labs/01-tiny/tiny.c.*./lab reset 01"):
            self.typed("01")

    def test_ctest_tells_a_missing_program_from_a_skip(self) -> None:
        self.verdict(again="cannot run")
        finished = ctest.run(self.project, r"lab01\.again|unit")
        self.assertTrue(finished["lab01.again"].skipped)
        self.assertTrue(finished["unit.ok"].passed)
        gone = finished["unit.gone"]
        self.assertFalse(gone.passed or gone.skipped)
        self.assertIn("Unable to find executable", gone.text)

    def test_labels_select(self) -> None:
        self.assertEqual(
            set(ctest.run(self.project, "", labels=["project"])), {"unit.ok", "unit.gone"}
        )

    def test_a_moved_tree_is_configured_afresh(self) -> None:
        moved = self.root.with_name(f"{self.root.name}-moved")
        self.root.rename(moved)
        self.root, self.project = moved, type(self.project)(moved)
        self.addCleanup(moved.rename, moved.with_name(moved.name.removesuffix("-moved")))
        self.assertTrue(build.configure(self.project))


class CompileErrors(unittest.TestCase):
    def test_the_builds_own_lines_go(self) -> None:
        output = (
            "[1/2] Compiling labs/x.c\nFAILED: x.o\n/usr/bin/cc -o x.o -c x.c\n"
            "x.c:3:1: error: no\nninja: build stopped\n"
        )
        self.assertEqual(testing.compile_errors(output), "x.c:3:1: error: no")

    def test_never_silent(self) -> None:
        self.assertEqual(testing.compile_errors("ninja: error: no\n"), "ninja: error: no")


class Chosen(FakeBuild):
    def test_what_a_person_types(self) -> None:
        for what in ("1", "01", "lab01", "01-tiny"):
            self.assertEqual(testing.chosen(self.project, what), ([self.lab], r"^lab01\."))
        self.assertEqual(testing.chosen(self.project, "lab01.a"), ([self.lab], r"^lab01\.a"))
        self.assertEqual(testing.chosen(self.project, ""), ([self.lab], testing.LEARNER))


if __name__ == "__main__":
    unittest.main()
