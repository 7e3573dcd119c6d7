# SPDX-License-Identifier: MIT
"""grader.selfcheck.programs: layers of tests are run and counted; a skipped test reports why."""

import contextlib
import io
import os
import unittest
from unittest import mock

from grader.selfcheck.lacking import needs
from grader.selfcheck.programs import Programs, last_line
from grader.selfcheck.report import Report
from grader.tests.fake_build import CMAKE, FakeBuild

LAYERS = """\
add_test(NAME unit.skips COMMAND sh -c "echo nothing here; exit 77")
set_tests_properties(unit.skips PROPERTIES SKIP_RETURN_CODE 77)
set_tests_properties(unit.ok unit.gone unit.skips PROPERTIES LABELS "project;unit")
add_test(NAME long.one COMMAND ${CMAKE_COMMAND} -E true)
set_tests_properties(long.one PROPERTIES LABELS "project;full")
add_test(NAME node.twice COMMAND ${CMAKE_COMMAND} -E false)
set_tests_properties(node.twice PROPERTIES LABELS "project;ci;sanitized")
add_test(NAME other COMMAND ${CMAKE_COMMAND} -E false)
set_tests_properties(other PROPERTIES LABELS "full")
"""


class Layers(FakeBuild):
    def setUp(self) -> None:
        super().setUp()
        self.write("CMakeLists.txt", CMAKE + LAYERS)
        self.configure()
        self.programs = Programs(self.project, Report(), 2)

    def run_layers(self, layers: str, *, sanitized: bool = False) -> tuple[int, list[str], str]:
        said = io.StringIO()
        report = self.programs.report
        with contextlib.redirect_stdout(said), report.section("tests") as section:
            self.programs.check_layers(section, layers, sanitized=sanitized)
        return section.passed, [name for name, _ in report.failures], said.getvalue()

    def test_those_of_the_layers_and_no_others(self) -> None:
        with mock.patch.dict(os.environ):
            os.environ.pop("PEERLAB_LACKING", None)
            passed, failed, said = self.run_layers("unit|ci")
        self.assertEqual((passed, failed), (2, ["unit.gone"]))
        self.assertIn("  skipped unit.skips: nothing here\n", said)
        self.assertEqual(self.run_layers("full")[0], 2)

    def test_what_the_preset_asan_runs_is_left_to_it(self) -> None:
        """The report mentions it; --full runs all."""
        _, failed, said = self.run_layers("unit|ci")
        self.assertNotIn("node.twice", failed)
        self.assertIn("  left to `ctest --preset asan`, which has sanitizers: 1 tests\n", said)
        _, failed, said = self.run_layers("unit|ci", sanitized=True)
        self.assertIn("node.twice", failed)
        self.assertNotIn("asan", said)

    def test_where_all_was_set_up_nothing_is_skipped(self) -> None:
        """Except for reasons that the machine is known to have."""
        with mock.patch.dict(os.environ, {"PEERLAB_LACKING": ""}):
            _, failed, said = self.run_layers("unit")
        self.assertEqual(failed, ["unit.gone", "unit.skips"])
        self.assertIn("skipped: nothing here\n          The set-up of .ci/run should have", said)
        self.programs.report.failures.clear()
        with mock.patch.dict(os.environ, {"PEERLAB_LACKING": "nvcc nothing"}):
            self.assertEqual(self.run_layers("unit")[1], ["unit.gone"])

    def test_cases_that_need_a_tool(self) -> None:
        def ends() -> tuple[int, int]:
            @needs(None, "no dot here")
            def test(case: unittest.TestCase) -> None:
                case.fail("there is no dot")

            one = type("One", (unittest.TestCase,), {"test": test})
            result = unittest.TestResult()
            unittest.defaultTestLoader.loadTestsFromTestCase(one).run(result)
            return len(result.skipped), len(result.failures)

        with mock.patch.dict(os.environ):
            os.environ.pop("PEERLAB_LACKING", None)
            self.assertEqual(ends(), (1, 0))
        with mock.patch.dict(os.environ, {"PEERLAB_LACKING": "dot"}):
            self.assertEqual(ends(), (1, 0))
        with mock.patch.dict(os.environ, {"PEERLAB_LACKING": "nvcc"}):
            self.assertEqual(ends(), (0, 1))

    def test_a_layer_without_tests_has_not_passed(self) -> None:
        self.assertEqual(self.run_layers("docs")[:2], (0, ["there are tests"]))

    def test_the_last_line_says_why(self) -> None:
        self.assertEqual(last_line("a\n b \n\n"), "b")
        self.assertEqual(last_line(""), "")
